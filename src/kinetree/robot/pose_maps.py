"""The exponential and the logarithm of poses, for arrays: `kinetree.pose_exp` and `pose_log`."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.errors import StateError
from kinetree.robot.checks import finite_array
from kinetree.spatial import Rotation, Vector3
from kinetree.spatial.angles import rotation_vector
from kinetree.spatial.exponential import (
    half_turn_quat,
    translation_of_screw,
    translation_to_screw,
)
from kinetree.typing import Array, ArrayLike

ORTHOGONAL = 1e-6
"""How far R^T R of a pose may be from the identity, and its last row from 0 0 0 1."""


@through_numpy
def pose_exp(xi: ArrayLike) -> Array:
    """The pose to which a constant velocity leads in one unit of time, from the identity.

    Arguments:
        xi: velocities in the moving frame's axes, linear first, (..., 6), m and rad.

    Returns:
        Homogeneous matrices, (..., 4, 4): the matrix exponential of [[w] v; 0 0].
    """
    given = finite_array("xi", xi, 6)
    v, w = (Vector3(*np.moveaxis(given[..., part], -1, 0)) for part in (slice(3), slice(3, 6)))
    poses = np.zeros((*given.shape[:-1], 4, 4))
    _write(poses, Rotation.quat_xyzw(*half_turn_quat(w)).rows, translation_of_screw(v, w))
    return poses


@through_numpy
def pose_log(T: ArrayLike) -> Array:
    """The constant velocity that leads from the identity to a pose in one unit of time.

    Arguments:
        T: homogeneous matrices, (..., 4, 4).

    Returns:
        (..., 6), linear first, m and rad, in the moving frame's axes; no rotation is larger than
        half a turn. pose_exp(pose_log(T)) = T.

    Raises:
        StateError: where a matrix is no pose.
    """
    poses = finite_array("T", T, 4, 4)
    check_poses(poses)
    R = poses[..., :3, :3]
    rows = [Vector3(*(R[..., i, j] for j in range(3))) for i in range(3)]
    w = rotation_vector(Rotation(*rows))
    v = translation_to_screw(Vector3(*np.moveaxis(poses[..., :3, 3], -1, 0)), w)
    return np.stack(np.broadcast_arrays(*v, *w), axis=-1)


def _write(poses: Array, rows: tuple[Any, ...], translation: Vector3) -> None:
    """Write rotations and translations, whose entries are arrays, into homogeneous matrices."""
    for i, (row, x) in enumerate(zip(rows, translation, strict=True)):
        for j, entry in enumerate((*row, x)):
            poses[..., i, j] = entry
    poses[..., 3, 3] = 1.0


def check_poses(poses: Array, name: str = "T") -> None:
    """Refuse matrices that are no poses.

    Arguments:
        poses: (..., 4, 4).
        name: of the argument, for messages.
    """
    R = poses[..., :3, :3]
    off = np.abs(R.swapaxes(-1, -2) @ R - np.eye(3)).max(axis=(-1, -2), initial=0.0)
    bottom = np.abs(poses[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1, initial=0.0)
    with np.errstate(invalid="ignore"):  # the determinant of what is not finite
        proper = (off <= ORTHOGONAL) & (bottom <= ORTHOGONAL) & (np.linalg.det(R) > 0.0)
    wrong = ~(proper & np.isfinite(poses).all(axis=(-1, -2)))
    if wrong.any():
        state = tuple(int(i) for i in np.argwhere(wrong)[0])
        where = f"{name}[{', '.join(map(str, state))}]" if state else name
        raise StateError(
            f"{where} is not a pose: expected a rotation matrix, a translation and the row 0 0 0 "
            f"1, got {poses[state].tolist()}"
        )
