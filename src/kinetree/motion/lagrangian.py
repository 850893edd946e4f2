"""The multipliers of an optimal control problem's conditions, and their updates.

Source: J. Nocedal & S. J. Wright, Numerical Optimization (2006), algorithm 17.4; the first penalty
is that of R. Andreani et al., On augmented Lagrangian methods with general lower-level constraints
(2008), section 5.1, with all conditions instead of the violated ones: it depends on the units of a
condition, not on the initial guess.

    paper      code        meaning
    lambda     y           multipliers, the penalty last
    omega      level       the tolerance of the next minimisation
    eta        feasibility the allowed violation of a condition at the end
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.motion.arrays import Array

if TYPE_CHECKING:
    from kinetree.motion.control_problem import ControlProblem

ENOUGH = 0.25
"""If violations fall below this share of the last ones, the penalty stays."""
GROWTH = 10.0
"""The factor by which the penalty grows otherwise."""
FIRST_PENALTY, LARGEST_PENALTY = (1e-6, 1e4), 1e12
FIRST_LEVEL, FINER = 1e-3, 0.1
"""The tolerance of the first minimisation, and the factor from one tolerance to the next."""


class Multipliers(NamedTuple):
    """Multipliers of all steps, and of the last state; the last entry is the penalty.

    Attributes:
        running: (problems, steps, rows + 1).
        final: (problems, rows + 1).
    """

    running: Array
    final: Array

    def of(self, which: Array) -> Multipliers:
        """The multipliers of some problems.

        Arguments:
            which: the indices of the problems.

        Returns:
            Their multipliers.
        """
        return Multipliers(self.running[which], self.final[which])


class Lagrangian:
    """The augmented Lagrangians of many problems, between minimisations.

    Arguments:
        problem: what is minimised.
        feasibility: the allowed violation of a condition, in its own unit.
        y: multipliers to start from; zeros if None.
    """

    def __init__(
        self, problem: ControlProblem, feasibility: float, y: Multipliers | None = None
    ) -> None:
        self.problem, self.feasibility = problem, feasibility
        self.given = y
        self.y = Multipliers(np.zeros((0, 0, 1)), np.zeros((0, 1)))

    def begin(self, q: Array, v: Array, u: Array, cost: Array, start: float) -> None:
        """Measure violations of the initial guesses, and choose penalties.

        Arguments:
            q, v, u: motions, as in `ilqr`.
            cost: of these motions, (problems,).
            start: the time of the first state, s.
        """
        problem, count = self.problem, len(q)
        self.rounds = np.zeros(count, int)
        self.level = np.full(count, FIRST_LEVEL)
        self.stuck = np.zeros(count, bool)
        rows, final = self._rows(q, v, u, start)
        self._note(np.arange(count), *self._violations(rows, final), start)
        if self.given is not None:
            self.y = self.given
            return
        size = problem.dt * (rows**2).sum(axis=(1, 2)) + (final**2).sum(axis=1)
        scale = 10.0 * np.maximum(np.abs(cost), 1e-6) / np.maximum(size, 1e-12)
        running = np.zeros((count, problem.steps, rows.shape[-1] + 1))
        last = np.zeros((count, final.shape[-1] + 1))
        penalty = np.clip(scale, *FIRST_PENALTY)
        running[..., -1], last[:, -1] = penalty[:, None], penalty
        self.y = Multipliers(running, last)

    def _rows(self, q: Array, v: Array, u: Array, start: float) -> tuple[Array, Array]:
        """The conditions along motions, (problems, steps, rows) and (problems, rows)."""
        problem, costs = self.problem, self.problem.terms
        running = np.zeros((len(q), problem.steps, 0))
        final = np.zeros((len(q), 0))
        if costs.row_count:
            running = costs.rows(*problem.step_arguments(q, v, u, start))
        if costs.final_row_count:
            final = costs.final_rows(q[:, -1], v[:, -1])
        return running, final

    def _violations(self, running: Array, final: Array) -> tuple[Array, Array]:
        """The violation of each; conditions on the given first state do not count."""
        costs = self.problem.terms
        found: list[Array] = []
        for rows, conditions in (
            (running, costs.conditions),
            (final, costs.final_conditions),
        ):
            equal = np.arange(rows.shape[-1]) < conditions.equalities
            found.append(np.where(equal, np.abs(rows), np.maximum(rows, 0.0)))
        bounds = len(costs.conditions.bounds)
        if bounds:
            found[0][:, 0, -bounds:] = 0.0
        return found[0], found[1]

    def _note(self, which: Array, rows: Array, final: Array, start: float) -> None:
        """Keep the largest violation of each problem, with its condition and time."""
        if not hasattr(self, "violation"):
            self.violation = np.full(len(which), np.inf)
            self.where = [""] * len(which)
        costs, steps = self.problem.terms, self.problem.steps
        for k, problem in enumerate(which):
            largest, where = 0.0, ""
            for values, names in (
                (rows[k], costs.conditions.names),
                (final[k : k + 1][0][None], costs.final_conditions.names),
            ):
                if values.size and not values.max() <= largest:
                    step, row = np.unravel_index(int(values.argmax()), values.shape)
                    last = values is not rows[k] and len(values) == 1
                    t = start + self.problem.dt * (steps if last else step)
                    largest, where = float(values.max()), f"{names[row]} at {t:.3g} s"
            self.violation[problem], self.where[problem] = largest, where

    def update(self, which: Array, q: Array, v: Array, u: Array, start: float) -> Array:
        """Update the multipliers of minimised problems.

        Arguments:
            which: their indices.
            q, v, u: their motions.
            start: the time of the first state, s.

        Returns:
            Whether each of them is finished: feasible, and minimised to the final tolerance.
        """
        running, final = self._rows(q, v, u, start)
        before = self.violation[which].copy()
        self._note(which, *self._violations(running, final), start)
        after = self.violation[which]
        for name, rows in (("running", running), ("final", final)):
            y = getattr(self.y, name)
            costs = self.problem.terms
            conditions = costs.conditions if name == "running" else costs.final_conditions
            moved = y[which][..., :-1] + y[which][..., -1:] * rows
            below = np.arange(rows.shape[-1]) >= conditions.equalities
            y[which, ..., :-1] = np.where(below, np.maximum(moved, 0.0), moved)
        harder = which[(after > ENOUGH * before) & (after > self.feasibility)]
        self.y.running[harder, :, -1] *= GROWTH
        self.y.final[harder, -1] *= GROWTH
        self.stuck[which] = self.y.final[which, -1] > LARGEST_PENALTY
        self.rounds[which] += 1
        self.level[which] *= FINER
        return after <= self.feasibility
