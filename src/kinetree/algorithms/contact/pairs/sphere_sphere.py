"""Two balls: one touch on the line through their centres."""

from __future__ import annotations

from kinetree.algorithms.contact.touch import Touch, between_balls, common_normal
from kinetree.model.geometry import Sphere
from kinetree.scalar import Scalar
from kinetree.spatial import Transform


def sphere_sphere(
    first: Sphere, X1: Transform, second: Sphere, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touch of two balls."""
    normal = common_normal(X1, X2)
    return [between_balls(X1.translation, first.radius, X2.translation, second.radius, normal)]
