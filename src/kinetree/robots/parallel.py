"""Parallel robots: a Stewart platform, and a leg whose ankle is driven by two rods."""

from __future__ import annotations

import math

from kinetree.model.constraints import LoopJoint, Rod
from kinetree.model.joints import Ball, Floating, Prismatic, Revolute, universal
from kinetree.model.model import Limits
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import Z, box, place, rod
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

HEIGHT = 0.6


def hexapod(base: str = "fixed") -> Robot:
    """A Stewart platform: six legs of variable length carry a plate of 20 kg at a height of 0.6 m.

    Each leg has a universal joint at its foot, a slider that drives it, and a ball at the plate (D.
    Stewart, A platform with six degrees of freedom, Proceedings of the Institution of Mechanical
    Engineers 180, 1965). The feet are on a circle of 0.5 m in three pairs, the balls on one of
    0.3 m in three others. At `neutral()` the loops are closed, and the plate is level.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = 24: three for each leg, then the plate, which moves freely; six loops of
        three rows. Six degrees of freedom remain; the joints "slide1" to "slide6" drive them.
    """
    assembly = Assembly("hexapod", "ground", _disc(50.0, 0.6, 0.05))
    level = (0.0, 0.0, HEIGHT)
    assembly.add("plate", "ground", Floating(), level, _disc(20.0, 0.35, 0.03), name="plate_pose")
    loops = []
    for k in range(6):
        side, pair = (-1 if k % 2 == 0 else 1), 2.0 * math.pi / 3.0 * (k // 2)
        foot = _on_circle(0.5, pair + side * math.radians(15.0))
        ball = _on_circle(0.3, pair + side * math.radians(45.0))
        along = ball + Vector3(*level) - foot
        length = math.sqrt(along.dot(along))
        name = f"cylinder{k + 1}"
        pose = Transform(_upright(along * (1.0 / length)), foot)
        assembly.add(
            name, "ground", universal("x", "y"), pose, rod(2.0, 0.03, 0.4), name=f"foot{k + 1}"
        )
        piston = Vector3(0.0, 0.0, length)
        assembly.add(
            f"piston{k + 1}",
            name,
            Prismatic("z"),
            piston,
            rod(1.0, 0.015, -0.4),
            name=f"slide{k + 1}",
            limits=Limits(-0.15, 0.25, 1.0, 2000.0),
        )
        loops.append(
            LoopJoint(f"ball{k + 1}", f"piston{k + 1}", "plate", Ball(), at_base=place(*ball))
        )
    return assembly.robot(base).constrain(*loops)


def parallel_ankle(base: str = "fixed") -> Robot:
    """A leg with hip and knee whose ankle is moved by two motors on the shank, through two rods.

    Of the order of today's humanoids: a thigh and a shank of 0.4 m, cranks of 0.05 m at the height
    of the calf, rods without mass down to the heel. Both cranks together pitch the foot, one
    against the other roll it. At `neutral()` the leg is stretched and the rods fit.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = 6: "hip", "knee", "ankle" (pitch and roll), "left_motor" and "right_motor";
        two rods of one row each. Four degrees of freedom remain.
    """
    assembly = Assembly("parallel_ankle", "pelvis", box(6.0, 0.15, 0.25, 0.15))
    pitch, heel, calf = Revolute("y"), -0.06, -0.12
    strong, weak = Limits(-1.5, 1.5, 15.0, 200.0), Limits(-0.8, 0.8, 20.0, 60.0)
    bent = Limits(0.0, 2.2, 15.0, 200.0)
    assembly.add("thigh", "pelvis", pitch, inertia=rod(4.0, 0.05, -0.4), name="hip", limits=strong)
    assembly.add(
        "shank", "thigh", pitch, (0.0, 0.0, -0.4), rod(3.0, 0.04, -0.4), name="knee", limits=bent
    )
    foot = box(0.8, 0.22, 0.08, 0.04, Vector3(0.05, 0.0, -0.04))
    assembly.add("foot", "shank", universal("y", "x"), (0.0, 0.0, -0.4), foot, name="ankle")
    rods = []
    for name, side in (("left", 0.04), ("right", -0.04)):
        at = (0.0, side, calf)
        crank = box(0.15, 0.05, 0.01, 0.02, Vector3(-0.025, 0.0, 0.0))
        assembly.add(f"{name}_crank", "shank", pitch, at, crank, name=f"{name}_motor", limits=weak)
        there, here = place(heel, side, -0.02), place(-0.05)
        length = math.hypot(heel + 0.05, -0.4 - 0.02 - calf)
        ends = "foot", f"{name}_crank"
        rods.append(Rod(f"{name}_rod", *ends, at_frame=there, at_base=here, length=length))
    return assembly.robot(base).constrain(*rods)


def _on_circle(radius: float, angle: float) -> Vector3:
    return Vector3(radius * math.cos(angle), radius * math.sin(angle), 0.0)


def _upright(direction: Vector3) -> Rotation:
    """The shortest rotation that takes z to a direction."""
    axis = Z.cross(direction)
    sine = math.sqrt(axis.dot(axis))
    return Rotation.about(axis * (1.0 / sine), math.atan2(sine, direction.z))


def _disc(mass: float, radius: float, height: float) -> Inertia:
    """A solid cylinder about z."""
    across = mass * (3.0 * radius * radius + height * height) / 12.0
    moments = Symmetric3(across, across, mass * radius * radius / 2.0, 0.0, 0.0, 0.0)
    return Inertia.about_center(mass, Vector3(0.0, 0.0, 0.0), moments)
