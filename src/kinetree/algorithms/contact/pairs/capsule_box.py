"""A capsule and a box: the point of its segment nearest to the box, and a second one.

The square of the distance from a point p + t u of the segment to the box is a convex function of t.
Its derivative, 2 sum_j u_j e_j(t) with e_j the excess of coordinate j over the box, is piecewise
linear, with breaks where a coordinate crosses a face. The zero is found exactly between two breaks.

The second touch follows MuJoCo's rules: from a face, an edge or a corner along the segment, as far
as the segment is above the box. It may coincide with the first one if the segment ends there.

Where the segment itself enters the box, the touches are those of `capsule_in_box`: the first has
the depth of the shortest way out. MuJoCo takes an end of the segment or the edge nearest to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.contact.pairs.capsule_box_second import Half, second_touch
from kinetree.algorithms.contact.pairs.capsule_in_box import inside, way_out
from kinetree.algorithms.contact.pairs.sphere_box import ball_and_box
from kinetree.algorithms.contact.touch import FAR, TINY, Touch, chosen, clip, z_axis
from kinetree.model.geometry import Box, Capsule
from kinetree.scalar import (
    Scalar,
    less,
    less_equal,
    logical_and,
    maximum,
    minimum,
    select,
)
from kinetree.spatial import Transform, Vector3


def capsule_box(
    capsule: Capsule, X1: Transform, box: Box, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touches of a capsule and a box."""
    p = X2.rotation.T @ (X1.translation - X2.translation)
    u = (X2.rotation.T @ z_axis(X1)) * capsule.half_length
    first = _nearest(p, u, box.half_edges)
    second, used = second_touch(p, u, box.half_edges, first)
    way = way_out(p, u, box.half_edges, *inside(_crossings(p, u, box.half_edges)))
    normal = X2.rotation @ -way.out

    def touch(t: Scalar, deep_t: Scalar, gap: Scalar) -> Touch:
        apart = ball_and_box(X2.point(p + u * t), capsule.radius, box, X2)
        at = X2.point(p + u * deep_t) + normal * ((gap + capsule.radius) * 0.5)
        return chosen(less(way.gap, 0.0), Touch(gap - capsule.radius, at, normal), apart)

    other = touch(second, way.second, way.other)
    shallow = select(used, other.distance, FAR)
    deep = select(less(0.5, way.flat), other.distance, FAR)
    distance = select(less(way.gap, 0.0), deep, shallow)
    return [touch(first, way.first, way.gap), Touch(distance, other.point, other.normal)]


def _crossings(p: Vector3, u: Vector3, half: Half) -> list[tuple[Scalar, Scalar]]:
    """Where the segment enters and leaves the slab of each coordinate, within -1 and 1."""
    found = []
    for x, d, h in zip(p, u, half, strict=True):
        level = less(d * d, TINY)
        share = 1 / select(level, 1.0, d)
        ends = [select(level, side, (side * h - x) * share) for side in (-1.0, 1.0)]
        enter, leave = minimum(*ends), maximum(*ends)
        found.append((clip(enter, -1.0, 1.0), clip(leave, -1.0, 1.0)))
    return found


def _nearest(p: Vector3, u: Vector3, half: Half) -> Scalar:
    """The t of the point nearest to the box; the first one, if a whole part is equally near."""

    def slope(t: Scalar) -> Scalar:
        at = p + u * t
        beyond = (x - clip(x, -h, h) for x, h in zip(at, half, strict=True))
        return sum((d * e for d, e in zip(u, beyond, strict=True)), start=0.0)

    places = [-1.0, *(t for both in _crossings(p, u, half) for t in both), 1.0]
    slopes = [slope(t) for t in places]
    left, at_left = _last_below(places, slopes)
    back, at_back = _last_below([-t for t in reversed(places)], [-s for s in reversed(slopes)])
    right, at_right = -back, -at_back
    rise = at_right - at_left
    straight = less(TINY, rise)
    share = select(straight, -at_left / select(straight, rise, 1.0), 0.0)
    return clip(left + (right - left) * share, -1.0, 1.0)


def _last_below(places: Sequence[Scalar], slopes: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
    """The last place where the slope is not positive, or the first one, and the slope there."""
    last, there = places[0], slopes[0]
    for t, s in zip(places[1:], slopes[1:], strict=True):
        later = logical_and(less_equal(s, 0.0), less(last, t))
        last, there = select(later, t, last), select(later, s, there)
    return last, there
