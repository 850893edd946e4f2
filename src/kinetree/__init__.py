"""Kinetree: robot dynamics, compiled to machine code from a robot's description.

import kinetree as kt

robot = kt.load("panda.urdf")
tau = robot.inverse_dynamics(q, v, a)
"""

from typing import TYPE_CHECKING

from kinetree import constraints, equipment, errors, geometry, joints, robots, scalar
from kinetree._lazy import lazy_names
from kinetree.algorithms.constraints import Baumgarte, Projection
from kinetree.algorithms.contact import ContactSolver
from kinetree.algorithms.steps import Enforcement
from kinetree.model import BallRange, Drive, Limits, Model
from kinetree.model.loads import BodyTorque, CenterWrench, JointTorque, Point, Wrench
from kinetree.model.parameters import Friction, Inertial, Payload, Placement
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robot.load import load

if TYPE_CHECKING:
    from kinetree import control, identify, motion
    from kinetree.capture import fit_human, read_bvh, write_bvh
    from kinetree.compiler.runtime.cpu.threads import get_threads, set_threads
    from kinetree.compiler.runtime.memory import release_memory
    from kinetree.motion import Hold, Motion, Phase, Support, Transition
    from kinetree.robot.pose_maps import pose_exp, pose_log
    from kinetree.show import plot
    from kinetree.simulate.result import Simulation

__version__ = "0.2.0"
__all__ = [
    "Assembly",
    "BallRange",
    "Baumgarte",
    "BodyTorque",
    "CenterWrench",
    "ContactSolver",
    "Drive",
    "Enforcement",
    "Friction",
    "Hold",
    "Inertial",
    "JointTorque",
    "Limits",
    "Model",
    "Motion",
    "Payload",
    "Phase",
    "Placement",
    "Point",
    "Projection",
    "Robot",
    "Simulation",
    "Support",
    "Transition",
    "Wrench",
    "constraints",
    "control",
    "equipment",
    "errors",
    "fit_human",
    "geometry",
    "get_threads",
    "identify",
    "joints",
    "load",
    "motion",
    "plot",
    "pose_exp",
    "pose_log",
    "read_bvh",
    "release_memory",
    "robots",
    "scalar",
    "set_threads",
    "write_bvh",
]


LAZY = {
    "Hold": "kinetree.motion",
    "Support": "kinetree.motion",
    "Motion": "kinetree.motion",
    "Phase": "kinetree.motion",
    "Simulation": "kinetree.simulate.result",
    "Transition": "kinetree.motion",
    "control": "",
    "fit_human": "kinetree.capture",
    "get_threads": "kinetree.compiler.runtime.cpu.threads",
    "identify": "",
    "motion": "",
    "plot": "kinetree.show",
    "pose_exp": "kinetree.robot.pose_maps",
    "pose_log": "kinetree.robot.pose_maps",
    "read_bvh": "kinetree.capture",
    "release_memory": "kinetree.compiler.runtime.memory",
    "set_threads": "kinetree.compiler.runtime.cpu.threads",
    "write_bvh": "kinetree.capture",
}
"""Maps names that are imported on first access, because they import much else, to their modules."""


__getattr__ = lazy_names("kinetree", LAZY)


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__version__"])
