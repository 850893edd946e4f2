"""Constraints to close loops, hold frames and couple joints with; see `Robot.constrain`."""

from kinetree.model.constraints import (
    Constraint,
    Coupling,
    FrameConstraint,
    HeldFrame,
    KnifeEdge,
    LoopJoint,
    Rod,
    RollingWheel,
)

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
