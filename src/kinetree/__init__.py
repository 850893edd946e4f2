"""Kinetree: a robot's description turned into its dynamics, as machine code.

import kinetree as kt

robot = kt.load("panda.urdf")
tau = robot.inverse_dynamics(q, v, a)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinetree import errors, joints, robots, scalar
from kinetree.algorithms.steps import Enforcement
from kinetree.assembly import Assembly
from kinetree.load import load
from kinetree.model import Drive, Limits, Model
from kinetree.model.parameters import Inertial, Payload, Placement
from kinetree.robot import Robot
from kinetree.tracing import Point

if TYPE_CHECKING:
    from kinetree import control
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
    "joints",
    "load",
    "robots",
    "scalar",
    "set_threads",
]


LAZY = {
    "Simulation": "kinetree.simulate.result",
    "control": "",
    "get_threads": "kinetree.runtime.threads",
    "set_threads": "kinetree.runtime.threads",
}
"""Names that are imported on first access, because they need much else, and where they are."""


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module 'kinetree' has no attribute {name!r}")
    if not LAZY[name]:
        return import_module(f"kinetree.{name}")
    return getattr(import_module(LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__version__"])
