"""Rows of joints and constraints: limits, dry friction, loops and held frames.

Source: MuJoCo's documentation, "Computation", sections "Limit", "Friction loss" and "Equality".

    limits         one-sided, with the distance to the nearer limit; for balls of the limited angle:
                   MuJoCo's rotation angle, a swing or a twist                                  (13)
    dry friction   holds a velocity with at most the friction of the drive                      (14)
    constraints    J u = - J' v - J still, nearly rigid: R = `RIGID` A                          (15)

differs: constraints ignore solref and solimp, whose softness would let loops drift; the step's
stabilisation removes errors of position and velocity.

Cost: a few operations for each row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.constraints import constraint_rows
from kinetree.algorithms.contact.laws import Huber, OneSided, Quadratic
from kinetree.algorithms.contact.part import Part
from kinetree.algorithms.contact.reference import impedance, reference, regularisation
from kinetree.algorithms.contact.row_parts import Equality, JointRows, Row
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.dense import dot
from kinetree.algorithms.limited import limited_balls, limited_coordinates, nearer_bound
from kinetree.algorithms.manifold import resting_rates
from kinetree.model import Model
from kinetree.model.softness import SoftLimit
from kinetree.scalar import Scalar, less, logical_or, select

RIGID = 1e-6
"""R of constraints, as a share of A."""
Entry = tuple[tuple[int, ...], Part, Scalar]
"""The velocities that move a part, the part, and whether some of its rows can act."""


class LimitRow(NamedTuple):
    """The row of the nearer limit of a coordinate or a length (13).

    at: the velocities that change it.
    r, rate: its residual, and the residual's rate.
    acts: whether it is within its margin.
    """

    at: tuple[int, ...]
    row: Row
    r: Scalar
    rate: Scalar
    acts: Scalar


def limit_rows(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    weights: InverseWeights,
    shortest: Scalar,
) -> Iterator[Entry]:
    """A row for each limited coordinate, and for each limited angle of a ball joint (13)."""
    if limited_balls(model):
        from kinetree.algorithms.contact.ball_rows import ball_limit_rows  # few robots need it

        for limit in ball_limit_rows(model, q, qd, weights, shortest):
            yield limit.at, Equality(limit.row), limit.acts
    found = list(joint_limits(model, q, qd, weights, shortest))
    near: Scalar = False
    for limit in found:
        near = logical_or(near, limit.acts)
    if found:
        yield tuple(x.at[0] for x in found), JointRows([x.row for x in found]), near


def joint_limits(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    weights: InverseWeights,
    shortest: Scalar,
) -> Iterator[LimitRow]:
    """The limits of coordinates (13)."""
    owner = {k: i for i in model.coordinate_order for k in _range(model.v_slices[i])}
    for place, k, lower, upper in limited_coordinates(model):
        soft = model.bodies[owner[k]].softness.limit
        A = weights.of_joint(owner[k])[k - model.v_slices[owner[k]].start]
        moving = (k,), [1.0], [qd[k]]
        yield nearer_limit(q[place], (lower, upper), moving, soft, A, shortest)


def nearer_limit(
    x: Scalar,
    bounds: tuple[float, float],
    moving: tuple[tuple[int, ...], Sequence[Scalar], Sequence[Scalar]],
    soft: SoftLimit,
    A: Scalar,
    shortest: Scalar,
) -> LimitRow:
    """The row of the nearer of two bounds (13).

    Arguments:
        x: the bounded quantity.
        moving: the velocities that change it, its gradient along them, and their values.
        soft, A, shortest: as in `reference`.
    """
    at, J, rates = moving
    side, distance = nearer_bound(x, *bounds)
    r = distance - soft.margin
    d, acts = impedance(soft.solimp, r), less(r, 0.0)
    of = reference(soft.solref, soft.solimp, shortest)
    D = select(acts, 1 / regularisation(d, A), 0.0)
    entries = tuple(side * entry for entry in J)
    rate = dot(entries, rates)
    return LimitRow(at, Row(entries, -of.b * rate - of.k * d * r, OneSided(D)), r, rate, acts)


def friction_rows(
    model: Model, qd: Sequence[Scalar], weights: InverseWeights, shortest: Scalar
) -> Iterator[Entry]:
    """A row for each velocity with dry friction (14)."""
    at: list[int] = []
    rows: list[Row] = []
    for i in model.coordinate_order:
        drive, soft = model.drives[i], model.bodies[i].softness.friction
        if not drive.friction:
            continue
        of, d = reference(soft.solref, soft.solimp, shortest), impedance(soft.solimp, 0.0)
        for k, A in enumerate(weights.of_joint(i), model.v_slices[i].start):
            law = Huber(1 / regularisation(d, A), drive.friction)
            rows.append(Row((1.0,), -of.b * qd[k], law))
            at.append(k)
    if rows:
        yield tuple(at), JointRows(rows), True


def equality_rows(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], weights: InverseWeights
) -> Iterator[Entry]:
    """The rows of the robot's constraints (15)."""
    if not model.constraints:
        return
    rows, still = constraint_rows(model, q, qd), resting_rates(model, qd)
    for J, bias in zip(rows.J, rows.bias, strict=True):
        law = Quadratic(1 / (RIGID * weights.of_row(J)))
        resting = dot(list(J.values()), [still[k] for k in J])
        yield tuple(J), Equality(Row(tuple(J.values()), -bias - resting, law)), True


def _range(at: slice) -> range:
    return range(at.start, at.stop)
