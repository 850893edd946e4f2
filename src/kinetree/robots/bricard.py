"""Bricard's mechanism: a loop of six hinges that moves, though a count of its freedoms says no."""

from __future__ import annotations

from kinetree.model.constraints import LoopJoint
from kinetree.model.joints import Revolute
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import box, place
from kinetree.spatial import Inertia, Vector3

POINTS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
AXES = ("y", "z", "x", "y", "z", "x")
THICKNESS = 0.1
GRAVITY = (0.0, -9.81, 0.0)


def bricard(base: str = "fixed") -> Robot:
    """Five bars of 1 m and 1 kg along the edges of a cube, with six hinges between them.

    Six hinges in a loop leave 6 x 1 - 6 = 0 degrees of freedom by count. Here the axes lie so that
    the loop moves with one: of the five rows of the hinge that closes it, one is redundant (R.
    Bricard, Mémoire sur la théorie de l'octaèdre articulé, Journal de mathématiques pures et
    appliquées, 1897). It is problem A04 of the Library of Computational Benchmark Problems, as in
    `four_bars`: gravity along -y, started at rest at `neutral()`, where the loop is closed.

    Arguments:
        base: "fixed" puts the root link, the sixth bar, on the world, "floating" lets it move
            freely.

    Returns:
        The robot, nv = 5, with one loop of five rows.
    """
    corners = [Vector3(*map(float, p)) for p in POINTS]
    ends = [*corners[1:], corners[0]]
    bars = [_bar(start, end) for start, end in zip(corners, ends, strict=True)]
    # the sixth bar runs from the last corner to the first, where the root link's frame is
    root = box(1.0, THICKNESS, THICKNESS, 1.0, Vector3(0.0, 0.0, 0.5))
    assembly = Assembly("bricard", "bar0", root, gravity=GRAVITY)
    parent, before = "bar0", corners[0]
    for k, corner in enumerate(corners[:-1], 1):
        at = corner - before
        assembly.add(f"bar{k}", parent, Revolute(AXES[k - 1]), at, bars[k - 1])
        parent, before = f"bar{k}", corner
    loop = LoopJoint(
        "loop",
        parent,
        "bar0",
        Revolute(AXES[-1]),
        at_frame=place(*(corners[-1] - before)),
        at_base=place(*corners[-1]),
    )
    return assembly.robot(base).constrain(loop)


def _bar(start: Vector3, end: Vector3) -> Inertia:
    """A box along the line between two corners, seen from the first."""
    along = end - start
    x, y, z = (max(abs(u), THICKNESS) for u in along)
    return box(1.0, x, y, z, along * 0.5)
