"""Two boxes: up to eight touches where a face meets a face, one where an edge crosses an edge.

The boxes are apart, or overlap least, along the normal of a face of either or of two of their
edges: the separating axis theorem, S. Gottschalk, M. C. Lin & D. Manocha, OBBTree, SIGGRAPH 1996,
doi 10.1145/237170.237244. `box_faces` has the touches of two faces.

For boxes that are apart, the separation along the axis is the distance if a face or two edges are
nearest. If two corners are nearest, it is less than the distance.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.algorithms.contact.pairs.box_faces import Oriented, face_touches, signed
from kinetree.algorithms.contact.touch import Touch, chosen, either
from kinetree.model.geometry import Box
from kinetree.scalar import Scalar, absolute, less, select, sqrt
from kinetree.spatial import Transform, Vector3

PARALLEL = 1e-6
"""Edges are parallel if the square of the sine between them is less."""
BETTER = 1e-9
"""m: the margin by which a pair of edges must separate more than any face."""


@dataclass(frozen=True)
class Separation:
    """The separation of boxes along a unit vector from the first to the second.

    first, second: the two edges that the vector is normal to, if it is not a face normal.
    """

    distance: Scalar
    normal: Vector3
    first: Vector3
    second: Vector3


def box_box(first: Box, X1: Transform, second: Box, X2: Transform, margin: Scalar) -> list[Touch]:
    """The touches of two boxes."""
    one, two = Oriented.of(first, X1), Oriented.of(second, X2)
    apart = two.center - one.center
    dots = [[u.dot(v) for v in two.axes] for u in one.axes]
    by_one = [_along(u, k, one, two, apart, dots) for k, u in enumerate(one.axes)]
    turned = [list(column) for column in zip(*dots, strict=True)]
    by_two = [_along(u, k, two, one, apart, turned) for k, u in enumerate(two.axes)]
    best_one, best_two = max_separation(by_one), max_separation(by_two)
    swapped = less(best_one.distance, best_two.distance)
    faces = face_touches(one, two, best_one.normal, best_two.normal, swapped)
    face = select(swapped, best_two.distance, best_one.distance)
    crossing = max_separation(
        [_across(i, j, one, two, apart, dots) for i in range(3) for j in range(3)]
    )
    by_edges = less(face + BETTER, crossing.distance)
    edges = _edge_touch(one, two, crossing)
    normal = either(swapped, best_two.normal, best_one.normal)
    middle = (one.center + two.center) * 0.5
    lone = chosen(by_edges, edges, Touch(face, middle, normal))
    is_lone = less(0.5, select(by_edges, 1.0, select(faces.is_empty, 1.0, 0.0)))
    head, *rest = faces.touches
    return [chosen(is_lone, lone, head), *(faces.unless(is_lone, t) for t in rest)]


def max_separation(found: list[Separation]) -> Separation:
    """The one with the largest distance."""
    best = found[0]
    for other in found[1:]:
        more = less(best.distance, other.distance)
        best = Separation(
            select(more, other.distance, best.distance),
            either(more, other.normal, best.normal),
            either(more, other.first, best.first),
            either(more, other.second, best.second),
        )
    return best


def _along(
    u: Vector3,
    k: int,
    own: Oriented,
    other: Oriented,
    apart: Vector3,
    dots: list[list[Scalar]],
) -> Separation:
    """The separation along the normal of a face."""
    s = u.dot(apart)
    reach = own.half[k] + sum(
        (h * absolute(c) for h, c in zip(other.half, dots[k], strict=True)), start=0.0
    )
    return Separation(absolute(s) - reach, u * signed(s), u, u)


def _across(
    i: int, j: int, one: Oriented, two: Oriented, apart: Vector3, dots: list[list[Scalar]]
) -> Separation:
    """The separation along the normal of an edge of either box."""
    u, v = one.axes[i], two.axes[j]
    square = 1.0 - dots[i][j] * dots[i][j]
    parallel = less(square, PARALLEL)
    share = 1 / sqrt(select(parallel, 1.0, square))
    n = u.cross(v)
    s = n.dot(apart)
    i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
    reach = (
        one.half[i1] * absolute(dots[i2][j])
        + one.half[i2] * absolute(dots[i1][j])
        + two.half[j1] * absolute(dots[i][j2])
        + two.half[j2] * absolute(dots[i][j1])
    )
    distance = select(parallel, -1e6, (absolute(s) - reach) * share)
    return Separation(distance, n * (signed(s) * share), u, v)


def _edge_touch(one: Oriented, two: Oriented, found: Separation) -> Touch:
    """The touch of two crossing edges: midway between the nearest points of their lines."""
    n, u, v = found.normal, found.first, found.second
    a, b = one.farthest(n, u), two.farthest(-n, v)
    w, c = b - a, u.dot(v)
    square = 1.0 - c * c
    share = 1 / select(less(square, PARALLEL), 1.0, square)
    along_u = (w.dot(u) - c * w.dot(v)) * share
    along_v = (c * w.dot(u) - w.dot(v)) * share
    middle = (a + u * along_u + b + v * along_v) * 0.5
    return Touch(found.distance, middle, n)
