"""Four small robots with joints of many kinds between them, for tests of whole targets."""

from functools import cache

import numpy as np

import kinetree as kt
from kinetree import constraints, joints
from kinetree.compiler.graph import interpret
from kinetree.errors import KinetreeError
from kinetree.quantities import QUANTITIES

BOX = [0.02, 0.03, 0.04]
DRIVE = {"armature": 0.1, "damping": 0.2, "friction": 0.05}
SPRING = {"stiffness": 3.0}


def gripper() -> kt.Robot:
    """Fixed base: revolute, prismatic and screw joints, a mimic, rotors, friction, a spring."""
    a = kt.Assembly("gripper")
    a.add("arm", "base", joints.Revolute([0.0, 0.6, 0.8]), (0.1, 0.2, 0.3), BOX, mass=2.0)
    a.add("rail", "arm", joints.Prismatic("x"), (0.0, 0.1, 0.4), BOX, mass=1.0, drive=DRIVE)
    a.add("drill", "rail", joints.Screw("z", 0.1), (0.2, 0.0, 0.1), BOX, mass=0.5, com=[0, 0, 0.1])
    a.add("finger", "rail", joints.Revolute("y"), (0.1, 0.0, 0.0), BOX, mass=0.3, drive=SPRING)
    copied = ("finger_joint", -0.8)
    a.add("thumb", "rail", joints.Revolute("y"), (0.0, 0.1, 0.0), BOX, mass=0.3, mimic=copied)
    return a.robot()


def rider() -> kt.Robot:
    """A floating base and a revolute joint."""
    a = kt.Assembly("rider", inertia=BOX, mass=3.0, com=[0.1, 0.0, 0.0])
    a.add("hand", "base", joints.Revolute("x"), (0.3, 0.0, 0.1), BOX, mass=0.4, com=[0, 0.1, 0])
    return a.robot("floating")


def turret() -> kt.Robot:
    """Fixed base: a rotation vector carries a prismatic joint."""
    a = kt.Assembly("turret", gravity=[0.5, -1.0, -9.0])
    a.add("ring", "base", joints.ExponentialBall(), (0.1, 0.0, 0.3), BOX, mass=1.0, com=[0.2, 0, 0])
    joint = joints.Prismatic([0.6, 0.0, 0.8])
    a.add("gun", "ring", joint, (0.0, 0.2, 0.1), BOX, mass=0.2, com=[0.0, 0.0, 0.1])
    return a.robot()


def linkage() -> kt.Robot:
    """Fixed base: a crank, a coupler and a rocker, closed by a ball; the rocker drives a gear."""
    a = kt.Assembly("linkage")
    a.add("crank", "base", joints.Revolute("y"), (0, 0, 0), BOX, mass=1.0, drive=DRIVE)
    a.add("coupler", "crank", joints.Revolute("y"), (0.4, 0, 0), BOX, mass=0.5, com=[0.4, 0, 0])
    a.add("rocker", "base", joints.universal("y", "x"), (0.9, 0, 0), BOX, mass=0.7)
    a.add("gear", "base", joints.Revolute("x"), (0, 0.5, 0), BOX, mass=0.2)
    ball = constraints.LoopJoint(
        "ball", "coupler", "rocker", joints.Ball(), at_frame=(0.8, 0, 0), at_base=(0, 0, 0.7)
    )
    teeth = constraints.Coupling("teeth", {"gear_joint": [0.0, 1.0], "crank_joint": [0.1, -2.5]})
    return a.robot().constrain(ball, teeth)


ROBOTS = {make.__name__: cache(make) for make in (gripper, rider, turret, linkage)}
"""Makes each robot once in a process, so that tests share what is traced."""
METHODS = [(quantity, method) for quantity, row in QUANTITIES.items() for method in row.methods]


def every_kernel(robot):
    """Quantity, method and kernel, for all that a robot has; of frames, the last."""
    for quantity, method in METHODS:
        if (kernel := kernel_of(robot, quantity, method)) is not None:
            yield quantity, method, kernel


def share_of_kernels(name):
    """As `every_kernel`, of the quantities and methods for which it is this robot's turn.

    Each is computed by one robot, the shares of all robots together have everything. That is enough
    where arrays are passed on: what is computed is the same machine code, or one line an operation.
    """
    for k, (quantity, method) in enumerate(METHODS):
        for turn in range(k, k + len(ROBOTS)):
            whose = list(ROBOTS)[turn % len(ROBOTS)]
            kernel = kernel_of(ROBOTS[whose](), quantity, method)
            if kernel is not None:
                if whose == name:
                    yield quantity, method, kernel
                break


def kernel_of(robot, quantity, method):
    """A kernel; None for what has no answer for this robot, such as aba with a mimic."""
    settings = {name: valid[0] for name, valid in QUANTITIES[quantity].settings.items()}
    settings |= {"frame": robot.frames[-1]} if "frame" in settings else {}
    settings |= {"accelerated": robot.joints[-1:]} if "accelerated" in settings else {}
    settings |= {"constraints": ()} if "constraints" in settings else {}
    settings |= {"actuated": robot.joints[:1]} if "actuated" in settings else {}
    try:
        return robot.kernel(quantity, method, **settings)
    except KinetreeError:
        return None


def random_state(robot, kernel, batch=()):
    """Random arguments of a kernel; quaternions have length one, steps of time are short."""
    rng = np.random.default_rng(0)
    return [
        robot.random(rng, batch)
        if name in ("q", "q0", "q1")
        else rng.uniform(-1.0, 1.0, (*batch, *shape)) * (1.0 if shape else 0.01)
        for name, shape in kernel.interface.inputs
    ]


def interpreted(kernel, arrays):
    """The results of a kernel's program as the interpreter defines them."""
    with np.errstate(all="ignore"):  # in branches that are not chosen
        return interpret(kernel.program, *arrays)
