"""Robots with constraints of every kind, for tests."""

import kinetree as kt
from kinetree import constraints as c
from kinetree import joints as j

BOX = (0.02, 0.03, 0.025)


def two_arms(base: str = "floating") -> kt.Robot:
    """Two chains of joints of many kinds on one body; nothing is constrained yet."""
    a = kt.Assembly("two_arms", mass=2.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.2, 0.25))
    left = [
        j.Revolute("z"),
        j.Ball(),
        j.universal("x", "y"),
        j.Prismatic("x"),
        j.Revolute((1.0, 1.0, 0.3)),
        j.Revolute("y"),
    ]
    right = [j.Revolute("x"), j.Screw("z", 0.1), j.Revolute("y"), j.cylindrical("z")]
    for side, chain in (("left", left), ("right", right)):
        parent = "base"
        for k, joint in enumerate(chain):
            at = (0.3, 0.1 * k, -0.05) if side == "left" else (-0.2, 0.1, 0.15)
            mass = 1.0 + 0.1 * k
            a.add(f"{side}{k}", parent, joint, at, BOX, mass=mass, com=(0.1, 0.02, 0.03))
            parent = f"{side}{k}"
    return a.robot(base)


HINGE = j.Revolute((1.0, 2.0, 3.0))
SERIES = j.Composite((j.Revolute("z"), j.Prismatic("x"), j.Revolute("y")))
SHIFT = (0.1, 0.2, 0.3)
HOLONOMIC = {
    "weld": (c.LoopJoint("weld", "left5", "right3", at_frame=SHIFT), 6),
    "weld_to_world": (c.LoopJoint("weld_to_world", "left5"), 6),
    "hinge": (c.LoopJoint("hinge", "left5", "right3", HINGE), 5),
    "ball": (c.LoopJoint("ball", "left5", "right3", j.Ball(), at_frame=SHIFT), 3),
    "slider": (c.LoopJoint("slider", "left5", "right3", j.Prismatic("y")), 5),
    "screw": (c.LoopJoint("screw", "left5", "right3", j.Screw("y", 0.3)), 5),
    "universal": (c.LoopJoint("universal", "left5", "right3", j.universal("x", "y")), 4),
    "cylindrical": (c.LoopJoint("cylindrical", "left5", "right3", j.cylindrical("x")), 4),
    "planar": (c.LoopJoint("planar", "left5", "right3", j.planar("z")), 3),
    "euler": (c.LoopJoint("euler", "left5", "right3", j.euler("zyx")), 3),
    "series": (c.LoopJoint("series", "left5", "right3", SERIES), 3),
    "rod": (c.Rod("rod", "left5", "right3", length=0.7), 1),
    "foot": (c.HeldFrame("foot", "left3", rows=("x", "z", "rx")), 3),
    "sole": (c.HeldFrame("sole", "left3", rows=("z", "rx", "ry"), at_base=(0, 0, -0.4)), 3),
    "grip": (c.HeldFrame("grip", "left3", "right2"), 6),
    "cam": (c.Coupling("cam", {"left0_joint": [0.1, 1.0, 0.5], "left5_joint": [0, -2.0]}), 1),
}
"""Name to a constraint of `two_arms` and how many rows it has."""
NONHOLONOMIC = {
    "blade": (c.KnifeEdge("blade", "right2"), 1),
    "wheel": (c.RollingWheel("wheel", "left4", radius=0.2), 3),
    "stance": (c.HeldFrame("stance", "left3", rows=("x", "y", "z", "rz"), anywhere=True), 4),
}
EVERY = HOLONOMIC | NONHOLONOMIC


def four_bar(lengths: tuple[float, ...] = (1.0, 0.5, 1.1, 0.8)) -> kt.Robot:
    """A planar four-bar linkage; the hinge that closes it has five rows, three of them redundant.

    Arguments:
        lengths: of the ground, the crank, the coupler and the rocker, m.
    """
    ground, crank, coupler, rocker = lengths
    a = kt.Assembly("four_bar")
    for name, parent, at, length in (
        ("crank", "base", (0.0, 0.0, 0.0), crank),
        ("coupler", "crank", (crank, 0.0, 0.0), coupler),
        ("rocker", "base", (ground, 0.0, 0.0), rocker),
    ):
        bar = (1e-4, length**2 / 12, length**2 / 12)
        a.add(name, parent, j.Revolute("y"), at, bar, mass=1.0, com=(length / 2, 0.0, 0.0))
    loop = c.LoopJoint(
        "loop",
        "coupler",
        "rocker",
        j.Revolute("y"),
        at_frame=(coupler, 0, 0),
        at_base=(rocker, 0, 0),
    )
    return a.robot().constrain(loop)
