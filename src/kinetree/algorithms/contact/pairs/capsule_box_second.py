"""The second touch of a capsule and a box: MuJoCo's rules (`mjraw_CapsuleBox`).

The first touch is at a face, an edge or a corner of the box. The second one is further along the
capsule's segment, as far as the segment is above the box.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.contact.touch import clip
from kinetree.scalar import (
    Scalar,
    absolute,
    less,
    less_equal,
    logical_and,
    maximum,
    minimum,
    select,
)
from kinetree.spatial import Vector3

Half = tuple[float, float, float]


def second_touch(p: Vector3, u: Vector3, half: Half, first: Scalar) -> tuple[Scalar, Scalar]:
    """The place of the second touch on the segment p + t u, and whether there is one.

    Arguments:
        p, u: the middle of the segment and its half, in the frame of the box.
        half: the half edges of the box.
        first: t of the first touch.
    """
    at = p + u * first
    outside = [less(h, absolute(x)) for x, h in zip(at, half, strict=True)]
    count = sum((select(o, 1.0, 0.0) for o in outside), start=0.0)
    inward = [select(less(x, 0.0), d, -d) for x, d in zip(at, u, strict=True)]  # as t grows
    on_face, on_edge = less(count, 1.5), less(count, 2.5)
    edge, crosses = _from_edge(at, u, half, first, outside, inward)
    corner, follows = _from_corner(u, half, first, inward)
    step = select(on_edge, edge, corner)
    step = select(on_face, _along_face(at, u, half, first, outside), step)
    used = select(on_face, select(less(0.5, count), 1.0, 0.0), select(on_edge, crosses, follows))
    return clip(first + step, -1.0, 1.0), less(0.5, used)


def _span(length: Scalar, speed: Scalar) -> Scalar:
    """The change of t while a coordinate covers a length; at most 2, the whole segment."""
    fast = absolute(speed)
    level = less_equal(fast * 2.0, length)  # also where both are zero
    return select(level, 2.0, length / select(level, 1.0, fast))


def _towards(first: Scalar, sign: Scalar, *spans: Scalar) -> Scalar:
    """The step from the first touch, in a direction, until the end of the segment or a span."""
    longest = 1.0 - sign * first
    for span in spans:
        longest = minimum(longest, span)
    return sign * maximum(longest, 0.0)


def _to_end(x: Scalar, d: Scalar, h: float, sign: Scalar) -> Scalar:
    """The change of t until a coordinate within the box reaches the face that it moves to."""
    ahead = select(less(d * sign, 0.0), x + h, h - x)
    return _span(maximum(ahead, 0.0), d)


def _along_face(
    at: Vector3, u: Vector3, half: Half, first: Scalar, outside: Sequence[Scalar]
) -> Scalar:
    """Above a face: on along the segment until the face ends."""
    sign = select(less(0.0, first), -1.0, 1.0)
    parts = zip(at, u, half, outside, strict=True)
    spans = [select(out, 2.0, _to_end(x, d, h, sign)) for x, d, h, out in parts]
    return _towards(first, sign, *spans)


def _from_edge(
    at: Vector3,
    u: Vector3,
    half: Half,
    first: Scalar,
    outside: Sequence[Scalar],
    inward: Sequence[Scalar],
) -> tuple[Scalar, Scalar]:
    """Across an edge, over the face to which the segment is more parallel; 1 if there is one."""
    step: Scalar = 0.0
    used: Scalar = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        d, h = list(u), list(half)
        steeper = less(absolute(d[j]), absolute(d[i]))
        across = select(steeper, inward[i], inward[j])
        span = select(steeper, _span(2 * h[i], d[i]), _span(2 * h[j], d[j]))
        sign = select(less(0.0, across), 1.0, -1.0)
        crosses = select(less(inward[i] * inward[j], 0.0), 1.0, 0.0)
        along = _to_end([*at][k], d[k], h[k], sign)
        step = select(outside[k], step, _towards(first, sign, span, along))
        used = select(outside[k], used, crosses)
    return step, used


def _from_corner(
    u: Vector3, half: Half, first: Scalar, inward: Sequence[Scalar]
) -> tuple[Scalar, Scalar]:
    """From a corner, along the edge or face that the segment follows; and 1 if it follows one."""
    ways = sum((select(less(0.0, w), 1.0, 0.0) for w in inward), start=0.0)
    sign = select(less(ways, 1.5), 1.0, -1.0)
    square = u.dot(u)
    step: Scalar = 0.0
    spans = [_span(2 * h, d) for d, h in zip(u, half, strict=True)]
    for k, (d, w) in enumerate(zip(u, inward, strict=True)):
        along_edge = less(0.5 * square, d * d)
        edge = _towards(first, sign, spans[k])
        face = _towards(first, -sign, *(spans[i] for i in range(3) if i != k))
        step = select(less(0.0, w * sign), select(along_edge, edge, face), step)
    follows = logical_and(less(0.5, ways), less(ways, 2.5))
    return step, select(follows, 1.0, 0.0)
