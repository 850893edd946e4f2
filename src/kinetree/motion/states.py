"""States of a motion whose coordinates are a spline.

Where velocities are not the rates of coordinates, with q' = E(q) v, they follow from the spline s
of the coordinates:

    v = E^+ s',    a = E^+ (s'' - E' v) - 2 (s . s') / (s . s) v

the last term only for quaternions, whose length a spline does not keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.motion.arrays import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot


class MotionState(NamedTuple):
    """A robot's state and its acceleration.

    Attributes:
        q: configuration, (..., nq).
        v, a: velocity and acceleration, (..., nv).
    """

    q: Array
    v: Array
    a: Array


def turning(robot: Robot, q: Array, v: Array) -> Array:
    """E' v: how the rates of coordinates change while the velocity does not.

    Arguments:
        robot: what moves.
        q, v: states, (..., nq) and (..., nv).

    Returns:
        (..., nq).
    """
    if robot.nq == robot.nv:
        return np.zeros_like(q)
    return robot.kernel("coordinate_rates").jvp()(q, v, v, np.zeros_like(v))[1]


def state_of_spline(robot: Robot, s: Array, ds: Array, dds: Array) -> MotionState:
    """The state, from coordinates that are not normalised, and their rates.

    Arguments:
        robot: what moves.
        s, ds, dds: the spline and its first two derivatives, (..., nq) each.

    Returns:
        q, normalised, v and a.
    """
    if robot.nq == robot.nv:
        return MotionState(s, ds, dds)
    v = robot.kernel("velocity_of_rates")(s, ds)
    a = robot.kernel("velocity_of_rates")(s, dds - turning(robot, s, v))
    for i in robot.model.coordinate_order:
        joint = robot.model.bodies[i].joint
        if joint.nq != joint.nv:
            turn = slice(robot.model.q_slices[i].stop - 4, robot.model.q_slices[i].stop)
            spin = slice(robot.model.v_slices[i].stop - 3, robot.model.v_slices[i].stop)
            x, dx = s[..., turn], ds[..., turn]
            growth = (x * dx).sum(axis=-1) / (x * x).sum(axis=-1)
            a[..., spin] -= 2.0 * growth[..., None] * v[..., spin]
    return MotionState(robot.normalize(s), v, a)
