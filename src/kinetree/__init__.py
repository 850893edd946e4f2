"""Kinetree: a robot's description turned into its dynamics, as machine code.

import kinetree as kt

robot = kt.load("panda.urdf")
tau = robot.inverse_dynamics(q, v, a)
"""

from typing import TYPE_CHECKING, Any

from kinetree import errors, joints, robots
from kinetree.assembly import Assembly
from kinetree.load import load
from kinetree.loads import BodyTorque, CenterWrench, JointTorque, Point, Wrench
from kinetree.model import Drive, Limits, Model
from kinetree.model.parameters import Inertial, Payload, Placement
from kinetree.robot import Robot

if TYPE_CHECKING:
    from kinetree.runtime.threads import get_threads, set_threads

__version__ = "0.1.0"
__all__ = [
    "Assembly",
    "BodyTorque",
    "CenterWrench",
    "Drive",
    "Inertial",
    "JointTorque",
    "Limits",
    "Model",
    "Payload",
    "Placement",
    "Point",
    "Robot",
    "Wrench",
    "errors",
    "get_threads",
    "joints",
    "load",
    "robots",
    "set_threads",
]


def __getattr__(name: str) -> Any:
    """Threads come with much that is imported only when somebody asks for them."""
    if name in ("get_threads", "set_threads"):
        from kinetree.runtime import threads

        return getattr(threads, name)
    raise AttributeError(f"module 'kinetree' has no attribute {name!r}")
