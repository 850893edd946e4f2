"""Kinetree: a robot's description turned into its dynamics, as machine code.

import kinetree as kt

robot = kt.load("panda.urdf")
tau = robot.inverse_dynamics(q, v, a)
"""

from typing import TYPE_CHECKING, Any

from kinetree import errors, joints, robots
from kinetree.algorithms.steps import Enforcement
from kinetree.assembly import Assembly
from kinetree.load import load
from kinetree.loads import BodyTorque, CenterWrench, JointTorque, Point, Wrench
from kinetree.model import Drive, Limits, Model
from kinetree.model.parameters import Inertial, Payload, Placement
from kinetree.robot import Robot

if TYPE_CHECKING:
    from kinetree import control
    from kinetree.motion_capture import fit_human, read_bvh, write_bvh
    from kinetree.runtime.threads import get_threads, set_threads
    from kinetree.simulate.result import Simulation

__version__ = "0.1.0"
__all__ = [
    "Assembly",
    "BodyTorque",
    "CenterWrench",
    "Drive",
    "Enforcement",
    "Inertial",
    "JointTorque",
    "Limits",
    "Model",
    "Payload",
    "Placement",
    "Point",
    "Robot",
    "Simulation",
    "Wrench",
    "control",
    "errors",
    "fit_human",
    "get_threads",
    "joints",
    "load",
    "read_bvh",
    "robots",
    "set_threads",
    "write_bvh",
]


def __getattr__(name: str) -> Any:
    """Import threads, controllers, simulations and motion capture on first access."""
    if name == "Simulation":
        from kinetree.simulate.result import Simulation

        return Simulation
    if name == "control":
        import kinetree.control

        return kinetree.control
    if name in ("fit_human", "read_bvh", "write_bvh"):
        from kinetree import motion_capture

        return getattr(motion_capture, name)
    if name in ("get_threads", "set_threads"):
        from kinetree.runtime import threads

        return getattr(threads, name)
    raise AttributeError(f"module 'kinetree' has no attribute {name!r}")
