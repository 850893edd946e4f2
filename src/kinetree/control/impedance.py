"""Impedance control of a frame: a spring and a damper between the frame and its target.

Source: N. Hogan, Impedance control: an approach to manipulation (1985), without shaping of inertia;
the bias forces are compensated.

    tau = J^T (K e + D (V_d - J v)) + bias(q, v)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kinetree.algorithms import balafoutis_patel
from kinetree.algorithms.dense import dot
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.control.controller import Controller
from kinetree.control.pd import Scalars
from kinetree.control.pose import POSE, POSITION, frame_task, seven_numbers
from kinetree.kinds import flag
from kinetree.model import Model
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

STIFFNESS, DAMPING = (500.0,) * 3 + (10.0,) * 3, (40.0,) * 3 + (0.2,) * 3


@through_numpy
def impedance(
    robot: Robot,
    frame: str,
    *,
    stiffness: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    target: ArrayLike | None = None,
    velocity: ArrayLike = 0.0,
    joint_damping: ArrayLike = 0.0,
    orientation: bool = True,
) -> Controller:
    """A spring and a damper between a frame and its target.

    Arguments:
        robot: what is controlled.
        frame: the name of the frame.
        stiffness, damping: along x, y, z, then about them: N/m and N m/rad, N s/m and N m s/rad.
            By default 500 N/m and 10 N m/rad, 40 N s/m and 0.2 N m s/rad.
        target: (7,) origin and quaternion (x y z w), a 4x4 matrix, or a position.
        velocity: V_d, (6,): linear, then angular, in the world's axes.
        joint_damping: of each joint in addition, for motions that the task leaves free.
        orientation: whether the orientation is held, too, or the position alone.

    Returns:
        The controller; its inputs are `stiffness`, `damping`, `target`, `velocity` and
        `joint_damping`.
    """
    check_robot(robot)
    rows = POSE if flag("orientation", orientation) else POSITION
    inputs = {
        "stiffness": STIFFNESS[:rows] if stiffness is None else stiffness,
        "damping": DAMPING[:rows] if damping is None else damping,
        "target": seven_numbers(robot, frame, target),
        "velocity": velocity,
        "joint_damping": joint_damping,
    }
    lengths = dict.fromkeys(("stiffness", "damping", "velocity"), rows)
    return Controller(
        robot,
        "impedance",
        partial(_law, frame=frame, rows=rows),
        inputs,
        lengths | {"target": 7, "joint_damping": robot.nv},
    )


def _law(
    model: Model,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    stiffness: Scalars,
    damping: Scalars,
    target: Scalars,
    velocity: Scalars,
    joint_damping: Scalars,
    *,
    frame: str,
    rows: int,
) -> list[Scalar]:
    """J^T (K e + D (V_d - J v)) + bias."""
    e, J = frame_task(model, q, frame, target, rows)
    parts = zip(stiffness, e, damping, velocity, J, strict=True)
    F = [k * x + d * (w - dot(row, v)) for k, x, d, w, row in parts]
    bias = balafoutis_patel(model, q, v, [0] * model.nv)
    columns = zip(*J, strict=True)
    return [
        dot(column, F) + b - d * s
        for column, b, d, s in zip(columns, bias, joint_damping, v, strict=True)
    ]
