"""The viewer's sliders for controls, and the joint forces of actuators that follow them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.robot import Robot
from kinetree.typing import Array

UNBOUNDED = 1.0
"""The range of the slider of a control without a range."""
SMALL = 1e-6
"""The step of an activation in the finite difference of its rate."""


class Controls:
    """A slider for each control of a robot, and the activations that they drive.

    Arguments:
        gui: viser's controls, to which they are added.
        robot: the robot with the actuators.

    Attributes:
        handles: viser's sliders.
        act: the activations, (na,).
    """

    def __init__(self, gui: Any, robot: Robot) -> None:
        self._robot, self.act = robot, np.zeros(robot.actuation.na)
        self.handles = []
        bounds = robot.actuation.ranges.control.tolist()
        for name, (low, high) in zip(robot.actuation.names, bounds, strict=True):
            low = low if np.isfinite(low) else min(-UNBOUNDED, high - UNBOUNDED)
            high = high if np.isfinite(high) else max(UNBOUNDED, low + UNBOUNDED)
            high = max(high, low + 1e-6)
            start = min(max(0.0, low), high)
            self.handles.append(gui.add_slider(name, low, high, (high - low) / 1000, start))

    @property
    def ctrl(self) -> Array:
        """The controls that the sliders are set to, (nu,)."""
        return np.array([slider.value for slider in self.handles])

    def rest(self) -> None:
        """Reset the activations to zero."""
        self.act = np.zeros(self._robot.actuation.na)

    def forces(self, q: Array, v: Array, dt: float) -> Array:
        """The joint forces in a state; the activations advance by a step.

        Arguments:
            q, v: the state, (nq,) and (nv,).
            dt: the step, s.

        Returns:
            (nv,).
        """
        actuation, ctrl = self._robot.actuation, self.ctrl
        if not actuation.na:
            return actuation.forces(q, v, None, ctrl)
        tau = actuation.forces(q, v, self.act, ctrl)
        rate = actuation.activation_rates(self.act, ctrl)
        slope = (actuation.activation_rates(self.act + SMALL, ctrl) - rate) / SMALL
        # exponential Euler: exact for filters of any speed
        way = np.where(np.abs(slope) < SMALL, 1.0, slope * dt)
        share = np.where(np.abs(slope) < SMALL, 1.0, np.expm1(way) / way)
        self.act = np.clip(self.act + dt * share * rate, *actuation.ranges.activation.T)
        return tau
