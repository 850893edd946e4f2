"""Two boxes whose faces meet: the corners of the intersection of both faces.

The face of one box, the reference, is a rectangle. The face of the other that faces it most
directly is clipped against it (`clipped_face`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.contact.pairs.clipped_face import (
    clipped_edges,
    first_used,
    inner_corners,
)
from kinetree.algorithms.contact.touch import FAR, Touch, either
from kinetree.model.geometry import Box
from kinetree.scalar import Scalar, absolute, less, logical_and, logical_not, select
from kinetree.spatial import Transform, Vector3

ALONG = 0.999999
"""The cosine above which an axis counts as parallel to an edge."""


@dataclass(frozen=True)
class Oriented:
    """A box in the world: its centre, the directions of its edges, and half of their lengths."""

    center: Vector3
    axes: tuple[Vector3, Vector3, Vector3]
    half: tuple[Scalar, Scalar, Scalar]

    @staticmethod
    def of(box: Box, X: Transform) -> Oriented:
        """The box at a pose."""
        x, y, z = (Vector3(*column) for column in zip(*X.rotation.rows, strict=True))
        return Oriented(X.translation, (x, y, z), box.half_edges)

    def farthest(self, n: Vector3, edge: Vector3) -> Vector3:
        """The middle of the edge along an axis that lies farthest in a direction."""
        point = self.center
        for axis, h in zip(self.axes, self.half, strict=True):
            own = less(ALONG, absolute(axis.dot(edge)))
            point = point + axis * select(own, 0.0, h * signed(axis.dot(n)))
        return point


@dataclass(frozen=True)
class Faces:
    """The touches of two faces, and whether there are none."""

    touches: list[Touch]
    is_empty: Scalar

    def unless(self, condition: Scalar, touch: Touch) -> Touch:
        """A touch that is not used where a condition holds."""
        return Touch(select(condition, FAR, touch.distance), touch.point, touch.normal)


def signed(x: Scalar) -> Scalar:
    """1 for what is not negative, -1 otherwise."""
    return select(less(x, 0.0), -1.0, 1.0)


def face_touches(
    one: Oriented, two: Oriented, normal1: Vector3, normal2: Vector3, swapped: Scalar
) -> Faces:
    """The touches of two faces.

    Arguments:
        one, two: the boxes.
        normal1, normal2: the normals of the face of either box, from the first to the second box.
        swapped: whether the second box has the reference face.
    """
    reference, incident = _either(swapped, two, one), _either(swapped, one, two)
    outward = either(swapped, -normal2, normal1)
    n, t1, t2, hn, h1, h2 = _facing(reference, outward)
    m, e1, e2, gm, g1, g2 = _facing(incident, -outward)
    middle = incident.center + m * gm - reference.center - n * hn

    def local(v: Vector3) -> tuple[Scalar, Scalar, Scalar]:
        return v.dot(t1), v.dot(t2), v.dot(n)

    center, side1, side2 = local(middle), local(e1 * g1), local(e2 * g2)
    corners = clipped_edges(center, side1, side2, h1, h2)
    corners += inner_corners(center, side1, side2, h1, h2)
    origin = reference.center + n * hn
    direction = either(swapped, normal2, normal1)
    kept, count = first_used(corners)
    touches = [
        Touch(z, origin + t1 * x + t2 * y + n * select(less(z, FAR), z * 0.5, 0.0), direction)
        for x, y, z in kept
    ]
    return Faces(touches, less(count, 0.5))


def _either(condition: Scalar, a: Oriented, b: Oriented) -> Oriented:
    x, y, z = (either(condition, u, v) for u, v in zip(a.axes, b.axes, strict=True))
    p, q, r = (select(condition, u, v) for u, v in zip(a.half, b.half, strict=True))
    return Oriented(either(condition, a.center, b.center), (x, y, z), (p, q, r))


def _facing(
    box: Oriented, towards: Vector3
) -> tuple[Vector3, Vector3, Vector3, Scalar, Scalar, Scalar]:
    """The face that points most in a direction: normal, edges, and half lengths along the three."""
    dots = [axis.dot(towards) for axis in box.axes]
    x, y, z = (absolute(d) for d in dots)
    is_z = logical_and(less(x, z), less(y, z))
    is_y = logical_and(less(x, y), logical_not(is_z))

    def pick(values: Sequence[Scalar]) -> Scalar:
        return select(is_z, values[2], select(is_y, values[1], values[0]))

    def turn(k: int) -> Vector3:
        a, b, c = (box.axes[(i + k) % 3] for i in range(3))
        return either(is_z, c, either(is_y, b, a))

    h = [pick([box.half[(i + k) % 3] for i in range(3)]) for k in range(3)]
    return turn(0) * signed(pick(dots)), turn(1), turn(2), h[0], h[1], h[2]
