"""Which joints of a robot with constraints have motors; the others are moved by the constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import texts
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

UNHELD = 1e-6
"""The largest missing force, relative to the forces that hold the target, or to 1 N or N m."""


def motor_joints(robot: Robot, actuated: Sequence[str]) -> tuple[str, ...]:
    """The names of joints with motors, checked; none if all joints have them.

    Arguments:
        robot: what is controlled.
        actuated: as users give them.
    """
    names = texts("actuated", actuated)
    for name in names:
        if not among(name, robot.joints):
            raise unknown("moving joint", name, robot.joints, f"actuated: robot {robot.name!r}")
    if names and not robot.constraints.names:
        raise KinetreeError(
            f"actuated={list(names)}: robot {robot.name!r} has no constraints, and without them "
            "joints that have no motors cannot be controlled"
        )
    return names


def holding_forces(robot: Robot, q: Array, drives: NDArray[np.bool_]) -> Array:
    """The joint forces that hold a configuration, zero where there is no motor, (nv,).

    Arguments:
        robot: what is held.
        q: configuration, (nq,).
        drives: which velocities have motors, (nv,) booleans.
    """
    if not robot.constraints.names:
        return robot.gravity_forces(q) * drives
    model, still = robot.model, np.zeros(robot.nv)
    bodies = {model.bodies[i].joint_name: model.v_slices[i] for i in model.coordinate_order}
    names = [name for name, at in bodies.items() if drives[at].all()]
    if not names:
        raise KinetreeError(f"robot {robot.name!r}: actuated has no joint with all its velocities")
    tau, _, missing = robot.constraints.inverse_dynamics(q, still, still, actuated=names)
    if missing > UNHELD * max(1.0, float(np.abs(robot.gravity_forces(q)).max())):
        raise KinetreeError(
            f"robot {robot.name!r}: motors at {', '.join(map(repr, names))} and the constraints do "
            f"not hold the target; {float(missing):.3g} N or N m are missing"
        )
    return tau
