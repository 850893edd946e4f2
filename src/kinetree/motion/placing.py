"""Recorded motions moved along the ground and turned about the vertical."""

from __future__ import annotations

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.motion.motion import Motion


def along_ground(pose: Array, wanted: Array) -> Array:
    """The transform along the ground that takes a pose nearest to a wanted one, (4, 4).

    Arguments:
        pose: of some frame, (4, 4).
        wanted: the target of this frame, (4, 4): its position, and its heading.
    """
    turn = wanted[:3, :3] @ pose[:3, :3].T
    yaw = float(np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]))
    c, s = np.cos(yaw), np.sin(yaw)
    X = np.eye(4)
    X[:2, :2] = [[c, -s], [s, c]]
    X[:3, 3] = wanted[:3, 3] - X[:3, :3] @ pose[:3, 3]
    return X


def moved(motion: Motion, X: Array) -> Motion:
    """A motion whose base is moved by a transform; velocities are in the base's axes and stay.

    Arguments:
        motion: of a robot with a floating base.
        X: a transform along the ground, (4, 4).
    """
    robot = motion.robot
    if not robot.model.bodies or robot.model.bodies[0].joint.nv != 6:
        raise KinetreeError(f"robot {robot.name!r} has no floating base: it cannot be moved")
    at = robot.model.q_slices[0]
    if at.stop - at.start != 7:
        raise KinetreeError(f"robot {robot.name!r}: its base must have a quaternion to be moved")
    q = motion.q.copy()
    q[:, at.start : at.start + 3] = q[:, at.start : at.start + 3] @ X[:3, :3].T + X[:3, 3]
    half = 0.5 * np.arctan2(X[1, 0], X[0, 0])
    x, y, z, w = (q[:, at.start + 3 + k].copy() for k in range(4))
    sz, cz = np.sin(half), np.cos(half)
    turned = (cz * x - sz * y, cz * y + sz * x, cz * z + sz * w, cz * w - sz * z)
    q[:, at.start + 3 : at.stop] = np.stack(turned, axis=1)
    return Motion(robot, motion.times, q, motion.v, motion.a)
