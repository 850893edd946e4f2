"""The path through a circle that touches it from within, in one point; see `wrapping`.

Source: as of `wrapping`. The angle x between the path and the circle's radius solves

    f(x) = asin(A sin x) + asin(B sin x) - 2 x + G = 0

where A and B are the ratios of the radius to the distances of the ends, and G is the angle between
these. f falls, is concave below pi / 2, and f(pi / 2) is not positive unless the straight path
meets the circle: Newton's method from there approaches the root from one side. MuJoCo solves for
sin x; as a function of it f has an infinite slope at pi / 2, where the path grazes the circle.

Cost: O(1).
"""

from __future__ import annotations

import math

from kinetree.algorithms.actuation.plane import TINY, Arc, Point, dot, minus, root, safe, square
from kinetree.scalar import (
    Scalar,
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
"""Newton iterations: of 400,000 paths, many with ends close to the circle, none took over 16."""


def within(ends: tuple[Point, Point], radius: float) -> Arc:
    """The path through a circle that touches it from within, in one point."""
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
    x = _meeting(A, B, G)
    left = less(0.0, e0[0] * e1[1] - e0[1] * e1[0])
    angle = x - asin(select(left, A, B) * sin(x))
    start = select(left, e0[0], e1[0]), select(left, e0[1], e1[1])
    c, s = cos(angle), sin(angle)
    turned = (c * start[0] - s * start[1], s * start[0] + c * start[1])
    middle = (e0[0] + e1[0], e0[1] + e1[1])
    way = select(bent, turned[0], middle[0]), select(bent, turned[1], middle[1])
    scale = radius / safe(root(square(way)))
    touch = (way[0] * scale, way[1] * scale)
    return usable, touch, touch, 0.0


def _reaches(p: Point, radius: float) -> Scalar:
    return less_equal(square(p), radius * radius)


def _meeting(A: Scalar, B: Scalar, G: Scalar) -> Scalar:
    """x with asin(A sin x) + asin(B sin x) - 2 x + G = 0.

    Steps after convergence do not change x, but make its derivatives exact.
    """
    x: Scalar = 0.5 * math.pi
    for _ in range(STEPS):
        s, c = sin(x), cos(x)
        slope = A * c / _cosine(A * s) + B * c / _cosine(B * s) - 2.0
        f = asin(A * s) + asin(B * s) - 2.0 * x + G
        falls = less(slope, -TINY)
        x = select(falls, x - f / select(falls, slope, -1.0), x)
    return x


def _cosine(sine: Scalar) -> Scalar:
    return maximum(root(1.0 - sine * sine), TINY)
