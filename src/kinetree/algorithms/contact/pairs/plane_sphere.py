"""A plane and a ball: one touch."""

from __future__ import annotations

from kinetree.algorithms.contact.touch import Touch, z_axis
from kinetree.model.geometry import Plane, Sphere
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Vector3


def plane_sphere(
    plane: Plane, X1: Transform, sphere: Sphere, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touch of a plane and a ball."""
    return [above(X1, X2.translation, sphere.radius)]


def above(X1: Transform, center: Vector3, radius: Scalar = 0.0) -> Touch:
    """The touch of a plane and a ball about a centre, or a point if its radius is zero."""
    normal = z_axis(X1)
    height = normal.dot(center - X1.translation)
    distance = height - radius
    return Touch(distance, center - normal * (distance * 0.5 + radius), normal)
