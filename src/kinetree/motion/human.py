"""Example motions of the built-in human figure, made of sines and smooth steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.control.pose import quaternions
from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.motion.motion import Motion
from kinetree.robot.checks import number

if TYPE_CHECKING:
    from kinetree.robot import Robot

THIGH, SHANK = 0.4222, 0.4340
"""Lengths of the figure's legs, m."""
HIP, ANKLE = 0.085, 0.08
"""The distance of the hips from the middle, and the height of standing ankles, m."""


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
    """A smooth step from 0 to 1, at rest at both ends."""
    x = min(max(u, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def walk(robot: Robot, duration: float = 2.0) -> Motion:
    """Walking on the spot: legs and arms swing.

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


def stroll(
    robot: Robot,
    duration: float = 2.4,
    length: float = 0.4,
    period: float = 0.6,
    rate: float = 60.0,
) -> Motion:
    """Walking ahead without slipping feet, first on the left foot.

    Arguments:
        robot: the human figure.
        duration: s.
        length: of a step, m.
        period: of a step, s. In its first fifth both feet stand.
        rate: samples per second.
    """
    number("period", period, above=0.0)
    reach = 0.97 * (THIGH + SHANK)
    if not abs(0.6 * length) < reach:  # NaN, too
        raise KinetreeError(
            f"length={length}: a step shorter than {reach / 0.6:.2f} m is expected; the legs reach "
            "no further"
        )
    height = ANKLE + math.sqrt(reach**2 - (0.6 * length) ** 2)

    def foot(t: float, side: int) -> tuple[float, float]:
        """The position of a foot ahead, and its height; side 0 is the left one."""
        k, u = divmod(t / period + side, 2.0)  # it stands while u is below one, then swings
        start = (2.0 * k - side) * length
        share = (u - 1.2) / 0.8
        lift = 0.06 * math.sin(math.pi * share) ** 2 if share > 0.0 else 0.0
        return start + 2.0 * length * _eased(share), ANKLE + lift

    def at(t: float) -> Array:
        ahead = (t / period - 0.5) * length
        swing = 0.35 * math.cos(math.pi * t / period)
        angles = {"left_upper_arm": swing, "right_upper_arm": -swing}
        angles |= {"left_forearm": -0.35, "right_forearm": -0.35}
        q = _pose(robot, angles)
        sway = 0.024 * math.sin(math.pi * t / period)
        q[:3] = ahead, sway, height
        for side, (name, y) in enumerate((("left", HIP), ("right", -HIP))):
            x, z = foot(t, side)
            _step(robot, q, name, np.array([x - ahead, y - (y + sway), z - height]))
        return q

    return Motion.from_function(robot, at, duration, rate)


def stand(robot: Robot, duration: float = 1.0) -> Motion:
    """Standing still on the ground, knees a little bent.

    Arguments:
        robot: the human figure.
        duration: s.
    """
    bent = 0.25
    angles = {f"{side}_{name}": k * bent for side in ("left", "right") for name, k in BENT.items()}
    q = _pose(robot, angles)
    q[2] = ANKLE + (THIGH + SHANK) * math.cos(bent / 2.0)
    return Motion.from_function(robot, lambda t: q, duration)


def _step(robot: Robot, q: Array, side: str, way: Array) -> None:
    """Turn a leg so that its foot is flat, at a given vector from the hip.

    Arguments:
        q: changed in place; the pelvis is upright.
        way: from the hip to the ankle, in the axes of the pelvis, m.
    """
    far = float(np.linalg.norm(way))
    cosine = (far**2 - THIGH**2 - SHANK**2) / (2.0 * THIGH * SHANK)
    knee = math.acos(min(max(cosine, -1.0), 1.0))
    # the vector from hip to ankle in the thigh's axes, and the rotation that takes it to the way
    own = np.array([-SHANK * math.sin(knee), 0.0, -THIGH - SHANK * math.cos(knee)]) / far
    across = np.cross(way / far, [1.0, 0.0, 0.0])
    across /= -np.linalg.norm(across)
    there = np.stack([np.cross(across, way / far), across, way / far], axis=1)
    here = np.stack([np.cross([0.0, 1.0, 0.0], own), [0.0, 1.0, 0.0], own], axis=1)
    thigh = there @ here.T
    turn = np.array(
        [
            [math.cos(knee), 0.0, math.sin(knee)],
            [0.0, 1.0, 0.0],
            [-math.sin(knee), 0.0, math.cos(knee)],
        ]
    )
    model = robot.model
    places = {body.name: x for body, x in zip(model.bodies, model.q_slices, strict=True)}
    q[places[f"{side}_thigh"]] = quaternions(thigh)
    q[places[f"{side}_shank"]] = knee
    q[places[f"{side}_foot"]] = quaternions((thigh @ turn).T)


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
"""The angles by which the joints of a leg turn together."""
