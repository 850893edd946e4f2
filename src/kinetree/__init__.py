"""Kinetree: a robot's description turned into its dynamics, as machine code.

import kinetree as kt

robot = kt.load("panda.urdf")
tau = robot.inverse_dynamics(q, v, a)
"""

from typing import TYPE_CHECKING

from kinetree import errors, joints, robots, scalar
from kinetree._lazy import lazy_names
from kinetree.algorithms.steps import Enforcement
from kinetree.model import Drive, Limits, Model
from kinetree.model.loads import BodyTorque, CenterWrench, JointTorque, Point, Wrench
from kinetree.model.parameters import Inertial, Payload, Placement
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robot.load import load

if TYPE_CHECKING:
    from kinetree import control, identify, motion
    from kinetree.capture import fit_human, read_bvh, write_bvh
    from kinetree.compiler.runtime.cpu.threads import get_threads, set_threads
    from kinetree.compiler.runtime.memory import release_memory
    from kinetree.motion import Hold, Motion, Transition
    from kinetree.robot.pose_maps import pose_exp, pose_log
    from kinetree.show import plot
    from kinetree.simulate.result import Simulation

__version__ = "0.2.0"
__all__ = [
    "Assembly",
    "BodyTorque",
    "CenterWrench",
    "Drive",
    "Enforcement",
    "Hold",
    "Inertial",
    "JointTorque",
    "Limits",
    "Model",
    "Motion",
    "Payload",
    "Placement",
    "Point",
    "Robot",
    "Simulation",
    "Transition",
    "Wrench",
    "control",
    "errors",
    "fit_human",
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
    "Motion": "kinetree.motion",
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
"""Names that are imported on first access, because they need much else, and where they are."""


__getattr__ = lazy_names("kinetree", LAZY)


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__version__"])
