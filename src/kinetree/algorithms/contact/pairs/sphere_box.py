"""A ball and a box: one touch, at the point of the box nearest to the ball's centre.

If the centre is inside the box, the ball leaves through the nearest face.
"""

from __future__ import annotations

from kinetree.algorithms.contact.touch import TINY, Touch, clip, either
from kinetree.model.geometry import Box, Sphere
from kinetree.scalar import Scalar, absolute, less, logical_and, select, sqrt
from kinetree.spatial import Transform, Vector3


def sphere_box(
    sphere: Sphere, X1: Transform, box: Box, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touch of a ball and a box."""
    return [ball_and_box(X1.translation, sphere.radius, box, X2)]


def ball_and_box(center: Vector3, radius: Scalar, box: Box, X2: Transform) -> Touch:
    """The touch of a ball about a centre, given in the world, and a box."""
    local = X2.rotation.T @ (center - X2.translation)
    outside, inward = to_box(box.half_edges, local)
    normal = X2.rotation @ inward
    return Touch(outside - radius, center + normal * ((outside + radius) * 0.5), normal)


def to_box(half: tuple[float, float, float], p: Vector3) -> tuple[Scalar, Vector3]:
    """The distance of a point from a box, negative inside, and the direction into the box."""
    nearest = Vector3(*(clip(x, -h, h) for x, h in zip(p, half, strict=True)))
    gap = nearest - p
    square = gap.dot(gap)
    inside = less(square, TINY)
    length = sqrt(select(inside, 1.0, square))
    x, y, z = (h - absolute(c) for c, h in zip(p, half, strict=True))  # to the faces
    by_z = logical_and(less(z, x), less(z, y))
    by_y = less(y, x)
    signs = [select(less(0.0, c), -1.0, 1.0) for c in p]
    flat = either(by_y, Vector3(0.0, signs[1], 0.0), Vector3(signs[0], 0.0, 0.0))
    flat = either(by_z, Vector3(0.0, 0.0, signs[2]), flat)
    depth = select(by_z, z, select(by_y, y, x))
    return select(inside, -depth, length), either(inside, flat, gap * (1 / length))
