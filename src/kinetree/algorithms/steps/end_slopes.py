"""The derivative of the state at the end of a step by the velocity over the step.

Source: the chain rule, by dual numbers: A. Griewank & A. Walther, Evaluating Derivatives (2008).

    symbol    code      meaning
    w         w         the velocity with which each joint moves over the step
    A, B                derivatives of the state at the end, seen from that state

Cost: O(N^2) and that of each joint's motion, for each of its directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinetree.algorithms.dense import dot
from kinetree.model import Model
from kinetree.model.joints import Joint
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift

Scalars = list[Scalar]
Matrix = list[Scalars]
Ends = Callable[[Joint, Sequence[Scalar], Sequence[Scalar], Scalar], tuple[Scalars, Scalars]]
"""The state that a joint reaches from q with w."""


class Speeds(NamedTuple):
    """w, and columns of its derivatives."""

    w: list[Scalar]
    w_q: Matrix
    w_v: Matrix
    w_tau: Matrix


def end_slopes(
    model: Model, q: Sequence[Scalar], speeds: Speeds, dt: Scalar, end: Ends
) -> tuple[Matrix, Matrix]:
    """The derivatives of the state at the end."""
    n = model.nv
    given = [*speeds.w_q, *speeds.w_v, *speeds.w_tau]
    total: Matrix = [[0] * (3 * n) for _ in range(2 * n)]
    for i in model.coordinate_order:
        at, joint = model.v_slices[i], model.bodies[i].joint
        by_q, by_w = _joint_slopes(joint, q[model.q_slices[i]], speeds.w[at], dt, end)
        for r in range(2 * joint.nv):
            way, k = divmod(r, joint.nv)
            row = total[way * n + at.start + k]
            along = [column[r] for column in by_w]
            for c, column in enumerate(given):
                row[c] = dot(along, column[at])
            for c, own in enumerate(by_q, at.start):
                row[c] = row[c] + own[r]
    return [row[: 2 * n] for row in total], [row[2 * n :] for row in total]


def _joint_slopes(
    joint: Joint, q: Sequence[Scalar], w: Sequence[Scalar], dt: Scalar, end: Ends
) -> tuple[Matrix, Matrix]:
    """The derivatives of a joint's state at the end by each direction of q, and by w."""
    q1, _ = end(joint, q, w, dt)
    units = [[1 if j == k else 0 for j in range(joint.nv)] for k in range(joint.nv)]
    still = [0] * joint.nq, [0] * joint.nv
    found: list[list[Scalar]] = []
    for dq, dw in [(joint.coordinate_rates(q, unit), still[1]) for unit in units] + [
        (still[0], unit) for unit in units
    ]:
        there, speed = end(joint, _dual(q, dq), _dual(w, dw), dt)
        way = joint.difference(q1, there)
        found.append([lift(x).rate for x in (*way, *speed)])
    return found[: joint.nv], found[joint.nv :]


def _dual(x: Sequence[Scalar], rate: Sequence[Scalar]) -> list[Dual]:
    return [Dual(a, b) for a, b in zip(x, rate, strict=True)]


def speeds_of(
    v: Sequence[Scalar], a: Sequence[Scalar], slopes: Sequence[Matrix], dt: Scalar
) -> Speeds:
    """w = v + h a."""
    w_q, w_v, w_tau = ([[x * dt for x in column] for column in A] for A in slopes)
    for k, column in enumerate(w_v):
        column[k] = column[k] + 1
    return Speeds([s + x * dt for s, x in zip(v, a, strict=True)], w_q, w_v, w_tau)
