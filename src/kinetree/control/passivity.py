"""Passivity-based control.

Source: J.-J. E. Slotine & W. Li, On the adaptive control of robot manipulators (1987); with C of
the Christoffel symbols, in O(N) by Niemeyer & Slotine (see `algorithms.passivity`).

    symbol    code        meaning
    v_r, a_r  vr ar       T v_d + L (q_d (-) q) and its rate: see `algorithms.reference`
    s         v_r - v     the error of the reference velocity
    K, L      gain slope

    tau = M a_r + C v_r + g + K s

Then M s' + C s + K s = 0, and V = s^T M s / 2 falls with V' = -s^T K s, because M' = C + C^T.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.algorithms import passivity_forces, reference
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.control.controller import Controller
from kinetree.control.pd import RATE, Scalars, felt_inertias, state_lengths, target_of
from kinetree.model import Model
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


@through_numpy
def passivity(
    robot: Robot,
    *,
    gain: ArrayLike | None = None,
    slope: ArrayLike = 5.0,
    target: ArrayLike | None = None,
    velocity: ArrayLike = 0.0,
    acceleration: ArrayLike = 0.0,
) -> Controller:
    """Slotine and Li's passivity-based controller.

    Arguments:
        robot: what is controlled.
        gain: K, N m s/rad; one number, or one per velocity. By default 10 1/s times the mean
            inertia at each joint.
        slope: L, 1/s; one number, or one per velocity.
        target, velocity, acceleration: q_d (nq,), v_d and a_d (nv,). Those of a ball joint or a
            floating base are in the axes of the target's own body frame.

    Returns:
        The controller; its inputs have the names of the arguments.
    """
    check_robot(robot)
    inputs = {
        "gain": RATE * felt_inertias(robot) if gain is None else gain,
        "slope": slope,
        "target": target_of(robot, target),
        "velocity": velocity,
        "acceleration": acceleration,
    }
    return Controller(robot, "passivity", _law, inputs, state_lengths(robot))


def _law(
    model: Model,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    gain: Scalars,
    slope: Scalars,
    target: Scalars,
    velocity: Scalars,
    acceleration: Scalars,
) -> list[Scalar]:
    """M a_r + C v_r + g + K s."""
    vr, ar = reference(model, q, v, target, velocity, acceleration, slope)
    tau = passivity_forces(model, q, v, vr, ar)
    return [x + k * (r - s) for x, k, r, s in zip(tau, gain, vr, v, strict=True)]
