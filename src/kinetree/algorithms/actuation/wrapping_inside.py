"""The way through a circle that touches it from within, in one point; see `wrapping`.

Source: as of `wrapping`. The sine z of the angle at which the way meets the circle solves
asin(A z) + asin(B z) - 2 asin(z) + G = 0, by Newton's method; A and B are the ratios of the radius
to the distances of the ends, G the angle between these.

Cost: O(1).
"""

from __future__ import annotations

from kinetree.algorithms.actuation.plane import TINY, Arc, Point, dot, minus, root, safe, square
from kinetree.scalar import (
    Scalar,
    absolute,
    acos,
    asin,
    cos,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    select,
    sin,
)

STEPS = 20
RESIDUAL = 1e-13
"""At which Newton's method stops."""


def within(ends: tuple[Point, Point], radius: float) -> Arc:
    """The way through a circle that touches it from within, in one point."""
    e0, e1 = ends
    l0, l1 = (root(square(e)) for e in ends)
    d = minus(e1, e0)
    a = -dot(d, e0) / safe(square(d))
    nearest = (e0[0] + d[0] * a, e0[1] + d[1] * a)
    cut = logical_and(logical_and(less(0.0, a), less(a, 1.0)), _reaches(nearest, radius))
    inside = logical_or(less_equal(l0, radius), less_equal(l1, radius))
    A, B = radius / safe(l0), radius / safe(l1)
    cosine = (l0 * l0 + l1 * l1 - square(d)) / safe(2.0 * l0 * l1)
    opposite = less(cosine, TINY - 1.0)
    usable = logical_not(logical_or(logical_or(cut, inside), opposite))
    bent = logical_and(usable, less(cosine, 1.0 - TINY))
    G = acos(select(bent, cosine, 0.0))
    A, B = select(bent, A, 0.5), select(bent, B, 0.5)
    z, solved = _sine(A, B, G)
    left = less(0.0, e0[0] * e1[1] - e0[1] * e1[0])
    angle = asin(z) - select(left, asin(A * z), asin(B * z))
    start = select(left, e0[0], e1[0]), select(left, e0[1], e1[1])
    c, s = cos(angle), sin(angle)
    turned = (c * start[0] - s * start[1], s * start[0] + c * start[1])
    middle = (e0[0] + e1[0], e0[1] + e1[1])
    ok = logical_and(bent, solved)
    way = select(ok, turned[0], middle[0]), select(ok, turned[1], middle[1])
    scale = radius / safe(root(square(way)))
    touch = (way[0] * scale, way[1] * scale)
    return usable, touch, touch, 0.0


def _reaches(p: Point, radius: float) -> Scalar:
    return less_equal(square(p), radius * radius)


def _sine(A: Scalar, B: Scalar, G: Scalar) -> tuple[Scalar, Scalar]:
    """z with asin(A z) + asin(B z) - 2 asin(z) + G = 0, and whether it was found."""
    z: Scalar = 1.0 - 1e-7
    f = _residual(A, B, G, z)
    fine = less_equal(f, 0.0)
    for _ in range(STEPS):
        slope = A / _cosine(A * z) + B / _cosine(B * z) - 2.0 / _cosine(z)
        goes_on = logical_and(logical_and(fine, less(RESIDUAL, absolute(f))), less(slope, -TINY))
        z = select(goes_on, z - f / select(goes_on, slope, 1.0), z)
        f = _residual(A, B, G, z)
    return z, logical_and(fine, less_equal(absolute(f), RESIDUAL))


def _residual(A: Scalar, B: Scalar, G: Scalar, z: Scalar) -> Scalar:
    return asin(A * z) + asin(B * z) - 2.0 * asin(z) + G


def _cosine(sine: Scalar) -> Scalar:
    return maximum(root(1.0 - sine * sine), TINY)
