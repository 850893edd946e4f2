"""Any controller with external forces cancelled: the momentum observer in the loop.

Source: A. De Luca & R. Mattone, Actuator failure detection and isolation using generalized momenta
(2003).

    symbol    code      meaning
    p^        memory    the estimated momentum
    r         r         K (M v - p^), which follows the external forces

    tau = tau_c - r,    p^' = tau + C^T v - g + r
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kinetree.algorithms import momentum_observer
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.control.controller import Controller
from kinetree.control.pd import Scalars
from kinetree.errors import KinetreeError
from kinetree.kinds import instance
from kinetree.model import Model
from kinetree.robot.checks import real_array
from kinetree.scalar import Scalar
from kinetree.typing import ArrayLike


@through_numpy
def compensated(controller: Controller, *, gain: ArrayLike = 20.0) -> Controller:
    """A controller that estimates external forces and model errors, and cancels them.

    It adds the input `observer_gain`. Its initial memory is that of a robot at rest.

    Arguments:
        controller: one without memory.
        gain: K, 1/s; one number, or one per velocity.

    Returns:
        The new controller.
    """
    instance("controller", controller, Controller, "a kinetree.control.Controller")
    if len(controller.memory):
        raise KinetreeError(f"{controller!r} has a memory; a controller without memory is expected")
    robot = controller.robot

    inputs = controller.inputs | {"observer_gain": real_array("gain", gain)}
    lengths = {name: len(x) for name, x in controller.inputs.items()}
    return Controller(
        robot,
        f"compensated {controller.name}",
        partial(_law, controller=controller),
        inputs,
        lengths | {"observer_gain": robot.nv},
        np.zeros(robot.nv),
    )


def _law(
    model: Model,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    observer_gain: Scalars,
    *,
    controller: Controller,
    **given: Any,
) -> tuple[list[Scalar], list[Scalar]]:
    """tau_c - r, and p^'."""
    estimate = given["memory"]
    flat = [x for name in controller.inputs for x in given[name]]
    still = [0.0] * model.nv
    p, drift = momentum_observer(model, q, v, still, still)  # drift: C^T v - g
    r = [k * (x - y) for k, x, y in zip(observer_gain, p, estimate, strict=True)]
    wanted = controller(t, q, v, flat)
    tau = [x - y for x, y in zip(wanted, r, strict=True)]
    return tau, [x + d + y for x, d, y in zip(tau, drift, r, strict=True)]
