"""What an optimised transition gives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.motion.arrays import Array
from kinetree.motion.motion import Motion, MotionState
from kinetree.motion.newton import LARGEST, Found
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.motion.transition_problem import Problem


class Transition:
    """Transitions of a robot, one or a batch; made by `Robot.transition`.

    Of several starts only the best is kept.

    Arguments:
        problem: what was solved.
        found: the coefficients of every problem and start.
        violation: of their constraints.
        start: their costs at the start.
        seconds: how long it took.

    value: the cost P, (...).
    start_value: that of the motion it started from, (...).
    converged: whether the gradient is small and all constraints are met, (...).
    optimality: the largest entry of the gradient, relative to that at the start, (...).
    violation: the largest violation of a constraint, relative to its scale, (...).
    iterations, evaluations: how many second derivatives and values were computed, (...).
    seconds: how long it took.
    history: the costs after each iteration, with the terms of constraints, (iterations, ...).
    duration: of the motion, s.
    coefficients: of the splines, (..., count, nv), in `chart`.
    """

    def __init__(
        self, problem: Problem, found: Found, violation: Array, start: Array, seconds: float
    ) -> None:
        self._problem = problem
        self.robot, self.chart = problem.flat.original, problem.robot
        self.duration, self.seconds = problem.duration, seconds
        starts, batch = problem.settings.starts, problem.batch
        met = violation <= 1e-6
        costs = problem.cost(found.c)
        done = found.converged & met
        # the best of those that are done; if none is, the best of all
        rank = np.where(done, costs, costs + 1e3 * np.abs(costs).max() * (1.0 + violation))
        best = np.argmin(rank.reshape(-1, starts), axis=1) + starts * np.arange(
            len(costs) // starts
        )
        self._best = best
        self._found, self._violation = found, violation

        def pick(x: Array) -> Array:
            return x[best].reshape((*batch, *x.shape[1:]))

        whole = problem.objective.whole(found.c, np.arange(problem.count))
        self.coefficients = pick(whole)
        self.value, self.start_value = pick(costs), pick(start)
        self.converged, self.optimality = pick(done), pick(found.optimality)
        self.violation = pick(violation)
        self.iterations, self.evaluations = pick(found.iterations), pick(found.evaluations)
        self.history = np.array([pick(values) for values in found.history])
        self.values_of_starts = costs.reshape(*batch, starts)
        self.interrupted = found.interrupted

    def __repr__(self) -> str:
        if self.value.ndim:
            done = f"{int(self.converged.sum())} of {self.converged.size} converged"
            return f"<Transition: {self.value.shape} problems, {done}>"
        return f"<Transition of {self.duration:g} s: P = {self.value:.6g}, {self.message}>"

    @cached_property
    def message(self) -> str:
        """Whether it converged, and if not, why: of a batch, the first that did not."""
        wrong = np.argwhere(~np.atleast_1d(self.converged).ravel())
        if not wrong.size:
            return "converged"
        k = int(wrong[0, 0])
        problem = int(self._best[k])
        which = f"problem {k}: " if self.converged.ndim else ""
        return which + self._why(problem)

    def _why(self, problem: int) -> str:
        found = self._found
        if found.interrupted:
            return "interrupted: the best so far"
        if self._violation[problem] > 1e-6:
            words = self._problem.worst(found.c, problem)
            return f"not converged: {words}; there may be no motion that meets all constraints"
        slope = f"gradient {found.optimality[problem]:.2g} of that at the start"
        if found.damping[problem] >= LARGEST:
            return f"not converged: no step lowers the cost any more; {slope}"
        return f"not converged: {slope} after {found.iterations[problem]} iterations"

    def at(self, times: ArrayLike) -> MotionState:
        """The states at given times.

        Arguments:
            times: s, (T,), from 0 to `duration`.

        Returns:
            q (..., T, nq), v and a (..., T, nv).
        """
        u = np.clip(np.asarray(times, float) / self.duration, 0.0, 1.0)
        basis = self._problem.basis
        y, dy, ddy = (
            (basis.values(u, rate) @ self.coefficients) / self.duration**rate for rate in range(3)
        )
        return self._problem.flat.back(y, dy, ddy)

    def motion(self, rate: float = 100.0, index: int | tuple[int, ...] = ()) -> Motion:
        """The motion of one problem.

        Arguments:
            rate: samples a second.
            index: of the problem, in a batch.
        """
        count = max(2, round(self.duration * rate) + 1)
        times = np.linspace(0.0, self.duration, count)
        q, v, a = (x[index] for x in self.at(times))
        return Motion(self.robot, times, q, v, a)

    def plot(self, path: str | Path | None = None) -> Any:
        """A picture of joint forces with their limits, and of P by iteration.

        Arguments:
            path: where to save it; not saved if None.
        """
        from kinetree.motion.pictures import plot_transition

        return plot_transition(self, path)
