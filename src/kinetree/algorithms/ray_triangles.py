"""Where a ray meets triangles, from either side.

Source: C. Ericson, Real-Time Collision Detection (2005), sections 3.4 and 5.3.

    symbol    code    meaning
    p, d      p, d    start and direction of the ray, in the frame of the shape
    n, c      n, c    n x = c in the plane of a triangle
    u, w      u, w    barycentric coordinates there, affine functions of the place
    s         s       distance along the ray: p + s d is in the plane

Cost: O(1) for a ray and a triangle.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.ray_surfaces import TINY, Meetings, met_if
from kinetree.model.geometry import Triangles
from kinetree.scalar import Scalar, absolute, call, less, logical_not, select
from kinetree.spatial import Vector3


def triangles(shape: Triangles, p: Vector3, d: Vector3) -> Meetings:
    """Where a ray meets each triangle."""
    times = len(shape.corners)
    return [call(_triangle, p, d, *_planes(*x), times=times) for x in shape.corners]


def _planes(*corners: Sequence[float]) -> tuple[tuple[Vector3, float], ...]:
    """n and c of a triangle; the same of its barycentric coordinates."""
    a, b, c = (Vector3(*x) for x in corners)
    n = (b - a).cross(c - a)
    scale = 1.0 / n.dot(n)
    u, w = n.cross(a - c) * scale, n.cross(b - a) * scale
    return (n, n.dot(a)), (u, -u.dot(a)), (w, -w.dot(a))


def _triangle(p: Vector3, d: Vector3, *planes: tuple[Vector3, Scalar]) -> Scalar:
    (n, c), *sides = planes
    rate = n.dot(d)
    crosses = less(TINY, absolute(rate))
    s = (c - n.dot(p)) / select(crosses, rate, 1.0)
    x = p + d * s
    u, w = (side.dot(x) + constant for side, constant in sides)
    inside = [logical_not(less(y, 0.0)) for y in (u, w, 1.0 - u - w)]
    return met_if(s, crosses, *inside)
