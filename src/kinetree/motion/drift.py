"""Drift of held frames while constraints act: an error measure of plans under phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.control_steps import PhasedStep

if TYPE_CHECKING:
    from kinetree.motion.control_problem import ControlProblem

ALLOWED_DRIFT = 1e-3
"""m or rad: the largest drift of a row in a converged motion."""


class Drift:
    """The drift of the rows of constraints, in motions of many problems.

    Rows with a position error are measured by it, others by the distance moved since they began to
    act.

    Arguments:
        problem: what was solved.
        q, v: states, (problems, steps + 1, nq) and (problems, steps + 1, nv).
        start: the time of the first state, s.
        judged: whether to measure; the drift is zero if not.

    Attributes:
        largest: (problems,), m or rad.
    """

    def __init__(
        self, problem: ControlProblem, q: Array, v: Array, start: float, judged: bool = True
    ) -> None:
        self.problem, self.start = problem, start
        self.largest = np.zeros(len(q))
        step = problem.step
        if not judged or not isinstance(step, PhasedStep):
            return
        places = [k for k, group in enumerate(step.groups.values()) for _ in group]
        on = problem.active(start)[:, places]  # (steps, rows)
        constraints = step.robot.constraints
        J = constraints.jacobian(q[:, 1:])
        moved = problem.dt * on * (J @ v[:, 1:, :, None])[..., 0]
        for k in range(1, len(on)):
            moved[:, k] += on[k] * moved[:, k - 1]
        errors = on * constraints.errors(q[:, 1:])
        placed = np.array(
            [c.holonomic for c in step.robot.model.constraints for _ in range(c.row_count)]
        )
        self.values = np.abs(np.where(placed, errors, moved))
        self.largest = self.values.max(axis=(1, 2), initial=0.0)

    def where(self, problem: int) -> str:
        """The row with the largest drift in a problem, and its time.

        Arguments:
            problem: its index in the batch.
        """
        step, row = np.unravel_index(int(self.values[problem].argmax()), self.values[problem].shape)
        label = self.problem.robot.constraints.rows[row]
        t = self.start + self.problem.dt * (int(step) + 1)
        return (
            f"{label.name!r} is {self.largest[problem]:.2g} {label.unit} from where it is held "
            f"at {t:.3g} s"
        )
