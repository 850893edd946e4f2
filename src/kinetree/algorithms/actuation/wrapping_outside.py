"""The path around a circle in a plane: a tangent, an arc, a tangent; see `wrapping`.

Source: as of `wrapping`.

Cost: O(1).
"""

from __future__ import annotations

import math

from kinetree.algorithms.actuation.plane import TINY, Arc, Point, dot, minus, root, safe, square
from kinetree.scalar import (
    Scalar,
    absolute,
    atan2,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    select,
)


def around(ends: tuple[Point, Point], side: Point | None, radius: float) -> Arc:
    """The path around a circle at the origin, on a given side or the shorter one."""
    e0, e1 = ends
    missed = logical_or(_misses(e0, e1, side, radius), less(square(minus(e1, e0)), TINY))
    inside = logical_or(*(less(square(e), radius * radius) for e in ends))
    ways = [_tangents(e0, e1, sign, radius) for sign in (1.0, -1.0)]  # to the right, to the left
    goods = [_goodness(e0, e1, *way) for way in ways]
    if side is not None:  # the shorter way, but for a side beyond the circle as seen from both ends
        left = less(0.0, e0[0] * e1[1] - e0[1] * e1[0])
        beyond = _beyond(e0, e1, side, _nearest_to_centre(e0, e1))
        wanted = select(beyond, select(left, 1.0, -1.0), select(left, -1.0, 1.0))
        crossing = [_cross(e0, t0, e1, t1) for t0, t1 in ways]
        goods = [select(x, -1e4, wanted * sign) for x, sign in zip(crossing, (1, -1), strict=True)]
    first = less(goods[1], goods[0])
    t0, t1 = (
        (select(first, a[0], b[0]), select(first, a[1], b[1])) for a, b in zip(*ways, strict=True)
    )
    never = logical_or(logical_or(missed, inside), _cross(e0, t0, e1, t1))
    turn = t0[0] * t1[1] - t0[1] * t1[0]
    angle = atan2(select(first, -turn, turn), t0[0] * t1[0] + t0[1] * t1[1])
    angle = select(less(angle, 0.0), angle + 2.0 * math.pi, angle)
    return logical_not(never), t0, t1, angle * radius


def _misses(e0: Point, e1: Point, side: Point | None, radius: float) -> Scalar:
    """Whether the straight path misses the circle, on the side asked for."""
    nearest = _nearest_to_centre(e0, e1)
    away = less(radius * radius, square(nearest))
    if side is None:
        return away
    return logical_and(away, logical_not(_beyond(e0, e1, side, nearest)))


def _nearest_to_centre(e0: Point, e1: Point) -> Point:
    """The point of the straight path that is nearest to the centre."""
    d = minus(e1, e0)
    a = -dot(d, e0) / safe(square(d))
    a = minimum(maximum(a, 0.0), 1.0)
    return e0[0] + d[0] * a, e0[1] + d[1] * a


def _beyond(e0: Point, e1: Point, side: Point, nearest: Point) -> Scalar:
    """Whether the centre is between both ends and the side: in the triangle of the three."""
    turned = (-side[1], side[0])
    between = less(dot(turned, e0) * dot(turned, e1), 0.0)
    return logical_and(less(dot(side, nearest), 0.0), between)


def _tangents(e0: Point, e1: Point, sign: float, radius: float) -> tuple[Point, Point]:
    """Where the tangents from both ends touch the circle, on one of its two sides."""
    return _touch(e0, sign, radius), _touch(e1, -sign, radius)


def _touch(e: Point, sign: float, radius: float) -> Point:
    far = square(e)
    reach = root(far - radius * radius) * (sign * radius)
    scale = 1.0 / safe(far)
    r2 = radius * radius
    return (e[0] * r2 + e[1] * reach) * scale, (e[1] * r2 - e[0] * reach) * scale


def _goodness(e0: Point, e1: Point, t0: Point, t1: Point) -> Scalar:
    """The rank of a path: higher if it is short; low if its tangents cross."""
    return select(_cross(e0, t0, e1, t1), -1e4, -square(minus(t1, t0)))


def _cross(a: Point, b: Point, c: Point, d: Point) -> Scalar:
    """Whether the segments from a to b and from c to d cross."""
    p, q, r = minus(b, a), minus(d, c), minus(a, c)
    det = q[1] * p[0] - q[0] * p[1]
    parallel = less(absolute(det), TINY)
    scale = 1.0 / select(parallel, 1.0, det)
    s, t = (q[0] * r[1] - q[1] * r[0]) * scale, (p[0] * r[1] - p[1] * r[0]) * scale
    both = logical_and(_in_unit(s), _in_unit(t))
    return logical_and(logical_not(parallel), both)


def _in_unit(x: Scalar) -> Scalar:
    return logical_and(less_equal(0.0, x), less_equal(x, 1.0))
