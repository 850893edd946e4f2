"""A plane and a capsule: one touch at each end, the first tangent along the capsule."""

from __future__ import annotations

from dataclasses import replace

from kinetree.algorithms.contact.pairs.plane_sphere import above
from kinetree.algorithms.contact.touch import Touch, z_axis
from kinetree.model.geometry import Capsule, Plane
from kinetree.scalar import Scalar
from kinetree.spatial import Transform


def plane_capsule(
    plane: Plane, X1: Transform, capsule: Capsule, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touches of a plane and the balls at the ends of a capsule."""
    axis = z_axis(X2)
    ends = (X2.translation + axis * h for h in (capsule.half_length, -capsule.half_length))
    return [replace(above(X1, end, capsule.radius), axis=axis) for end in ends]
