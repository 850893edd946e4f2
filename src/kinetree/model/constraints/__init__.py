"""Constraints, one kind a file, which implements all its methods."""

from kinetree.model.constraints.base import Constraint, FrameConstraint
from kinetree.model.constraints.coupling import Coupling
from kinetree.model.constraints.held_frame import HeldFrame
from kinetree.model.constraints.loop_joint import LoopJoint
from kinetree.model.constraints.rod import Rod
from kinetree.model.constraints.rolling import KnifeEdge, RollingWheel

__all__ = [
    "Constraint",
    "Coupling",
    "FrameConstraint",
    "HeldFrame",
    "KnifeEdge",
    "LoopJoint",
    "Rod",
    "RollingWheel",
]
