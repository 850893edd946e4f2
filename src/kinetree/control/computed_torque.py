"""Computed-torque control: inverse dynamics of the acceleration that corrects the error.

Source: K. M. Lynch & F. C. Park, Modern Robotics (2017), section 11.4.

    symbol    code    meaning
    e         e       q_d (-) q, the error
    v_t, a_t  vt at   the target's velocity T v_d, transported to q, and its rate: see
                      `algorithms.reference`

    tau = ID(q, v, a_t + K_d (v_t - v) + K_p e)

Where velocities are rates of coordinates, v_t = v_d, a_t = a_d, and the error obeys
e'' + K_d e' + K_p e = 0, joint by joint. On ball joints and floating bases the closed loop is
u' + K_d u + K_p e = 0 with u = v_t - v, which is e' to first order in e.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.algorithms import balafoutis_patel, difference, reference
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.control.controller import Controller
from kinetree.control.pd import Scalars, state_lengths, target_of
from kinetree.model import Model
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


@through_numpy
def computed_torque(
    robot: Robot,
    *,
    kp: ArrayLike = 100.0,
    kd: ArrayLike = 20.0,
    target: ArrayLike | None = None,
    velocity: ArrayLike = 0.0,
    acceleration: ArrayLike = 0.0,
) -> Controller:
    """Computed-torque control towards a motion.

    Arguments:
        robot: what is controlled.
        kp, kd: gains, 1/s^2 and 1/s; one number, or one per velocity.
        target, velocity, acceleration: q_d (nq,), v_d and a_d (nv,), as in `passivity`.

    Returns:
        The controller; its inputs have the names of the arguments.
    """
    check_robot(robot)
    inputs = {
        "kp": kp,
        "kd": kd,
        "target": target_of(robot, target),
        "velocity": velocity,
        "acceleration": acceleration,
    }
    return Controller(robot, "computed_torque", _law, inputs, state_lengths(robot))


def _law(
    model: Model,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    kp: Scalars,
    kd: Scalars,
    target: Scalars,
    velocity: Scalars,
    acceleration: Scalars,
) -> list[Scalar]:
    """ID(q, v, a_t + K_d (v_t - v) + K_p e)."""
    e = difference(model, q, target)
    vt, at = reference(model, q, v, target, velocity, acceleration)
    rows = zip(at, kd, vt, v, kp, e, strict=True)
    a = [x + d * (w - s) + k * y for x, d, w, s, k, y in rows]
    return balafoutis_patel(model, q, v, a)
