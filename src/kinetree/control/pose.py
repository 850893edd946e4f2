"""The shared functions of frame controllers: a frame's pose, its error, its Jacobian.

A target is seven numbers: the frame's origin, then its quaternion (x y z w), in the world.

    symbol    code     meaning
    e         error    (p_d - p, rotation vector from R to R_d), in the world's axes
    J         J        six rows, linear first, at the frame's origin in the world's axes
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.algorithms import frame_pose, jacobian
from kinetree.model import Model
from kinetree.robot.checks import real_array
from kinetree.robot.pose_maps import check_poses
from kinetree.scalar import Scalar, less, select
from kinetree.spatial import Rotation, Transform, Vector3
from kinetree.spatial.exponential import half_turn_quat, quat_log
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

POSITION, POSE = 3, 6


def pose_error(X: Transform, target: Sequence[Scalar]) -> list[Scalar]:
    """The error from a pose to a target of seven numbers: six numbers in the world's axes."""
    wanted = Rotation.quat_xyzw(*target[3:])
    shift = Vector3(*target[:3]) - X.translation
    turn = rotation_vector(X.rotation.T @ wanted)
    return [*shift, *(X.rotation @ turn)]


def rotation_vector(R: Rotation) -> Vector3:
    """The rotation vector of a matrix: by the largest of the four quaternion entries (Shepperd)."""
    a, b, c = R.rows
    xx, yy, zz = a.x, b.y, c.z
    four = [
        [1 + xx - yy - zz, a.y + b.x, a.z + c.x, c.y - b.z],
        [a.y + b.x, 1 - xx + yy - zz, b.z + c.y, a.z - c.x],
        [a.z + c.x, b.z + c.y, 1 - xx - yy + zz, b.x - a.y],
        [c.y - b.z, a.z - c.x, b.x - a.y, 1 + xx + yy + zz],
    ]
    best, largest = four[3], four[3][3]
    for k in range(3):
        better = less(largest, four[k][k])
        best = [select(better, x, y) for x, y in zip(four[k], best, strict=True)]
        largest = select(better, four[k][k], largest)
    return quat_log(best)


def seven_scalars(X: Transform) -> list[Scalar]:
    """A pose as seven numbers: its origin, then its quaternion (x y z w)."""
    return [*X.translation, *half_turn_quat(rotation_vector(X.rotation))]


def frame_task(
    model: Model, q: Sequence[Scalar], frame: str, target: Sequence[Scalar], rows: int
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """The error of a frame and its Jacobian, the first `rows` of both."""
    error = pose_error(frame_pose(model, q, frame), target)
    return error[:rows], jacobian(model, q, frame, "origin")[:rows]


def seven_numbers(robot: Robot, frame: str, target: ArrayLike | None) -> Array:
    """A target as seven numbers (..., 7), from a 4x4 matrix, a position, or seven numbers.

    None stands for the frame's pose in the neutral configuration. A position gets the orientation
    of the world's axes.
    """
    given = robot.pose(robot.neutral(), frame) if target is None else real_array("target", target)
    if given.shape[-2:] == (4, 4):
        check_poses(given, "target")
        return np.concatenate([given[..., :3, 3], quaternions(given[..., :3, :3])], axis=-1)
    if given.shape[-1:] == (3,):
        upright = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*given.shape[:-1], 4))
        return np.concatenate([given, upright], axis=-1)
    return given


def quaternions(R: Array) -> Array:
    """The quaternions (x y z w) of rotation matrices, (..., 4)."""
    rows = [Vector3(*(R[..., i, j] for j in range(3))) for i in range(3)]
    w = rotation_vector(Rotation(*rows))
    angle = np.sqrt(w.x * w.x + w.y * w.y + w.z * w.z)
    share = 0.5 * np.sinc(angle / (2.0 * np.pi))
    parts = [w.x * share, w.y * share, w.z * share, np.cos(0.5 * angle)]
    return np.stack(np.broadcast_arrays(*parts), axis=-1)
