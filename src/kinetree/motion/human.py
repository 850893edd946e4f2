"""Example motions of the built-in human figure, made of sines and smooth steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.motion.motion import Motion

if TYPE_CHECKING:
    from kinetree.robot import Robot

THIGH, SHANK = 0.4222, 0.4340
"""Lengths of the figure's legs, m."""


def _pose(robot: Robot, angles: Mapping[str, float], height: float = 0.0) -> Array:
    """The figure with joints turned about their y axes (a final x or z names another), rad.

    Arguments:
        robot: the human figure.
        angles: by the body that turns, such as "left_thigh" or "left_upper_arm.x".
        height: of the root above that of the neutral pose, m.
    """
    way = np.zeros(robot.nv)
    model = robot.model
    places = {body.name: at for body, at in zip(model.bodies, model.v_slices, strict=True)}
    for name, angle in angles.items():
        body, _, axis = name.partition(".")
        if body not in places:
            raise KinetreeError(
                f"robot {robot.name!r} has no body {body!r}: it is not the human figure"
            )
        at = places[body]
        way[at.start + ("xyz".index(axis or "y") if at.stop - at.start > 1 else 0)] = angle
    q = robot.integrate(robot.neutral(), way)
    if robot.nq > robot.nv and model.bodies[0].joint.nv == 6:
        q[2] += height
    return q


def _eased(u: float) -> float:
    """From 0 to 1, at rest at both ends."""
    x = min(max(u, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def walk(robot: Robot, duration: float = 2.0) -> Motion:
    """Legs and arms that swing as in walking, on the spot.

    Arguments:
        robot: the human figure.
        duration: s; a stride takes one.
    """

    def at(t: float) -> Array:
        swing = 0.4 * math.sin(2.0 * math.pi * t)
        lift = [0.25 * (1.0 - math.cos(2.0 * math.pi * t + phase)) for phase in (0.0, math.pi)]
        angles = {"left_thigh": swing, "right_thigh": -swing}
        angles |= {"left_upper_arm": -swing, "right_upper_arm": swing}
        angles |= {"left_shank": lift[0], "right_shank": lift[1]}
        return _pose(robot, angles | {"left_forearm": -0.4, "right_forearm": -0.4})

    return Motion.from_function(robot, at, duration)


def salute(robot: Robot, duration: float = 1.0) -> Motion:
    """The right hand goes up to the head.

    Arguments:
        robot: the human figure.
        duration: s.
    """

    def at(t: float) -> Array:
        u = _eased(t / duration)
        angles = {"right_upper_arm": -1.2 * u, "right_upper_arm.x": -0.6 * u}
        return _pose(robot, angles | {"right_forearm": -2.1 * u})

    return Motion.from_function(robot, at, duration)


def sit_down(robot: Robot, duration: float = 1.2) -> Motion:
    """Knees and hips bend, the feet stay on the ground.

    Arguments:
        robot: the human figure.
        duration: s.
    """

    def at(t: float) -> Array:
        u = 1.3 * _eased(t / duration)
        angles = {f"{side}_{name}": k * u for side in ("left", "right") for name, k in BENT.items()}
        height = (THIGH + SHANK) * (math.cos(u / 2.0) - 1.0)
        return _pose(robot, angles | {"middle_trunk": 0.3 * u}, height)

    return Motion.from_function(robot, at, duration)


BENT = {"thigh": -0.5, "shank": 1.0, "foot": -0.5}
"""How far the joints of a leg turn together."""
