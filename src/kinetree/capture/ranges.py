"""How far the joints of a recorded human skeleton turn: the ranges of the human figure's joints.

Source: as in `robots.human_ranges`. A segment of the figure is turned against its bone, once and
for all (`fit.orientations`), so the range of each joint follows from that of the figure:

    symbol    code     meaning
    A         A        the orientation of a segment of the figure in the skeleton's rest pose
    C         C        the middle of the range of the figure's joint
    R         -        the rotation of the skeleton's joint; A_parent^T R A that of the figure's

so the middle of the skeleton's range is A_parent C A^T, and its axes are the columns of A.

differs: knees and elbows of skeletons are often ball joints. They bend as the figure's hinges do,
and turn a little otherwise. Joints that a recording turns further keep no range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetree.capture.fit import orientations
from kinetree.capture.segments import SEGMENTS, TRUNK, recognised
from kinetree.model.limits import BallRange
from kinetree.robot import Robot
from kinetree.robot.ball_excess import ball_excess
from kinetree.robots.human_ranges import (
    ANKLE,
    ELBOW,
    HIP,
    KNEE,
    NECK,
    SHOULDER,
    SPINE,
    WRIST,
    Turns,
)
from kinetree.spatial import Rotation, Vector3
from kinetree.spatial.angles import rotation_vector
from kinetree.typing import Array

TURNS = {"middle_trunk": SPINE, "upper_trunk": SPINE, "head": NECK, "upper_arm": SHOULDER}
TURNS |= {"forearm": ELBOW, "hand": WRIST, "thigh": HIP, "shank": KNEE, "foot": ANKLE}
PARENTS = {"middle_trunk": "lower_trunk", "upper_trunk": "middle_trunk", "head": "upper_trunk"}
PARENTS |= {"upper_arm": "upper_trunk", "forearm": "upper_arm", "hand": "forearm"}
PARENTS |= {"thigh": "lower_trunk", "shank": "thigh", "foot": "shank"}


def with_ranges(robot: Robot, recorded: Sequence[Array]) -> tuple[Robot, tuple[str, ...]]:
    """A skeleton whose ball joints turn as far as those of a human.

    Arguments:
        robot: the skeleton. Without the names of a human's joints it stays as it is.
        recorded: configurations that it must reach, (frames, nq) each.

    Returns:
        The robot, and the joints that a recording turns further: they have no range.
    """
    joints = recognised(robot.bodies)
    if len(set(joints.values())) < len(SEGMENTS):
        return robot, ()
    turned = orientations(robot, joints)
    ranges = {joints[segment]: _range(segment, turned) for segment in SEGMENTS[1:]}
    limited = _limited(robot, ranges)
    beyond = {
        name for q in recorded for name, excess in ball_excess(limited, q) if (excess > 0.0).any()
    }
    kept = {name: given for name, given in ranges.items() if name not in beyond}
    return _limited(robot, kept), tuple(sorted(beyond))


def _limited(robot: Robot, ranges: dict[str, BallRange]) -> Robot:
    model = robot.model
    bodies = [
        replace(body, limits=replace(body.limits, ball=ranges[body.name]))
        if body.name in ranges and body.joint.nv == 3
        else body
        for body in model.bodies
    ]
    return Robot(replace(model, bodies=tuple(bodies)))


def _range(segment: str, turned: dict[str, Array]) -> BallRange:
    """The range of the skeleton's joint at which a segment begins."""
    side, _, part = segment.partition("_") if segment not in TRUNK else ("", "", segment)
    above = PARENTS[part]
    A, B = turned[segment], turned[above if above in TRUNK else f"{side}_{above}"]
    turns: Turns = TURNS[part]
    given = turns.right() if side == "right" else turns.left()
    C = np.array([[float(x) for x in row] for row in given.middle.rows])
    middle = B @ C @ A.T
    center = rotation_vector(Rotation(*(Vector3(*row) for row in middle.tolist())))
    return BallRange(
        given.swing,
        given.twist,
        axis=A[:, 2].tolist(),
        across=A[:, 0].tolist(),
        center=tuple(center),
    )
