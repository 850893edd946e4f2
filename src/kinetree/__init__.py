"""Kinetree: a robot's description turned into its dynamics, as machine code.

import kinetree as kt

robot = kt.load("panda.urdf")
tau = robot.inverse_dynamics(q, v, a)
"""

import importlib
from typing import TYPE_CHECKING, Any

from kinetree import errors, joints, robots
from kinetree.algorithms.steps import Enforcement
from kinetree.assembly import Assembly
from kinetree.load import load
from kinetree.model import Drive, Limits, Model
from kinetree.model.parameters import Inertial, Payload, Placement
from kinetree.robot import Robot
from kinetree.tracing import Point

if TYPE_CHECKING:
    from kinetree import control, identify
    from kinetree.runtime.threads import get_threads, set_threads
    from kinetree.simulate.result import Simulation

__version__ = "0.1.0"
__all__ = [
    "Assembly",
    "Drive",
    "Enforcement",
    "Inertial",
    "Limits",
    "Model",
    "Payload",
    "Placement",
    "Point",
    "Robot",
    "Simulation",
    "control",
    "errors",
    "get_threads",
    "identify",
    "joints",
    "load",
    "robots",
    "set_threads",
]


def __getattr__(name: str) -> Any:
    """Import threads, controllers and simulations on first access: they need much else."""
    if name == "Simulation":
        from kinetree.simulate.result import Simulation

        return Simulation
    if name in ("control", "identify"):
        return importlib.import_module(f"kinetree.{name}")
    if name in ("get_threads", "set_threads"):
        from kinetree.runtime import threads

        return getattr(threads, name)
    raise AttributeError(f"module 'kinetree' has no attribute {name!r}")
