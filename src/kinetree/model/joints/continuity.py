"""Coordinates along time without jumps: of the coordinates of one transform, those near the last.

An angle may be any number of turns away, a quaternion has a negative, a rotation vector a longer
one the other way round, and three Euler angles a second solution. Paths are arrays (times, nq).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Path = Any
FARTHEST = 1.5 * math.pi
"""The length at which a rotation vector is exchanged for a shorter one: it is singular at 2 pi."""


def continued_rotation_vectors(path: Path) -> Path:
    """Rotation vectors without jumps, but for those so long that the singularity is near."""
    angle = np.linalg.norm(path, axis=1, keepdims=True)
    axis = path / np.where(angle == 0.0, 1.0, angle)
    quat = one_sign(np.concatenate([axis * np.sin(angle / 2), np.cos(angle / 2)], axis=1))
    while True:
        vector = _rotation_vectors(quat)
        far = np.flatnonzero(np.linalg.norm(vector, axis=1) > FARTHEST)
        if not len(far):
            return vector
        quat[far[0] :] *= -1.0


def one_sign(quat: Path) -> Path:
    """Quaternions, each with the sign that is nearer to the one before."""
    signs = np.where((quat[1:] * quat[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return quat * np.concatenate([[1.0], np.cumprod(signs)])[:, None]


def _rotation_vectors(quat: Path) -> Path:
    """Rotation vectors of up to a full turn: continuous where quaternions are."""
    length = np.linalg.norm(quat[:, :3], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(length, quat[:, 3:])
    return angle * quat[:, :3] / np.where(length == 0.0, 1.0, length)


def nearest_of_two(path: Path, other: Any) -> Path:
    """Three angles at each time, from two solutions, each up to whole turns."""
    chosen = path.copy()
    for k in range(1, len(path)):
        last, two = chosen[k - 1], np.array([path[k], other(path[k])])
        two = two - 2.0 * math.pi * np.round((two - last) / (2.0 * math.pi))
        chosen[k] = two[np.square(two - last).sum(axis=1).argmin()]
    return chosen
