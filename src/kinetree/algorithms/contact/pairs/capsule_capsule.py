"""Two capsules: one touch, where their segments are nearest; two where these are parallel.

The points x1 and x2 of the segments, in units of the half lengths h1 a1 and h2 a2, minimise the
square of |p1 + x1 h1 a1 - p2 - x2 h2 a2| in -1 <= x1, x2 <= 1. The x1 of the infinite lines is
clipped; then the best x2 for it is clipped; then the best x1 for that. For a convex function of two
variables in a square, this is the minimum.

Parallel segments have many nearest points. Then the touches are at the ends of the interval in
which the segments overlap along their direction.
"""

from __future__ import annotations

from kinetree.algorithms.contact.touch import (
    FAR,
    Touch,
    between_balls,
    clip,
    common_normal,
    z_axis,
)
from kinetree.model.geometry import Capsule
from kinetree.scalar import Scalar, less, select
from kinetree.spatial import Transform, Vector3

PARALLEL = 1e-8
"""Segments are parallel if the square of the sine between them is less."""


def capsule_capsule(
    first: Capsule, X1: Transform, second: Capsule, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touches of two capsules."""
    u1, u2 = z_axis(X1) * first.half_length, z_axis(X2) * second.half_length
    apart = X2.translation - X1.translation
    aa, ab, bb = first.half_length**2, u1.dot(u2), second.half_length**2
    a, b = u1.dot(apart), u2.dot(apart)

    def best1(x2: Scalar) -> Scalar:
        return clip((a + ab * x2) * (1 / aa), -1.0, 1.0)

    def best2(x1: Scalar) -> Scalar:
        return clip((ab * x1 - b) * (1 / bb), -1.0, 1.0)

    def ends(x1: Scalar, x2: Scalar) -> tuple[Vector3, Vector3]:
        return X1.translation + u1 * x1, X2.translation + u2 * x2

    determinant = aa * bb - ab * ab
    parallel = less(determinant, PARALLEL * aa * bb)
    x1 = clip((bb * a - ab * b) / select(parallel, 1.0, determinant), -1.0, 1.0)
    x2 = best2(x1)
    start, end = (best1(x) for x in (-1.0, 1.0))
    p1, p2 = ends(select(parallel, start, best1(x2)), select(parallel, best2(start), x2))
    normal = common_normal(X1, X2)
    main = between_balls(p1, first.radius, p2, second.radius, normal)
    p1, p2 = ends(end, best2(end))
    other = between_balls(p1, first.radius, p2, second.radius, normal)
    return [main, Touch(select(parallel, other.distance, FAR), other.point, other.normal)]
