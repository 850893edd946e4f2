"""Operational-space control: a frame's own dynamics, decoupled, and a posture in its null space.

Source: O. Khatib, A unified approach for motion and force control of robot manipulators: the
operational space formulation (1987).

    symbol    code      meaning
    L         L         the operational-space inertia of `algorithms.operational_space`
    a*        wanted    K_p e + K_d (V_d - J v) - J' v
    J_bar               M^-1 J^T L, the dynamically consistent inverse of J
    tau_0     posture   M (K_p0 (q_0 (-) q) - K_d0 v), what the posture wants

    tau = J^T L a* + (1 - J^T J_bar^T) tau_0 + bias(q, v)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kinetree.algorithms import balafoutis_patel, crba, difference, frame_acceleration
from kinetree.algorithms.dense import dot
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.operational_space import inertia_along
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.control.controller import Controller
from kinetree.control.pd import Scalars, target_of
from kinetree.control.pose import POSE, POSITION, frame_task, seven_numbers
from kinetree.kinds import flag
from kinetree.model import Model
from kinetree.robot.checks import number
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


@through_numpy
def operational_space(
    robot: Robot,
    frame: str,
    *,
    kp: ArrayLike = 100.0,
    kd: ArrayLike = 20.0,
    target: ArrayLike | None = None,
    velocity: ArrayLike = 0.0,
    posture: ArrayLike | None = None,
    posture_kp: ArrayLike = 10.0,
    posture_kd: ArrayLike = 5.0,
    orientation: bool = True,
    regularization: float = 1e-6,
) -> Controller:
    """Control of a frame's motion, and of a posture within the null space of that task.

    Arguments:
        robot: what is controlled.
        frame: the name of the frame.
        kp, kd: gains along x, y, z, then about them, 1/s^2 and 1/s.
        target: (7,) origin and quaternion (x y z w), a 4x4 matrix, or a position.
        velocity: V_d, (6,): linear, then angular, in the world's axes.
        posture, posture_kp, posture_kd: q_0, (nq,), and its gains, one number, or one per velocity.
        orientation: whether the orientation is controlled, too, or the position alone.
        regularization: c, 1/kg; it bounds the forces near singular configurations.

    Returns:
        The controller; its inputs are `kp`, `kd`, `target`, `velocity`, `posture`, `posture_kp` and
        `posture_kd`.
    """
    check_robot(robot)
    rows = POSE if flag("orientation", orientation) else POSITION
    inputs = {
        "kp": kp,
        "kd": kd,
        "target": seven_numbers(robot, frame, target),
        "velocity": velocity,
        "posture": target_of(robot, posture, "posture"),
        "posture_kp": posture_kp,
        "posture_kd": posture_kd,
    }
    lengths = dict.fromkeys(("kp", "kd", "velocity"), rows)
    lengths |= {"target": 7, "posture": robot.nq, "posture_kp": robot.nv, "posture_kd": robot.nv}
    c = number("regularization", regularization, 0.0)
    law = partial(_law, frame=frame, rows=rows, regularization=c)
    return Controller(robot, "operational_space", law, inputs, lengths)


def _law(
    model: Model,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    kp: Scalars,
    kd: Scalars,
    target: Scalars,
    velocity: Scalars,
    posture: Scalars,
    posture_kp: Scalars,
    posture_kd: Scalars,
    *,
    frame: str,
    rows: int,
    regularization: float,
) -> list[Scalar]:
    """J^T L a* + (1 - J^T J_bar^T) tau_0 + bias."""
    still = [0] * model.nv
    e, J = frame_task(model, q, frame, target, rows)
    drift = list(frame_acceleration(model, q, v, still, frame, "origin", "classical"))[:rows]
    parts = zip(kp, e, kd, velocity, J, drift, strict=True)
    wanted = [k * x + d * (w - dot(row, v)) - a for k, x, d, w, row, a in parts]

    M = crba(model, q)
    H = factor(M, elimination_order(model))
    L = inertia_along(H, J, regularization)

    away = difference(model, q, posture)
    pulls = zip(posture_kp, away, posture_kd, v, strict=True)
    a0 = [k * x - d * s for k, x, d, s in pulls]  # M^-1 tau_0
    # J^T L (a* - J a_0) + M a_0: J_bar^T tau_0 = L J a_0
    short = [w - dot(row, a0) for w, row in zip(wanted, J, strict=True)]
    F = [dot(row, short) for row in L]
    bias = balafoutis_patel(model, q, v, still)
    columns = zip(*J, strict=True)
    return [
        dot(column, F) + dot(row, a0) + b for column, row, b in zip(columns, M, bias, strict=True)
    ]
