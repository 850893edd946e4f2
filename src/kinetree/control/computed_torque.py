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

Where only some joints have motors and constraints move the others (M. Mistry, J. Buchli &
S. Schaal, Inverse dynamics control of floating base systems using orthogonal decomposition, 2010),
ID has two steps. The first finds the acceleration nearest to the wanted one that the constraints
allow, measured by the mass matrix; by Gauss's principle it is the constrained acceleration under
ID of the wanted one. The second finds the least joint forces of the motors that give it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from kinetree.algorithms import balafoutis_patel, difference, reference
from kinetree.algorithms.constraints import constrained_accelerations, constrained_inverse_dynamics
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.control.controller import Controller
from kinetree.control.motors import motor_joints
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
    actuated: Sequence[str] = (),
) -> Controller:
    """Computed-torque control towards a motion.

    Arguments:
        robot: what is controlled.
        kp, kd: gains, 1/s^2 and 1/s; one number, or one per velocity.
        target, velocity, acceleration: q_d (nq,), v_d and a_d (nv,), as in `passivity`.
        actuated: the names of the joints with motors, for a robot with constraints: the others get
            no forces. All joints if empty.

    Returns:
        The controller; its inputs have the names of the arguments before `actuated`.
    """
    check_robot(robot)
    motors = motor_joints(robot, actuated)
    inputs = {
        "kp": kp,
        "kd": kd,
        "target": target_of(robot, target),
        "velocity": velocity,
        "acceleration": acceleration,
    }
    law = partial(_law, actuated=motors)
    return Controller(robot, "computed_torque", law, inputs, state_lengths(robot))


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
    *,
    actuated: Sequence[str],
) -> list[Scalar]:
    """ID(q, v, a_t + K_d (v_t - v) + K_p e)."""
    e = difference(model, q, target)
    vt, at = reference(model, q, v, target, velocity, acceleration)
    rows = zip(at, kd, vt, v, kp, e, strict=True)
    a = [x + d * (w - s) + k * y for x, d, w, s, k, y in rows]
    tau = balafoutis_patel(model, q, v, a)
    if not actuated:
        return tau
    nearest = constrained_accelerations(model, q, v, tau)
    return constrained_inverse_dynamics(model, q, v, nearest, actuated=actuated)[0]
