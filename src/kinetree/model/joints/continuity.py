"""Coordinates along time without jumps: of the coordinates of one transform, those near the last.

An angle may be any number of turns away, a quaternion has a negative, a rotation vector a longer
one the other way round, and three Euler angles a second solution.
"""

from __future__ import annotations

import math
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np

from kinetree.model.joints.ball import Ball, ExponentialBall
from kinetree.model.joints.base import Joint
from kinetree.model.joints.composite import Composite
from kinetree.model.joints.floating import Floating
from kinetree.model.joints.moved import Wrapped
from kinetree.model.joints.revolute import Revolute
from kinetree.model.joints.series import second_solution

Path = Any
"""Coordinates at successive times, (times, nq)."""
FARTHEST = 1.5 * math.pi
"""The length at which a rotation vector is exchanged for a shorter one: it is singular at 2 pi."""


@singledispatch
def continued(joint: Joint, path: Path) -> Path:
    """The same transforms at the same times, their coordinates without jumps.

    A rotation vector may jump once it is so long that its singularity is near.
    """
    return path


@continued.register
def _(joint: Revolute, path: Path) -> Path:
    return np.unwrap(path, axis=0)


@continued.register
def _(joint: Ball, path: Path) -> Path:
    return _one_sign(path)


@continued.register
def _(joint: Floating, path: Path) -> Path:
    return np.concatenate([path[:, :3], _one_sign(path[:, 3:])], axis=1)


@continued.register
def _(joint: ExponentialBall, path: Path) -> Path:
    angle = np.linalg.norm(path, axis=1, keepdims=True)
    axis = path / np.where(angle == 0.0, 1.0, angle)
    quat = _one_sign(np.concatenate([axis * np.sin(angle / 2), np.cos(angle / 2)], axis=1))
    while True:
        vector = _rotation_vectors(quat)
        far = np.flatnonzero(np.linalg.norm(vector, axis=1) > FARTHEST)
        if not len(far):
            return vector
        quat[far[0] :] *= -1.0


@continued.register
def _(joint: Wrapped, path: Path) -> Path:
    return continued(joint.joint, path)


@continued.register
def _(joint: Composite, path: Path) -> Path:
    turning = [k for k, part in enumerate(joint.parts) if isinstance(part, Revolute)]
    ends = np.cumsum([0, *(part.nq for part in joint.parts)])
    pieces = [path[:, a:b] for a, b in pairwise(ends)]
    other = second_solution([joint.parts[k] for k in turning])
    if other is not None:
        angles = _nearest_of_two(np.concatenate([pieces[k] for k in turning], axis=1), other)
        for column, k in enumerate(turning):
            pieces[k] = angles[:, column : column + 1]
    return np.concatenate(
        [continued(part, piece) for part, piece in zip(joint.parts, pieces, strict=True)], axis=1
    )


def _one_sign(quat: Path) -> Path:
    """Quaternions, each with the sign that is nearer to the one before."""
    signs = np.where((quat[1:] * quat[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return quat * np.concatenate([[1.0], np.cumprod(signs)])[:, None]


def _rotation_vectors(quat: Path) -> Path:
    """Rotation vectors of up to a full turn: continuous where quaternions are."""
    length = np.linalg.norm(quat[:, :3], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(length, quat[:, 3:])
    return angle * quat[:, :3] / np.where(length == 0.0, 1.0, length)


def _nearest_of_two(path: Path, other: Any) -> Path:
    """Three angles at each time, from two solutions, each up to whole turns."""
    chosen = path.copy()
    for k in range(1, len(path)):
        last, two = chosen[k - 1], np.array([path[k], other(path[k])])
        two = two - 2.0 * math.pi * np.round((two - last) / (2.0 * math.pi))
        chosen[k] = two[np.square(two - last).sum(axis=1).argmin()]
    return chosen
