"""Detects supports in recorded motions: the intervals in which feet stand.

A frame stands while it is near its lowest height and hardly moves; short interruptions are closed,
short contacts left out. Sources of the rule and its thresholds: G. Liu & L. McMillan, Estimation of
missing markers in human motion capture (2006); L. Kovar, J. Schreiner & M. Gleicher, Footskate
cleanup for motion capture editing (2002).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.errors import unknown
from kinetree.kinds import instance, texts
from kinetree.motion.arrays import Array
from kinetree.motion.motion import Motion
from kinetree.motion.supports import Support
from kinetree.robot.checks import number


def find_supports(
    motion: Motion,
    frames: Sequence[str],
    height: float = 0.05,
    speed: float = 0.3,
    shortest: float = 0.08,
    friction: float = 0.8,
) -> list[Support]:
    """The intervals in which frames of a recorded motion stand on the ground.

    Arguments:
        motion: the recorded motion.
        frames: the names of frames that may stand, such as the feet.
        height: the greatest height of a standing frame above its lowest one in the motion, m.
        speed: the greatest speed of a standing frame's origin, m/s.
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
    """The intervals in which samples are true, without short ones."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], stands, [False]]).astype(int)))
    spans = [(float(times[i]), float(times[j - 1])) for i, j in edges.reshape(-1, 2)]
    joined: list[tuple[float, float]] = []
    for first, last in spans:
        if joined and first - joined[-1][1] < shortest:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return [(first, last) for first, last in joined if last - first >= shortest]
