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
    from kinetree import control, motion
    from kinetree.motion import Hold, Motion, Transition
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
    "joints",
    "load",
    "motion",
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
    if name in ("control", "motion"):
        from importlib import import_module

        return import_module(f"kinetree.{name}")
    if name in ("Hold", "Motion", "Transition"):
        from kinetree import motion

        return getattr(motion, name)
    if name in ("fit_human", "read_bvh", "write_bvh"):
        from kinetree import motion_capture

        return getattr(motion_capture, name)
    if name in ("get_threads", "set_threads"):
        from kinetree.runtime import threads

        return getattr(threads, name)
    raise AttributeError(f"module 'kinetree' has no attribute {name!r}")
