"""Two boxes that are apart: their nearest points.

These are a corner of one box and the point of the other nearest to it, or they lie inside two
edges. In the latter case the vector between them is normal to both edges and separates the boxes.
So for each pair of edge directions only the edges farthest along their common normal qualify.
Candidates are 16 corners and 9 pairs of edges. Each is a pair of points of the boxes, so the
smallest distance of a candidate is the distance.

`box_box` has the touches of boxes that overlap or are within a margin. Beyond the margin, this file
gives one touch at the true distance, or several if two parallel faces are nearest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from kinetree.algorithms.contact.pairs.box_box import PARALLEL, box_box
from kinetree.algorithms.contact.pairs.box_faces import Oriented, signed
from kinetree.algorithms.contact.touch import (
    FAR,
    UNIT_X,
    Touch,
    chosen,
    clip,
    direction,
    either,
)
from kinetree.model.geometry import Box
from kinetree.scalar import Scalar, less, logical_and, minimum, select
from kinetree.spatial import Transform, Vector3


@dataclass(frozen=True)
class Candidate:
    """A point of the first box, the vector from there to one of the second, and its square."""

    start: Vector3
    way: Vector3
    square: Scalar


def boxes_apart(
    first: Box, X1: Transform, second: Box, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touches of two boxes, at the true distance where that is more than a margin."""
    found = box_box(first, X1, second, X2, margin)
    others: Scalar = FAR
    for t in found[1:]:
        others = minimum(others, t.distance)
    lowest = minimum(others, found[0].distance)
    nearest = nearest_points(Oriented.of(first, X1), Oriented.of(second, X2))
    of_faces = select(less(others, FAR), lowest, FAR)  # a single touch may be less than apart
    better = logical_and(less(margin, lowest), less(nearest.distance, of_faces))
    rest = (Touch(select(better, FAR, t.distance), t.point, t.normal) for t in found[1:])
    return [chosen(better, nearest, found[0]), *rest]


def nearest_points(one: Oriented, two: Oriented) -> Touch:
    """The touch of two boxes that are apart."""
    candidates = [_to_corner(one, corner) for corner in _corners(two)]
    for corner in _corners(one):
        back = _to_corner(two, corner)
        candidates.append(Candidate(corner, -back.way, back.square))
    candidates += [_between_edges(one, i, two, j) for i in range(3) for j in range(3)]
    best = candidates[0]
    for candidate in candidates[1:]:
        best = _nearer(best, candidate)
    distance, normal = direction(best.way, UNIT_X)
    return Touch(distance, best.start + best.way * 0.5, normal)


def _nearer(a: Candidate, b: Candidate) -> Candidate:
    less_far = less(b.square, a.square)
    return Candidate(
        either(less_far, b.start, a.start),
        either(less_far, b.way, a.way),
        select(less_far, b.square, a.square),
    )


def _corners(box: Oriented) -> list[Vector3]:
    edges = [axis * h for axis, h in zip(box.axes, box.half, strict=True)]
    return [
        sum((e * s for e, s in zip(edges, signs, strict=True)), start=box.center)
        for signs in product((-1.0, 1.0), repeat=3)
    ]


def _to_corner(box: Oriented, corner: Vector3) -> Candidate:
    """From the nearest point of a box to a corner of the other."""
    start, apart = box.center, corner - box.center
    for axis, h in zip(box.axes, box.half, strict=True):
        start = start + axis * clip(axis.dot(apart), -h, h)
    way = corner - start
    return Candidate(start, way, way.dot(way))


def _between_edges(one: Oriented, i: int, two: Oriented, j: int) -> Candidate:
    """Between two edges, one of each box: of those along two axes, the ones nearest each other."""
    u, v = one.axes[i], two.axes[j]
    n = u.cross(v)
    n = n * signed(n.dot(two.center - one.center))
    a, b = _farthest(one, i, n), _farthest(two, j, -n)
    w, c = b - a, u.dot(v)
    square = 1.0 - c * c
    parallel = less(square, PARALLEL)
    share = 1 / select(parallel, 1.0, square)
    x = clip((w.dot(u) - c * w.dot(v)) * share, -one.half[i], one.half[i])
    y = clip(c * x - w.dot(v), -two.half[j], two.half[j])
    x = clip(w.dot(u) + c * y, -one.half[i], one.half[i])
    way = w + v * y - u * x
    return Candidate(a + u * x, way, select(parallel, FAR**2, way.dot(way)))


def _farthest(box: Oriented, edge: int, n: Vector3) -> Vector3:
    """The middle of the edge along an axis that lies farthest in a direction."""
    point = box.center
    for k, (axis, h) in enumerate(zip(box.axes, box.half, strict=True)):
        if k != edge:
            point = point + axis * (h * signed(axis.dot(n)))
    return point
