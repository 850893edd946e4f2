"""A capsule whose segment enters a box: how deep it is, by the separating axis test.

Source: C. Ericson, Real-Time Collision Detection (2005), section 5.2.9.

A segment and a box overlap if they do along each of six axes: the box's own, and those normal to
the segment and to an edge of the box. The axis of least overlap is the shortest way out. Its touch
is at the deepest point of the segment in the box, or where the segment crosses the edge. Along an
axis of the box there is a second touch, at the other end of the part in the box.

    symbol    code    meaning
    p + t u           a point of the segment in the frame of the box, -1 <= t <= 1
    m         out     the way out: a unit vector from the box to the segment
    s         gap     the distance of the segment from the box along m, negative if they overlap
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.contact.touch import clip, either
from kinetree.scalar import Scalar, absolute, less, maximum, minimum, select, sqrt
from kinetree.spatial import Vector3

Half = tuple[float, float, float]
NONE = -1e6
"""m: the gap along an axis that does not exist, as edge and segment are parallel."""
PARALLEL = 1e-12
"""An edge is parallel to the segment if the square of the sine between them is less."""


class WayOut(NamedTuple):
    """The shortest way out of a box.

    first, second: t of the touches.
    gap, other: s at the first touch and at the second.
    flat: 1 if there is a second touch, else 0.
    """

    gap: Scalar
    out: Vector3
    first: Scalar
    second: Scalar
    other: Scalar
    flat: Scalar


def way_out(p: Vector3, u: Vector3, half: Half, enters: Scalar, leaves: Scalar) -> WayOut:
    """The axis of least overlap, and the touches along it.

    Arguments:
        p, u: the middle of the segment and its half, in the frame of the box.
        half: the half edges of the box.
        enters, leaves: t where the segment enters the box and where it leaves it.
    """
    ways = [_by_face(p, u, half, k, enters, leaves) for k in range(3)]
    ways += [_by_edge(p, u, half, k) for k in range(3)]
    best = ways[0]
    for way in ways[1:]:
        best = _chosen(less(best.gap, way.gap), way, best)
    return best


def inside(crossings: Sequence[tuple[Scalar, Scalar]]) -> tuple[Scalar, Scalar]:
    """t where a segment enters a box and where it leaves it, from those of its three slabs."""
    (enters, leaves), *others = crossings
    for enter, leave in others:
        enters, leaves = maximum(enters, enter), minimum(leaves, leave)
    return enters, leaves


def _by_face(p: Vector3, u: Vector3, half: Half, k: int, enters: Scalar, leaves: Scalar) -> WayOut:
    """Along an axis of the box: the ends of what is in the box of the segment, the deeper first."""
    x, d, h = (*p, *u, *half)[k::3]
    sign = select(less(x, 0.0), -1.0, 1.0)
    sinks = less(0.0, d * sign)  # towards -1; a segment along the face may end beyond the box
    first, second = select(sinks, enters, leaves), select(sinks, leaves, enters)
    other = sign * (x + second * d) - h
    out = Vector3(*(sign if j == k else 0.0 for j in range(3)))
    return WayOut(sign * x - absolute(d) - h, out, first, second, other, 1.0)


def _by_edge(p: Vector3, u: Vector3, half: Half, k: int) -> WayOut:
    """Normal to the segment and to an edge along an axis of the box."""
    (px, ux, hx), (py, uy, hy) = (tuple((*p, *u, *half)[axis::3]) for axis in range(3) if axis != k)
    square = ux * ux + uy * uy
    level = less(square, PARALLEL * u.dot(u))
    share = 1 / select(level, 1.0, square)
    apart = ux * py - uy * px
    scale = select(less(apart, 0.0), -1.0, 1.0) * sqrt(share)
    x, y = -uy * scale, ux * scale
    gap = absolute(apart * scale) - absolute(x) * hx - absolute(y) * hy
    corner_x, corner_y = select(less(x, 0.0), -hx, hx), select(less(y, 0.0), -hy, hy)
    t = (ux * (corner_x - px) + uy * (corner_y - py)) * share
    out = [x, y]
    out.insert(k, 0.0)
    return WayOut(select(level, NONE, gap), Vector3(*out), clip(t, -1.0, 1.0), 0.0, gap, 0.0)


def _chosen(condition: Scalar, a: WayOut, b: WayOut) -> WayOut:
    numbers = (select(condition, x, y) for x, y in zip(a[2:], b[2:], strict=True))
    return WayOut(select(condition, a.gap, b.gap), either(condition, a.out, b.out), *numbers)
