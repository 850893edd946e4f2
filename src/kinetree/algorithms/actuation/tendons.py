"""Tendons: their lengths, and the gradients of these, their moment arms.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Tendons". The gradient of a length equals the joint forces of a unit tension
(see `posture`). Where a tendon wraps a body, the points at which the arc begins and ends count as
fixed in the body: they slide, but the path is the shortest, so that to first order its length does
not depend on them.

    symbol    code        meaning
    L         length      of a tendon, m; of a fixed one in the units of its coordinates
    dL/dq     row         along q (+) delta, a number for each velocity
    u         towards     the direction of a straight part

Cost: O(d) for each part of a tendon.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.actuation.plane import norm, safe
from kinetree.algorithms.actuation.posture import Posture, Row, line
from kinetree.algorithms.actuation.wrapping import wrapped
from kinetree.model import Model
from kinetree.model.tendons import FixedTendon, SpatialTendon, Tendon, Wrap
from kinetree.model.tendons.path import Pulley, Via
from kinetree.scalar import Scalar, select
from kinetree.spatial import Force, Vector3


class Line(NamedTuple):
    """A straight part of a tendon.

    start, end: the frames that it connects.
    W: the wrench of a unit force along it, at the world's origin.
    """

    start: str
    end: str
    W: Force


def tendon_lengths(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The length of every tendon."""
    posture = Posture(model, q)
    return [stretched(posture, tendon)[0] for tendon in model.equipment.tendons]


def tendon_jacobian(model: Model, q: Sequence[Scalar]) -> list[Row]:
    """The moment arms of every tendon: rows, one for each tendon."""
    posture = Posture(model, q)
    return [stretched(posture, tendon)[1] for tendon in model.equipment.tendons]


def stretched(posture: Posture, tendon: Tendon) -> tuple[Scalar, Row]:
    """The length of a tendon and its gradient."""
    if isinstance(tendon, FixedTendon):
        return _fixed(posture, tendon)
    assert isinstance(tendon, SpatialTendon)
    return _spatial(posture, tendon)


def constant_row(model: Model, tendon: FixedTendon) -> Row:
    """The gradient of a fixed tendon's length, which does not depend on the configuration."""
    row: Row = [0] * model.nv
    weights = dict(tendon.coefficients)
    for body, at in zip(model.bodies, model.v_slices, strict=True):
        if body.joint_name in weights:
            ratio = body.joint.transmission.ratio
            row[at.start] = row[at.start] + weights[body.joint_name] * ratio
    return row


def _fixed(posture: Posture, tendon: FixedTendon) -> tuple[Scalar, Row]:
    length, row = tendon.offset, posture.nothing()
    for name, weight in tendon.coefficients:
        own, gradient = posture.joint(posture.body_of_joint(name))
        length = length + own * weight
        row = [x + g * weight for x, g in zip(row, gradient, strict=True)]
    return length, row


def _spatial(posture: Posture, tendon: SpatialTendon) -> tuple[Scalar, Row]:
    length, lines = course(posture, tendon)
    row = posture.nothing()
    for part in lines:
        posture.add(row, posture.body(part.end), part.W, posture.body(part.start))
    return length, row


def course(posture: Posture, tendon: SpatialTendon) -> tuple[Scalar, list[Line]]:
    """The length of a spatial tendon, and its straight parts between bodies."""
    length: Scalar = 0
    lines: list[Line] = []
    share, start, around = 1.0, None, None
    for part in tendon.path:
        if isinstance(part, Pulley):
            share, start = 1.0 / part.divisor, None
        elif isinstance(part, Wrap):
            around = part
        else:
            if start is not None:
                piece, straight = _between(posture, start, around, part)
                length = length + piece * share
                lines += [x._replace(W=x.W * share) for x in straight]
            start, around = part, None
    return length, lines


def _between(
    posture: Posture, start: Via, around: Wrap | None, end: Via
) -> tuple[Scalar, list[Line]]:
    """The length between two points, perhaps around a body, and the straight parts."""
    p0, p1 = posture.point(start.frame), posture.point(end.frame)
    if around is None:
        length, u = towards(p0, p1)
        return length, [Line(start.frame, end.frame, line(p0, u))]
    X, carrier = posture.placed(around.place), around.place.frame
    side = None if around.side is None else posture.point(around.side)
    local = (None if p is None else posture.seen(p, X) for p in (p0, p1, side))
    wraps, first, last, arc = wrapped(around.kind, around.radius, *local)  # type: ignore[arg-type]
    # a straight tendon is two lines from p0 to p1, whose wrenches on the wrapped body cancel
    t0 = _chosen(wraps, X.point(first), p1)
    t1 = _chosen(wraps, X.point(last), p0)
    (before, u0), (after, u1) = towards(p0, t0), towards(t1, p1)
    lines = [Line(start.frame, carrier, line(p0, u0)), Line(carrier, end.frame, line(p1, u1))]
    return select(wraps, before + arc + after, before), lines


def towards(start: Vector3, end: Vector3) -> tuple[Scalar, Vector3]:
    """The distance between two points, and the direction from one to the other."""
    d = end - start
    length = norm(d)
    return length, d * (1.0 / safe(length))


def _chosen(condition: Scalar, a: Vector3, b: Vector3) -> Vector3:
    return Vector3(*(select(condition, x, y) for x, y in zip(a, b, strict=True)))
