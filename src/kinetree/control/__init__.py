"""Controllers and inverse kinematics, over any scalar.

A controller is a function `controller(t, q, v, p)` of scalars that gives the joint forces: `p` is a
flat list of its inputs (gains, targets, noise), which may differ between the robots of a batch.
Controllers of this package are made for a robot and have named inputs; `controller.forces(q, v)`
computes forces from arrays, compiled. Wherever a controller is expected, a function of your own
works as well.
"""

from kinetree._lazy import listing
from kinetree.control.adaptive import adaptive
from kinetree.control.body_tasks import (
    BodyTask,
    CenterOfMassTask,
    FrameTask,
    PostureTask,
    Stance,
)
from kinetree.control.compensated import compensated
from kinetree.control.computed_torque import computed_torque
from kinetree.control.controller import Controller
from kinetree.control.impedance import impedance
from kinetree.control.inverse_kinematics import InverseKinematics, Solution
from kinetree.control.lqr import TrackingLQR, lqr, tracking_lqr
from kinetree.control.observer import MomentumObserver
from kinetree.control.operational_space import operational_space
from kinetree.control.passivity import passivity
from kinetree.control.pd import pd
from kinetree.control.whole_body import BodyForces, WholeBody

__all__ = [
    "BodyForces",
    "BodyTask",
    "CenterOfMassTask",
    "Controller",
    "FrameTask",
    "InverseKinematics",
    "MomentumObserver",
    "PostureTask",
    "Solution",
    "Stance",
    "TrackingLQR",
    "WholeBody",
    "adaptive",
    "compensated",
    "computed_torque",
    "impedance",
    "lqr",
    "operational_space",
    "passivity",
    "pd",
    "tracking_lqr",
]

__dir__ = listing(__all__)
