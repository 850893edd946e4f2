"""Planar linkages: the four-bar, the slider-crank, and a row of four-bars."""

from __future__ import annotations

import math

from kinetree.errors import ModelError
from kinetree.model.constraints import LoopJoint
from kinetree.model.joints import Prismatic, Revolute
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import X, Y, Z, box, place, thin_bar, turned
from kinetree.spatial import Vector3

GROUND, CRANK, COUPLER, ROCKER = 0.4, 0.1, 0.35, 0.3
START = math.radians(60.0)
"""The angle of the crank above the ground at `neutral()`."""
HINGE = Revolute("-y")
"""Angles count from x to z, as they are drawn with x to the right and z up."""


def four_bar(base: str = "fixed") -> Robot:
    """A crank-rocker in the plane of x and z: a crank that turns fully swings a rocker.

    The ground is 0.4 m long, the crank 0.1 m, the coupler 0.35 m and the rocker 0.3 m, so that the
    crank turns fully (F. Grashof's law: 0.1 + 0.4 < 0.35 + 0.3). A metre of bar has a mass of 2 kg.
    At `neutral()` the loop is closed, and the crank stands at 60 degrees.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = 3, with one loop: the hinge between coupler and rocker, five rows of which
        the mechanism's plane leaves two. One degree of freedom remains.
    """
    tip = Vector3(CRANK * math.cos(START), 0.0, CRANK * math.sin(START))
    # the triangle of the crank's tip, the rocker's hinge, and the point where both bars meet
    gap = Vector3(GROUND, 0.0, 0.0) - tip
    reach = math.sqrt(gap.dot(gap))
    at_tip = math.acos((COUPLER**2 + reach**2 - ROCKER**2) / (2.0 * COUPLER * reach))
    coupler = math.atan2(gap.z, gap.x) + at_tip
    meet = tip + Vector3(math.cos(coupler), 0.0, math.sin(coupler)) * COUPLER
    rocker = math.atan2(meet.z, meet.x - GROUND)
    assembly = Assembly("four_bar", "ground", thin_bar(2.0 * GROUND, GROUND))
    for name, parent, at, angle, length in (
        ("crank", "ground", 0.0, START, CRANK),
        ("coupler", "crank", CRANK, coupler - START, COUPLER),
        ("rocker", "ground", GROUND, rocker, ROCKER),
    ):
        pose = turned(-Y, angle, Vector3(at, 0.0, 0.0))
        assembly.add(name, parent, HINGE, pose, thin_bar(2.0 * length, length))
    return assembly.robot(base).constrain(
        LoopJoint(
            "loop",
            "coupler",
            "rocker",
            HINGE,
            at_frame=place(COUPLER),
            at_base=place(ROCKER),
        )
    )


def slider_crank(base: str = "fixed") -> Robot:
    """A crank of 0.1 m, a connecting rod of 0.3 m, and a piston of 0.5 kg that slides along x.

    A metre of bar has a mass of 2 kg; all move in the plane of x and z. At `neutral()` the loop is
    closed, and the crank stands at 60 degrees.

    Arguments:
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = 3, with one loop: the hinge between rod and piston, five rows of which the
        mechanism's plane leaves two. One degree of freedom remains.
    """
    crank, rod = 0.1, 0.3
    lean = math.asin(-crank * math.sin(START) / rod)
    stroke = crank * math.cos(START) + rod * math.cos(lean)
    assembly = Assembly("slider_crank", "frame", box(2.0, 0.5, 0.1, 0.1))
    start = turned(-Y, START, Vector3(0.0, 0.0, 0.0))
    assembly.add("crank", "frame", HINGE, start, thin_bar(2.0 * crank, crank))
    pose = turned(-Y, lean - START, Vector3(crank, 0.0, 0.0))
    assembly.add("rod", "crank", HINGE, pose, thin_bar(2.0 * rod, rod))
    piston = box(0.5, 0.06, 0.05, 0.05)
    assembly.add("piston", "frame", Prismatic("x"), (stroke, 0.0, 0.0), piston)
    loop = LoopJoint("loop", "rod", "piston", HINGE, at_frame=place(rod))
    return assembly.robot(base).constrain(loop)


def four_bars(n: int, base: str = "fixed") -> Robot:
    """A row of n four-bars: n + 1 upright bars on hinges, their tips joined by n level ones.

    Every bar is 1 m long, thin, and has a mass of 1 kg. Where all bars lie in a line, the rank of
    the constraints drops, and other motions than that of n parallelograms could begin. It is
    problem A02 of the Library of Computational Benchmark Problems of IFToMM's technical committee
    for multibody dynamics (M. Gonzalez, F. Gonzalez, A. Luaces & J. Cuadrado, A collaborative
    benchmarking framework for multibody system dynamics, Engineering with Computers 26, 2010).

    With all upright bars at the angle q from the vertical,
    ((n + 1) / 3 + n) q'' = ((n + 1) / 2 + n) g sin(q).

    Arguments:
        n: how many.
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = 2 n + 1: each upright bar, followed by the level one on its tip. At
        `neutral()` the loops are closed. One degree of freedom remains.
    """
    if n < 1:
        raise ModelError(f"four_bars({n}): at least one four-bar is expected")
    assembly = Assembly(f"four_bars{n}", "ground", thin_bar(float(n), float(n)))
    hinge, tip = Revolute("y"), place(0.0, 0.0, 1.0)
    width = len(str(n))
    for i in range(n + 1):
        upright = f"upright{i:0{width}}"
        assembly.add(upright, "ground", hinge, (float(i), 0.0, 0.0), thin_bar(1.0, 1.0, Z))
        if i < n:
            assembly.add(f"level{i:0{width}}", upright, hinge, tip, thin_bar(1.0, 1.0, X))
    loops = [
        LoopJoint(
            f"loop{i:0{width}}",
            f"level{i:0{width}}",
            f"upright{i + 1:0{width}}",
            hinge,
            at_frame=place(1.0),
            at_base=tip,
        )
        for i in range(n)
    ]
    return assembly.robot(base).constrain(*loops)
