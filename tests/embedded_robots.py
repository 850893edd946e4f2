"""Mechanisms whose loops can be embedded, each with drives on dependent joints, for tests."""

import kinetree as kt
from kinetree import constraints as c
from kinetree import joints as j

PASSIVE = {"armature": 0.05, "damping": 0.3, "friction": 0.1, "stiffness": 0.7, "rest": (0.4,)}


def _bar(a, name, parent, at, length, joint=None, **more):
    inertia = (1e-4, length**2 / 12, length**2 / 12)
    joint = joint or j.Revolute("y")
    a.add(name, parent, joint, at, inertia, mass=1.0, com=(length / 2, 0, 0.01), **more)


def driven_four_bar(drive=PASSIVE) -> tuple[kt.Robot, list[float]]:
    """A crank that turns all the way round, and a configuration to start from."""
    a = kt.Assembly("four_bar")
    _bar(a, "crank", "base", (0, 0, 0), 0.5)
    _bar(a, "coupler", "crank", (0.5, 0, 0), 1.1, drive={"damping": 0.2})
    _bar(a, "rocker", "base", (1.0, 0, 0), 0.8, drive=drive)
    pin = c.LoopJoint(
        "pin", "coupler", "rocker", j.Revolute("y"), at_frame=(1.1, 0, 0), at_base=(0.8, 0, 0)
    )
    return a.robot().constrain(pin), [0.3, -0.5, -1.2]


def serial_four_bar() -> tuple[kt.Robot, list[float]]:
    """The same bars in one chain, whose end is pinned to the ground."""
    a = kt.Assembly("serial_four_bar")
    _bar(a, "crank", "base", (0, 0, 0), 0.5)
    _bar(a, "coupler", "crank", (0.5, 0, 0), 1.1, drive=PASSIVE)
    _bar(a, "rocker", "coupler", (1.1, 0, 0), 0.8)
    pin = c.LoopJoint(
        "pin", "rocker", None, j.Revolute("y"), at_frame=(0.8, 0, 0), at_base=(1, 0, 0)
    )
    return a.robot().constrain(pin), [0.3, -1.4, 2.5]


def slider_crank() -> tuple[kt.Robot, list[float]]:
    """A crank, a rod, and a piston that slides along x, with a spring."""
    a = kt.Assembly("slider_crank")
    _bar(a, "crank", "base", (0, 0, 0), 0.3)
    _bar(a, "rod", "crank", (0.3, 0, 0), 0.9)
    a.add("piston", "base", j.Prismatic("x"), (0, 0, 0.05), mass=0.8, drive=PASSIVE)
    pin = c.LoopJoint("pin", "rod", "piston", j.Revolute("y"), at_frame=(0.9, 0, 0))
    return a.robot().constrain(pin), [0.4, -0.5, 1.1]


def ankle() -> tuple[kt.Robot, list[float]]:
    """A foot on a universal joint, moved by two cranks through rods."""
    a = kt.Assembly("ankle")
    foot = {"mass": 1.2, "com": (0.05, 0.01, -0.03)}
    joint = j.universal("y", "x")
    a.add("foot", "base", joint, (0, 0, -0.3), (0.01, 0.02, 0.02), limits=(-0.5, 0.5), **foot)
    rods = []
    for side, y in (("left", 0.06), ("right", -0.06)):
        _bar(a, f"{side}_crank", "base", (0, y, -0.05), 0.06, drive={"armature": 0.02})
        rods.append(
            c.Rod(
                f"{side}_rod",
                f"{side}_crank",
                "foot",
                length=0.25,
                at_frame=(0.06, 0, 0),
                at_base=(0.06, y, 0.0),
            )
        )
    return a.robot().constrain(*rods), [0.0] * 4


def gear_train() -> tuple[kt.Robot, list[float]]:
    """A motor, two gears and a cam; the last follows the product of both ratios."""
    a = kt.Assembly("gear_train")
    for k, name in enumerate(("motor", "wheel", "output")):
        drive = PASSIVE if name == "output" else None
        _bar(a, name, "base", (0, 0.2 * k, 0), 0.2 + 0.1 * k, drive=drive)
    gear = c.Coupling("gear", {"motor_joint": [0, 1], "wheel_joint": [0, 3]})
    cam = c.Coupling("cam", {"wheel_joint": [0.1, 1, 0.2], "output_joint": [0, -2]})
    return a.robot().constrain(gear, cam), [0.0] * 3


MECHANISMS = {
    "four_bar": (driven_four_bar, ["crank_joint"]),
    "serial_four_bar": (serial_four_bar, ["crank_joint"]),
    "slider_crank": (slider_crank, ["crank_joint"]),
    "ankle": (ankle, ["foot_joint"]),
    "gear_train": (gear_train, ["motor_joint"]),
}
"""Name to a mechanism and its independent joints."""
