"""A seven-joint arm."""

from __future__ import annotations

import math

from kinetree.model.joints import Revolute
from kinetree.model.model import Limits
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import DARK, LIGHT, X, rod, turned
from kinetree.spatial import Vector3

# length along z to the next joint, mass, radius; velocity and effort of the joint
SEGMENTS = (
    (0.34, 4.0, 0.06, 1.7, 180.0),
    (0.0, 3.6, 0.06, 1.7, 180.0),
    (0.40, 3.2, 0.055, 1.7, 110.0),
    (0.0, 2.8, 0.055, 2.2, 110.0),
    (0.39, 2.0, 0.05, 2.4, 110.0),
    (0.0, 1.6, 0.045, 3.1, 40.0),
    (0.10, 0.8, 0.04, 3.1, 40.0),
)


def arm(base: str = "fixed") -> Robot:
    """A seven-joint arm of human reach: shoulder, elbow and wrist, roll and pitch in turn.

    Lengths, masses and limits are of the order of today's light-weight arms: 0.8 m of reach,
    18 kg on a base of 4 kg. Each link is a solid cylinder along its length.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = 7.
    """
    assembly = Assembly("arm", "base", rod(4.0, 0.09, 0.1))
    assembly.add_shape("base", "cylinder", (0.09, 0.1), (0.0, 0.0, 0.05), color=DARK)
    parent, offset = "base", 0.0
    for i, (length, mass, radius, velocity, effort) in enumerate(SEGMENTS):
        roll = i % 2 == 0
        reach = 2.9 if roll else 2.0
        assembly.add(
            f"link{i + 1}",
            parent,
            Revolute("z" if roll else "y"),
            (0.0, 0.0, offset),
            rod(mass, radius, length or 2 * radius),
            name=f"joint{i + 1}",
            limits=Limits(-reach, reach, velocity, effort),
        )
        _draw(assembly, f"link{i + 1}", radius, length)
        parent, offset = f"link{i + 1}", length
    assembly.add("tool", parent, None, (0.0, 0.0, offset), name="tool_mount")
    return assembly.robot(base)


def _draw(assembly: Assembly, link: str, radius: float, length: float) -> None:
    """A rounded bar to the next joint; of a link without length, the motor across it."""
    if length:
        at = (0.0, 0.0, length / 2)
        assembly.add_shape(link, "capsule", (radius, length - 1.5 * radius), at, color=LIGHT)
    else:
        across = turned(X, math.pi / 2, Vector3(0.0, 0.0, 0.0))
        size = (1.05 * radius, 2.6 * radius)
        assembly.add_shape(link, "cylinder", size, across, color=DARK)
