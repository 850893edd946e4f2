"""A ball and a capsule: one touch, at the point of the capsule's segment nearest to the ball."""

from __future__ import annotations

from kinetree.algorithms.contact.touch import Touch, between_balls, clip, common_normal, z_axis
from kinetree.model.geometry import Capsule, Sphere
from kinetree.scalar import Scalar
from kinetree.spatial import Transform


def sphere_capsule(
    sphere: Sphere, X1: Transform, capsule: Capsule, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touch of a ball and a capsule."""
    axis = z_axis(X2)
    along = axis.dot(X1.translation - X2.translation)
    nearest = X2.translation + axis * clip(along, -capsule.half_length, capsule.half_length)
    normal = common_normal(X1, X2)
    return [between_balls(X1.translation, sphere.radius, nearest, capsule.radius, normal)]
