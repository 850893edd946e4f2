"""The derivatives of the rows of constraints by the state, at given accelerations and forces.

Source: J. Carpentier & N. Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS
(2018), section IV, for rows whose wrenches T may turn.

Two terms of the optimality conditions depend on the rows: their acceleration y = J qdd + J' qd, and
the joint forces J^T forces of `turned_forces`. With y = T A + T' V and steps of `relative_steps`,

    dy = T dA + P s + Q dV

    symbol         code       meaning
    V, A           V A        the velocity of the frame b relative to its base a, in b; its rate
    T, T'          T T_rate   the wrenches of the rows, in b; their rates
    P, Q           P Q        derivatives of T A + T' V by the pose of b in a, and by V

P and Q come from running T on dual numbers along the six directions of a pose; they are zero where
T is fixed in the frame b.

Cost: O(d) for each row, d the joints between the two frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kinetree.algorithms.constraints.chains import Chains
from kinetree.algorithms.constraints.relative_steps import (
    RelativeMotion,
    RelativeStep,
    relative_motion,
)
from kinetree.algorithms.constraints.rows import chosen
from kinetree.algorithms.constraints.turned_forces import turn_forces
from kinetree.algorithms.frames import Frames
from kinetree.algorithms.inverse_derivatives import Matrix, joint_steps
from kinetree.algorithms.ltl import Row, is_zero
from kinetree.model.constraints import Coupling, FrameConstraint
from kinetree.model.constraints.base import moving, wrench_rate
from kinetree.model.constraints.coupling import derivative, polynomial
from kinetree.model.softness import Baumgarte
from kinetree.scalar import Scalar
from kinetree.scalar.dual import lift
from kinetree.spatial import Force, Twist, Vector3

UNITS = [
    Twist(*(Vector3(*(1 if i == k else 0 for i in part)) for part in (range(3), range(3, 6))))
    for k in range(6)
]
"""The six directions of a pose."""


@dataclass(frozen=True)
class RowDerivatives:
    """The derivatives of the rows' accelerations, sparse, and of J^T forces.

    The accelerations include the Baumgarte terms, if there are any.
    """

    by_q: list[Row]
    by_v: list[Row]
    force_by_q: Matrix


def row_derivatives(
    parts: Frames,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    forces: Sequence[Scalar],
    names: Sequence[str],
    stabilization: Baumgarte,
) -> RowDerivatives:
    """The derivatives of rows by q and qd, at constant qdd and forces."""
    model, chains = parts.model, Chains(parts.model, q, qd)
    v, a = parts.motions(q, qd, qdd)
    steps = joint_steps(parts, q, qd, qdd, v, a)
    found = RowDerivatives([], [], [[0] * model.nv for _ in range(model.nv)])
    rest = iter(forces)
    for constraint in chosen(model, names):
        acting = [next(rest) for _ in range(constraint.row_count)]
        if isinstance(constraint, Coupling):
            _coupled(chains, constraint, qdd, acting[0], stabilization, found)
        elif isinstance(constraint, FrameConstraint):
            motion = relative_motion(parts, chains, v, a, steps, constraint)
            turned = [constraint.wrench_rates(motion.X, unit) for unit in UNITS]
            _add_rows(constraint, motion, turned, stabilization, found)
            turn_forces(constraint, motion, turned, acting, found.force_by_q)
    return found


def _coupled(
    chains: Chains,
    constraint: Coupling,
    qdd: Sequence[Scalar],
    force: Scalar,
    stabilization: Baumgarte,
    found: RowDerivatives,
) -> None:
    """y = sum of f' qdd + f'' qd^2, and the joint forces f' force."""
    model, q, qd = chains.model, chains.q, chains.qd or ()
    alpha, beta = stabilization.gains
    number = {body.joint_name: i for i, body in enumerate(model.bodies)}
    found.by_q.append({})
    found.by_v.append({})
    for joint, f in constraint.polynomials:
        x = q[model.q_slices[number[joint]].start]
        k = model.v_slices[number[joint]].start
        slope = derivative(f)
        bend = derivative(slope)
        first, second, third = (polynomial(g, x) for g in (slope, bend, derivative(bend)))
        speed = second * qd[k] * alpha + first * beta  # the Baumgarte terms
        found.by_q[-1][k] = second * qdd[k] + third * (qd[k] * qd[k]) + speed
        found.by_v[-1][k] = second * qd[k] * 2 + first * alpha
        found.force_by_q[k][k] = found.force_by_q[k][k] + second * force


def _add_rows(
    constraint: FrameConstraint,
    motion: RelativeMotion,
    turned: Sequence[Sequence[Force]],
    stabilization: Baumgarte,
    found: RowDerivatives,
) -> None:
    """Append the derivatives of the acceleration of each row between two frames.

    Arguments:
        turned: the changes of the rows' wrenches along `UNITS`.
    """
    X, V = motion.X, motion.V
    alpha, beta = stabilization.gains
    bent = [constraint.wrench_rates(moving(X, unit), V) for unit in UNITS]
    opened = [constraint.error(moving(X, unit)) for unit in UNITS] if stabilization.rate else []
    rows = zip(constraint.wrenches(X), constraint.wrench_rates(X, V), strict=True)
    for row, (T, T_rate) in enumerate(rows):
        speeds = _force(wrenches[row].dot(V) for wrenches in turned)  # T V by the pose
        P = _force(wrenches[row].dot(motion.A) for wrenches in turned)
        P = P + _force(wrench_rate(wrenches[row]).dot(V) for wrenches in bent)
        Q = speeds + T_rate
        if stabilization.rate:
            slope = _force(lift(errors[row]).rate for errors in opened)
            P, Q = P + speeds * alpha + slope * beta, Q + T * alpha
        by_q: Row = {}
        by_v: Row = {}
        for step in motion.steps:
            _add(by_q, step, T.dot(step.dA) + P.dot(step.s) + Q.dot(step.dV))
            _add(by_v, step, T.dot(step.dA_v) + Q.dot(step.s))
        found.by_q.append(by_q)
        found.by_v.append(by_v)


def _add(row: Row, step: RelativeStep, entry: Scalar) -> None:
    if not is_zero(entry):
        row[step.number] = row.get(step.number, 0) + entry * step.sign


def _force(components: Iterable[Scalar]) -> Force:
    six = list(components)
    return Force(Vector3(*six[:3]), Vector3(*six[3:]))
