"""The viewer's sliders, one for each velocity: the displacement from the neutral configuration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from kinetree.errors import AssemblyError
from kinetree.robot import Robot
from kinetree.typing import Array

TURN, METRE = np.pi, 1.0
"""The range of sliders of joints without limits."""


class Sliders:
    """A slider for each velocity of a robot.

    Arguments:
        gui: viser's controls, to which they are added.
        robot: what they move.
        moved: called with viser's event whenever one is set.

    Attributes:
        handles: viser's sliders.
    """

    def __init__(self, gui: Any, robot: Robot, moved: Callable[[Any], None]) -> None:
        self._robot, self._neutral = robot, robot.neutral()
        self.handles = [_add(gui, *row, moved) for row in _rows(robot)]

    @property
    def q(self) -> Array:
        """The configuration that they are set to, (nq,)."""
        moved = np.array([slider.value for slider in self.handles])
        return self._robot.integrate(self._neutral, moved)

    def joint_of(self, handle: Any) -> str:
        """The name of the joint that a slider moves.

        Arguments:
            handle: one of `handles`.

        Returns:
            The name.
        """
        k, model = self.handles.index(handle), self._robot.model
        at = next(i for i, s in enumerate(model.v_slices) if s.start <= k < s.stop)
        return model.bodies[at].joint_name

    def show(self, q: Array) -> None:
        """Set them to a configuration.

        Arguments:
            q: (nq,).
        """
        moved = self._robot.difference(self._neutral, q)
        for slider, value in zip(self.handles, moved, strict=True):
            slider.value = float(np.clip(value, slider.min, slider.max))


def closed(robot: Robot, q: Array, held: Sequence[str] = ()) -> Array:
    """The configuration nearby whose loops are closed; q itself if there is none.

    Arguments:
        robot: with or without constraints.
        q: (nq,).
        held: the names of joints that do not move.

    Returns:
        (nq,).
    """
    if robot.model.constraints:
        with suppress(AssemblyError):  # the gap is drawn
            return robot.constraints.assemble(q, held=held)
    return q


def _rows(robot: Robot) -> list[tuple[str, float, float]]:
    """The label and the range of each slider."""
    units = [unit.split("/")[0] for unit in robot.labels.v_units]
    labels = [f"{name}, {unit}" for name, unit in zip(robot.labels.v, units, strict=True)]
    lower, upper = slider_limits(robot)
    return list(zip(labels, lower.tolist(), upper.tolist(), strict=True))


def _add(gui: Any, label: str, low: float, high: float, moved: Callable[[Any], None]) -> Any:
    start = min(max(0.0, low), high)
    slider = gui.add_slider(label, low, high, (high - low) / 1000, start)
    slider.on_update(moved)
    return slider


def slider_limits(robot: Robot) -> tuple[Array, Array]:
    """The range of each slider: the limits of its joint, or a turn or a metre if there are none.

    Arguments:
        robot: what they move.

    Returns:
        The lower and upper ends, (nv,) each.
    """
    model = robot.model
    free = np.array([TURN if u.startswith("rad") else METRE for u in robot.labels.v_units])
    lower, upper = -free, free.copy()
    for i in model.coordinate_order:
        joint, limits = model.bodies[i].joint, model.bodies[i].limits
        if joint.nq == joint.nv == 1:
            k, bounds = model.v_slices[i].start, sorted((limits.lower, limits.upper))
            lower[k] = bounds[0] if np.isfinite(bounds[0]) else lower[k]
            upper[k] = bounds[1] if np.isfinite(bounds[1]) else upper[k]
            upper[k] = max(upper[k], lower[k] + 1e-3)
    return lower, upper
