"""Spatial algebra over any scalar: vectors, rotations, transforms, motions, forces, inertias.

Every value is immutable and keeps its structure: a transform is a rotation and a point, an inertia
is ten numbers. No 6x6 matrix is ever formed. Parts are named (`.linear`, `.angular`), so nothing
depends on the order in which a six-vector is written.
"""

from kinetree.spatial.inertia import (
    ArticulatedInertia,
    Inertia,
    acceleration_tensor,
    acceleration_tensor_change,
)
from kinetree.spatial.operator import (
    AngularOperator,
    Operator,
    christoffel_factor,
    spatial_factor,
    turning_factor,
    velocity_factor,
)
from kinetree.spatial.rotation import AxisRotation, ProductRotation, Rotation
from kinetree.spatial.transform import Transform
from kinetree.spatial.twist import Force, Twist
from kinetree.spatial.vector import Matrix3, Symmetric3, Vector3

__all__ = [
    "AngularOperator",
    "ArticulatedInertia",
    "AxisRotation",
    "Force",
    "Inertia",
    "Matrix3",
    "Operator",
    "ProductRotation",
    "Rotation",
    "Symmetric3",
    "Transform",
    "Twist",
    "Vector3",
    "acceleration_tensor",
    "acceleration_tensor_change",
    "christoffel_factor",
    "spatial_factor",
    "turning_factor",
    "velocity_factor",
]
