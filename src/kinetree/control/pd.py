"""Proportional-derivative control with gravity compensation.

Source: M. Takegaki & S. Arimoto, A new feedback method for dynamic control of manipulators (1981).

    tau = K_p (q_d (-) q) + K_d (T v_d - v) + g(q)

T transports the target's velocity to q (see `algorithms.reference`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kinetree.algorithms import balafoutis_patel, difference
from kinetree.algorithms.constraints import constrained_inverse_dynamics
from kinetree.algorithms.manifold import transported
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.control.controller import Controller
from kinetree.control.motors import motor_joints
from kinetree.kinds import flag
from kinetree.model import Model
from kinetree.robot.checks import finite_state
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

Scalars = Sequence[Scalar]
RATE = 10.0
"""The natural frequency of joints under default gains, rad/s."""


@through_numpy
def pd(
    robot: Robot,
    *,
    kp: ArrayLike | None = None,
    kd: ArrayLike | None = None,
    target: ArrayLike | None = None,
    velocity: ArrayLike = 0.0,
    gravity: bool = True,
    actuated: Sequence[str] = (),
) -> Controller:
    """PD control towards a configuration.

    Arguments:
        robot: what is controlled.
        kp, kd: gains, one number, or one per velocity: N m/rad and N m s/rad (N/m and N s/m). By
            default critical damping at 10 rad/s, for the mean inertia at each joint. With fixed
            steps, kd dt must stay well below that inertia.
        target: q_d, (nq,); the neutral configuration if None.
        velocity: v_d, (nv,), as in `passivity`.
        gravity: whether gravity and the joints' springs are compensated.
        actuated: the names of the joints with motors, for a robot with constraints: the others get
            no forces, and the motors compensate what acts on them. All joints if empty.

    Returns:
        The controller; its inputs are `kp`, `kd`, `target` and `velocity`.
    """
    check_robot(robot)
    motors = motor_joints(robot, actuated)
    felt = felt_inertias(robot)
    kp, kd = (RATE**2 * felt if kp is None else kp), (2.0 * RATE * felt if kd is None else kd)
    inputs = {"kp": kp, "kd": kd, "target": target_of(robot, target), "velocity": velocity}
    law = partial(_law, gravity=flag("gravity", gravity), actuated=motors)
    return Controller(robot, "pd", law, inputs, state_lengths(robot))


def felt_inertias(robot: Robot) -> Array:
    """The apparent inertia of each joint while the others are free, (nv,).

    It is the mean over some random configurations. With the others held, it would be the diagonal
    of the mass matrix, which is larger: gains for that are too high where axes are aligned.
    """
    inverse = robot.mass_matrix_inverse(robot.random(0, batch=64))
    return (1.0 / np.diagonal(inverse, axis1=-2, axis2=-1)).mean(axis=0)


def target_of(robot: Robot, target: ArrayLike | None, name: str = "target") -> ArrayLike:
    """A target configuration; the neutral one if none is given."""
    return robot.neutral() if target is None else finite_state(name, target, robot.nq)


def state_lengths(robot: Robot) -> dict[str, int]:
    """The lengths of inputs that many controllers have."""
    forces = dict.fromkeys(("kp", "kd", "gain", "slope", "velocity", "acceleration"), robot.nv)
    return forces | {"target": robot.nq}


def _law(
    model: Model,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    kp: Scalars,
    kd: Scalars,
    target: Scalars,
    velocity: Scalars,
    *,
    gravity: bool,
    actuated: Sequence[str],
) -> list[Scalar]:
    """K_p e + K_d (T v_d - v) + g; nothing at joints without motors."""
    held = _holding(model, q, actuated) if gravity else [0] * model.nv
    e = difference(model, q, target)
    vt = transported(model, q, target, velocity)
    rows = zip(kp, e, kd, vt, v, held, strict=True)
    tau = [k * x + d * (w - s) + g for k, x, d, w, s, g in rows]
    if not actuated:
        return tau
    bodies = zip(model.bodies, model.v_slices, strict=True)
    driven = {k for b, at in bodies if b.joint_name in actuated for k in range(at.start, at.stop)}
    return [x if k in driven else 0 for k, x in enumerate(tau)]


def _holding(model: Model, q: Scalars, actuated: Sequence[str]) -> list[Scalar]:
    """The joint forces at rest: g, or the least motor forces together with the constraints."""
    still = [0] * model.nv
    if not actuated:
        return balafoutis_patel(model, q, still, still)
    return constrained_inverse_dynamics(model, q, still, still, actuated=actuated)[0]
