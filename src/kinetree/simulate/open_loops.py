"""Simulations that start where constraints are not satisfied: a warning that says which and where.

Projection closes a loop that is open by rounding and truncation errors. One that is wide open it
closes in a jump, which is no motion.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import SimulationWarning
from kinetree.simulate.start import Start

if TYPE_CHECKING:
    from kinetree.robot import Robot

OPEN = 1e-4
"""m or rad: the least error of a row at the start that is worth a warning."""


def warn_of_open_loops(robot: Robot, start: Start) -> None:
    """Say which constraint is furthest from being satisfied at the start, if one is.

    Arguments:
        robot: what is simulated.
        start: its initial states.
    """
    if not robot.constraints.names or not start.count_of_systems:
        return
    errors = np.abs(robot.constraints.errors(np.asarray(start.backend.on_host(start.q), float)))
    system, row = np.unravel_index(int(np.argmax(errors)), errors.shape)
    if errors[system, row] <= OPEN:
        return
    label = robot.constraints.rows[row]
    where = f" of environment {system}" if start.batch else ""
    warnings.warn(
        f"robot {robot.name!r}: at the start{where} {label.name} is off by "
        f"{errors[system, row]:.3g} {label.unit}, which projection closes in a jump; "
        "robot.constraints.assemble(q) finds a configuration nearby that is closed",
        SimulationWarning,
        stacklevel=5,
    )
