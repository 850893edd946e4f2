"""The feet of a figure: which links they are, and the soles that they stand on."""

from __future__ import annotations

import numpy as np

from kinetree.capture.segments import NAMES, SIDES, plain
from kinetree.robot import Robot
from kinetree.typing import Array

WIDTH = 0.09
"""Of a sole, m."""
HEEL = 0.3
"""How far it reaches behind the ankle, over how far the toes are ahead of it."""
TOES = 0.15
"""How far the toes are ahead of the ankle where a skeleton does not say, m."""
BELOW = 0.08
"""How far the sole is below the ankle where a skeleton does not say, m."""

NO_WAY = 0.01
"""Ends of skeletons that are nearer to the ankle say nothing about the foot, m."""


def feet(robot: Robot) -> list[str]:
    """The links that are feet by their names, such as "LeftFoot" or "right_ankle".

    Arguments:
        robot: any robot.

    Returns:
        Their names, none if no name says so.
    """
    by_name = {plain(name): name for name in reversed(robot.bodies)}
    found = []
    for side in SIDES:
        names = [f"{s}{part}" for part in NAMES["foot"] for s in (side, side[:1])]
        found += [by_name[name] for name in names if name in by_name][:1]
    return found


def sole(robot: Robot, foot: str) -> Array | None:
    """The corners of the sole of a skeleton's foot in its own axes, m, (4, 3).

    Arguments:
        robot: the skeleton; its neutral configuration is a rest pose, upright.
        foot: the name of the foot.

    Returns:
        The corners, from where the skeleton has toes; None if shapes of the foot say it better.
    """
    if any(collider.frame == foot for collider in robot.model.colliders):
        return None
    q, model = robot.neutral(), robot.model
    pose = robot.pose(q, foot)
    body = model.frame(foot).body
    inside = {body} | {k for k, x in enumerate(model.bodies) if x.parent == body}
    ends = [frame.name for frame in model.frames if frame.body in inside and frame.name != foot]
    ways = np.array([robot.pose(q, name)[:3, 3] - pose[:3, 3] for name in ends]).reshape(-1, 3)
    ways = ways[np.linalg.norm(ways, axis=1) > NO_WAY]
    flat = np.linalg.norm(ways[:, :2], axis=1)
    low = min([-BELOW] if not len(ways) else [*ways[:, 2], -0.02])
    ahead = np.array([TOES, 0.0])
    if len(ways) and flat.max() > 0.3 * TOES:
        ahead = ways[flat.argmax(), :2]
    across = 0.5 * WIDTH * np.array([-ahead[1], ahead[0]]) / np.linalg.norm(ahead)
    corners = [x * ahead + y * across for x, y in ((-HEEL, -1), (-HEEL, 1), (1, 1), (1, -1))]
    world = np.array([[*corner, low] for corner in corners])
    return world @ pose[:3, :3]
