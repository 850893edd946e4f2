"""Supports of recorded motions: when feet stand, and how two motions are put one after the other.

A frame stands where it is near its lowest height and hardly moves; short interruptions are closed,
short contacts left out. Sources of the rule and its thresholds: G. Liu & L. McMillan, Estimation of
missing markers in human motion capture (2006); L. Kovar, J. Schreiner & M. Gleicher, Footskate
cleanup for motion capture editing (2002).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import KinetreeError, unknown
from kinetree.kinds import instance, texts
from kinetree.motion.arrays import Array
from kinetree.motion.motion import Motion
from kinetree.motion.supports import Support
from kinetree.robot.checks import number

if TYPE_CHECKING:
    from kinetree.robot import Robot

SHARE = 0.6
"""The fraction of a transition during which a foot stands that stands at only one end."""
APART, TURNED = 0.02, 0.1
"""m and rad: a foot has stepped if it stands farther than this from where it stood."""


def find_supports(
    motion: Motion,
    frames: Sequence[str],
    height: float = 0.05,
    speed: float = 0.3,
    shortest: float = 0.08,
    friction: float = 0.8,
) -> list[Support]:
    """When frames of a recorded motion stand on the ground.

    Arguments:
        motion: the recorded motion.
        frames: the names of frames that may stand, such as the feet.
        height: how far above its lowest place in the motion a frame may be, m.
        speed: how fast its origin may move while it stands, m/s.
        shortest: contacts and interruptions that are shorter are left out, s.
        friction: of the supports.

    Returns:
        The supports in the order of time, each with the middle of its recorded poses as target.
    """
    motion = instance("motion", motion, Motion, "a kinetree.Motion")
    height, speed = number("height", height, above=0.0), number("speed", speed, above=0.0)
    shortest = number("shortest", shortest, 0.0)
    found = []
    for frame in texts("frames", frames):
        if frame not in motion.robot.frames:
            raise unknown("frame", frame, motion.robot.frames, f"robot {motion.robot.name!r}")
        poses = motion.robot.pose(motion.q, frame)
        rates = motion.robot.velocity(motion.q, motion.v, frame)[..., :3]
        z = poses[:, 2, 3]
        stands = (z <= z.min() + height) & (np.linalg.norm(rates, axis=-1) <= speed)
        for first, last in _spans(motion.times, stands, shortest):
            inside = (motion.times >= first) & (motion.times <= last)
            middle = poses[np.flatnonzero(inside)[int(inside.sum()) // 2]]
            found.append(Support(frame, first, last, friction, target=middle))
    return sorted(found, key=lambda support: (support.first, support.frame))


def _spans(times: Array, stands: Array, shortest: float) -> list[tuple[float, float]]:
    """The intervals in which something holds, without short ones."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], stands, [False]]).astype(int)))
    spans = [(float(times[i]), float(times[j - 1])) for i, j in edges.reshape(-1, 2)]
    joined: list[tuple[float, float]] = []
    for first, last in spans:
        if joined and first - joined[-1][1] < shortest:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return [(first, last) for first, last in joined if last - first >= shortest]


def aligned(second: Motion, pose: Array, wanted: Array) -> Motion:
    """A motion moved along the ground and turned about the vertical.

    Arguments:
        second: of a robot with a floating base.
        pose: of some frame in it, (4, 4).
        wanted: where this frame shall be, (4, 4): its position, and its heading.

    Returns:
        The moved motion.
    """
    robot = second.robot
    if not robot.model.bodies or robot.model.bodies[0].joint.nv != 6:
        raise KinetreeError(f"robot {robot.name!r} has no floating base: it cannot be moved")
    turn = wanted[:3, :3] @ pose[:3, :3].T
    yaw = float(np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]))
    c, s = np.cos(yaw), np.sin(yaw)
    X = np.eye(4)
    X[:2, :2] = [[c, -s], [s, c]]
    X[:3, 3] = wanted[:3, 3] - X[:3, :3] @ pose[:3, 3]
    return _moved(robot, second, X)


def _moved(robot: Robot, motion: Motion, X: Array) -> Motion:
    """A motion whose base is moved by a transform; velocities are in the base's axes and stay."""
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


def _standing(supports: Sequence[Support], t: float) -> dict[str, Support]:
    return {x.frame: x for x in supports if x.first - 1e-9 <= t <= x.last + 1e-9}


def planned(
    first: Motion,
    leave: float,
    second: Motion,
    enter: float,
    duration: float,
    frames: Mapping[str, Array | None],
    align: bool = True,
) -> tuple[Motion, list[Support]]:
    """The supports of a transition between two recorded motions, and the second, moved to fit.

    A foot that stands where the first is left and where the second is entered stays where it is:
    the second motion is moved so that it does. A foot that stands only before, or only after,
    stands for most of the transition; one that stands in both, but elsewhere, steps in between.

    Arguments:
        first, leave: the motion that is left, and when, s.
        second, enter: the motion that is entered, and when, s.
        duration: of the transition, s.
        frames: those that may stand, each with the area of its sole, or None; see `Support`.
        align: whether the second motion is moved along the ground; else it stays.

    Returns:
        The second motion, and the supports.
    """
    robot = first.robot
    before = _standing(find_supports(first, tuple(frames)), leave)
    after = _standing(find_supports(second, tuple(frames)), enter)
    q0, q1 = first.at(leave).q, second.at(enter).q
    both = [frame for frame in frames if frame in before and frame in after]
    if align:
        if both:
            anchor = both[0]
            pose, wanted = robot.pose(q1, anchor), robot.pose(q0, anchor)
        else:
            pose, wanted = _continued(first, leave, second, enter, duration)
        second = aligned(second, pose, wanted)
        q1 = second.at(enter).q
    supports = []
    for frame, area in frames.items():
        here, there = robot.pose(q0, frame), robot.pose(q1, frame)
        plain = Support(frame, area=area)
        if frame in both and _same_place(here, there):
            supports.append(plain)
        else:
            share = 0.3 if frame in both else SHARE
            if frame in before:
                supports.append(replace(plain, last=share * duration))
            if frame in after:
                supports.append(replace(plain, first=(1.0 - share) * duration))
    return second, supports


def _same_place(here: Array, there: Array) -> bool:
    turn = here[:3, :3].T @ there[:3, :3]
    angle = np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0))
    return bool(np.abs(here[:3, 3] - there[:3, 3]).max() < APART and angle < TURNED)


def _continued(
    first: Motion, leave: float, second: Motion, enter: float, duration: float
) -> tuple[Array, Array]:
    """The pose of the base where the second motion is entered, and where it would have come."""
    robot, root = first.robot, first.robot.bodies[0]
    one, two = first.at(leave), second.at(enter)
    pose, start = robot.pose(two.q, root), robot.pose(one.q, root)
    speeds = [robot.velocity(x.q, x.v, root)[:3] for x in (one, two)]
    turn = start[:3, :3] @ pose[:3, :3].T
    yaw = np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])
    c, s = np.cos(yaw), np.sin(yaw)
    speeds[1] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ speeds[1]
    wanted = start.copy()
    wanted[:2, 3] += 0.5 * duration * (speeds[0] + speeds[1])[:2]
    wanted[2, 3] = pose[2, 3]
    return pose, wanted
