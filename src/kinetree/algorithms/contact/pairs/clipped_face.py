"""The intersection of a rectangle and a parallelogram above it: at most eight corners.

The edges of the parallelogram are clipped by the Liang-Barsky algorithm (A new concept and method
for line clipping, ACM Transactions on Graphics 3, 1984, doi 10.1145/357332.357333), and the corners
of the rectangle that are inside it are added.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.contact.touch import FAR, TINY
from kinetree.scalar import (
    Scalar,
    absolute,
    less,
    less_equal,
    logical_and,
    logical_not,
    maximum,
    minimum,
    select,
)

SLOTS = 8
Corner = tuple[Scalar, Scalar, Scalar, Scalar]
"""1 if it is used, else 0; and its position: along the rectangle's edges, and the height above."""


def clipped_edges(
    center: Sequence[Scalar],
    side1: Sequence[Scalar],
    side2: Sequence[Scalar],
    h1: Scalar,
    h2: Scalar,
) -> list[Corner]:
    """The ends of each edge of the incident face within the rectangle, each corner once."""
    around = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    points = [
        [c + a * s + b * t for c, s, t in zip(center, side1, side2, strict=True)] for a, b in around
    ]
    found: list[Corner] = []
    for p, q in zip(points, points[1:] + points[:1], strict=True):
        d = [y - x for x, y in zip(p, q, strict=True)]
        start: Scalar = 0.0
        end: Scalar = 1.0
        misses: Scalar = 0.0
        for x, dx, h in ((p[0], d[0], h1), (p[1], d[1], h2)):
            level = less(dx * dx, TINY)
            share = 1 / select(level, 1.0, dx)
            ts = (-h - x) * share, (h - x) * share
            start = maximum(start, select(level, 0.0, minimum(*ts)))
            end = minimum(end, select(level, 1.0, maximum(*ts)))
            outside = logical_and(level, less(h, absolute(x)))
            misses = select(outside, 1.0, misses)
        crosses = logical_and(less_equal(start, end), less(misses, 0.5))
        leaves = logical_and(crosses, less(end, 1.0))
        for t, used in ((start, crosses), (end, leaves)):
            x, y, z = (a + t * b for a, b in zip(p, d, strict=True))
            found.append((select(used, 1.0, 0.0), x, y, z))
    return found


def inner_corners(
    center: Sequence[Scalar],
    side1: Sequence[Scalar],
    side2: Sequence[Scalar],
    h1: Scalar,
    h2: Scalar,
) -> list[Corner]:
    """The corners of the rectangle that are inside the incident face."""
    determinant = side1[0] * side2[1] - side1[1] * side2[0]
    flat = less(determinant * determinant, TINY)
    share = 1 / select(flat, 1.0, determinant)
    found: list[Corner] = []
    for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
        x, y = a * h1 - center[0], b * h2 - center[1]
        u = (x * side2[1] - y * side2[0]) * share
        v = (y * side1[0] - x * side1[1]) * share
        inside = logical_and(less(absolute(u), 1.0), less(absolute(v), 1.0))
        z = center[2] + u * side1[2] + v * side2[2]
        used = logical_and(inside, logical_not(flat))
        found.append((select(used, 1.0, 0.0), a * h1, b * h2, z))
    return found


def first_used(corners: Sequence[Corner]) -> tuple[list[tuple[Scalar, Scalar, Scalar]], Scalar]:
    """As many corners as there are slots, used ones first; and the number of used ones."""
    before: list[Scalar] = [0.0]
    for used, *_ in corners:
        before.append(before[-1] + used)
    kept = []
    for slot in range(SLOTS):
        x: Scalar = 0.0
        y: Scalar = 0.0
        z: Scalar = FAR
        for k in range(slot, len(corners)):
            used, cx, cy, cz = corners[k]
            here = logical_and(less(0.5, used), less(absolute(before[k] - slot), 0.5))
            x, y, z = select(here, cx, x), select(here, cy, y), select(here, cz, z)
        kept.append((x, y, z))
    return kept, before[-1]
