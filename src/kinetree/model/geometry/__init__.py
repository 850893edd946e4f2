"""Collision geometry: shapes, their poses, and the pairs that can touch."""

from kinetree.model.geometry.collider import Collider
from kinetree.model.geometry.contact_pair import ContactPair
from kinetree.model.geometry.options import ContactOptions
from kinetree.model.geometry.shapes import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Plane,
    Rectangle,
    Solid,
    Sphere,
    Triangles,
)

__all__ = [
    "Box",
    "Capsule",
    "Collider",
    "ContactOptions",
    "ContactPair",
    "ConvexMesh",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "Plane",
    "Rectangle",
    "Solid",
    "Sphere",
    "Triangles",
]
