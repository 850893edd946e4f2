"""Newton's method with Levenberg and Marquardt's damping, for many problems with band matrices.

Source: K. Madsen, H. B. Nielsen & O. Tingleff, Methods for non-linear least squares problems
(2004), section 3.2: the damping and how it changes with the gain.

differs: the Gauss-Newton matrix leads far along curved valleys but converges linearly where
residuals are not small. So a problem begins with it, and takes the exact second derivatives once
that gains little. The damping is then also raised until the matrix is positive definite. It
adds a multiple of the identity, not of the diagonal: curvature depends on angles, not on inertia.

A problem has converged where the Newton decrement g . H^-1 g / 2, the decrease that the quadratic
model without damping predicts, is small relative to the value (S. Boyd & L. Vandenberghe, Convex
Optimization (2004), section 9.5.1). This does not depend on units, nor on where it started.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.band_solver import solve_bands

SMALLEST, LARGEST = 1e-18, 1e8
"""Of the damping, relative to the value at the start."""
FIRST = 2e-4
"""The damping to begin with."""
WINDOW, LITTLE = 5, 1e-2
"""If so many steps gain less than this share, a problem changes to exact second derivatives."""
FARTHEST = 2.0
"""The largest change of a coefficient in a step, rad or m: beyond, nothing is nearly quadratic, and
joints that hardly cost effort would spin."""
STALLED = 1e-15
"""Relative decrease below which a step says nothing about the gain."""
SHORTER = (0.5, 0.2, 0.05)
"""Lengths that are tried of a step that does not lower the value, before it is damped more: where
the value has kinks, as penalties have, the direction is good and the length is not."""
SINGULAR = 1e-14
"""Added to the second derivatives for the decrement, relative to the largest of them: directions
in which the value does not change at all are left out by it."""


class Expansion(NamedTuple):
    """Values and derivatives of objectives.

    value: (problems,).
    gradient: (problems, unknown blocks, n).
    bands: second derivatives: [k, d] of blocks k + d and k, (problems, blocks, wide, n, n).
    """

    value: Array
    gradient: Array
    bands: Array


class Objective(Protocol):
    """What is minimised. `which` says which problems the rows of c belong to."""

    def values(self, c: Array, which: Array) -> Array:
        """(problems,), from c (problems, blocks, n)."""

    def expansion(self, c: Array, which: Array, exact: bool) -> Expansion:
        """Values and derivatives at c; second derivatives are exact, or those of Gauss-Newton."""


@dataclass
class Solutions:
    """What the minimisation of many problems gave.

    c: the best coefficients, (problems, blocks, n).
    value: (problems,).
    optimality: the Newton decrement before the last step, relative to the value, (problems,);
        infinite where the second derivatives were not positive definite.
    converged: whether it is below the tolerance, (problems,).
    iterations, evaluations: how many second derivatives and values were computed, (problems,).
    damping: at the end, (problems,).
    exact: whether its second derivatives were exact at the end, (problems,).
    history: the values after each iteration, (problems,) each.
    interrupted: whether the user ended it.
    """

    c: Array
    value: Array
    optimality: Array
    converged: Array
    iterations: Array
    evaluations: Array
    damping: Array
    exact: Array
    history: list[Array] = field(default_factory=list)
    interrupted: bool = False

    @staticmethod
    def at(c: Array, value: Array) -> Solutions:
        """What is known before anything is done: coefficients and their values."""
        n = len(c)
        none, count = np.zeros(n, bool), np.zeros(n, int)
        state = (np.full(n, np.inf), none.copy(), count, count.copy(), np.full(n, FIRST), none)
        return Solutions(c, value, *state)


def minimize(
    objective: Objective,
    start: Solutions,
    tolerance: float,
    iterations: int,
    floor: Array,
    exact: str = "late",
    progress: Callable[[Array], object] | None = None,
    which: Array | None = None,
) -> Solutions:
    """Minimise many problems at once; each stops when its own decrement is small.

    Arguments:
        start: where they start (`Solutions.at`), or what an earlier minimisation gave; not changed.
        tolerance: of the Newton decrement, relative to the value.
        iterations: at most so many.
        floor: values that are smaller count as this large, (problems,).
        exact: whether second derivatives are exact: "late", "always" or "never".
        progress: called with the values after each iteration. KeyboardInterrupt ends the
            minimisation with the best so far.
        which: the problems that are minimised; all if None.
    """
    some = np.arange(len(start.c)) if which is None else which
    return _Minimization(objective, start, tolerance, floor, exact, some).run(iterations, progress)


def decrement(bands: Array, gradient: Array) -> Array:
    """g . H^-1 g / 2 of each problem; infinite if H is not positive definite.

    Arguments:
        bands: the second derivatives, (problems, blocks, wide, n, n).
        gradient: (problems, blocks, n).
    """
    g = gradient.reshape(len(gradient), -1)
    diagonal = bands[:, :, 0].diagonal(axis1=-2, axis2=-1)
    largest = np.abs(diagonal).max(axis=(1, 2), initial=0.0)
    x, good = solve_bands(bands, g, SINGULAR * np.maximum(largest, 1e-300))
    return np.where(good, 0.5 * (g * x).sum(axis=-1), np.inf)


class _Minimization:
    """The state of all problems between iterations."""

    def __init__(
        self,
        objective: Objective,
        start: Solutions,
        tolerance: float,
        floor: Array,
        exact: str,
        which: Array,
    ) -> None:
        self.objective, self.tolerance, self.mode = objective, tolerance, exact
        count = len(start.c)
        self.everything, self.floor = np.arange(count), floor
        self.exact = start.exact | (exact == "always")
        self.gradient = np.zeros_like(start.c)
        self.bands: Array = np.zeros(0)
        self.growth = np.full(count, 2.0)
        waiting = np.ones(count, bool)
        waiting[which] = False
        self.solutions = solutions = Solutions(
            c=start.c.copy(),
            value=start.value.copy(),
            optimality=np.where(waiting, start.optimality, np.inf),
            converged=waiting.copy(),
            iterations=start.iterations.copy(),
            evaluations=start.evaluations.copy(),
            damping=np.minimum(start.damping, FIRST),  # what ended the last one may go now
            exact=self.exact,
            history=list(start.history),
        )
        self.waiting, self.before = waiting, start
        solutions.evaluations[which] += 1
        self._expand(which)
        solutions.history.append(solutions.value.copy())
        self.began = len(solutions.history) - 1
        self.scale = np.maximum(np.abs(solutions.value), floor)

    def run(self, iterations: int, progress: Callable[[Array], object] | None) -> Solutions:
        """Iterate until every problem has converged or cannot go on."""
        solutions = self.solutions
        try:
            for _ in range(iterations):
                active = self.everything[~solutions.converged & (solutions.damping < LARGEST)]
                if not active.size:
                    break
                self._iterate(active)
                solutions.history.append(solutions.value.copy())
                if progress is not None:
                    progress(solutions.value)
        except KeyboardInterrupt:
            solutions.interrupted = True
        self._judge(self.everything[~solutions.converged])
        solutions.converged[self.waiting] = self.before.converged[self.waiting]
        return solutions

    def _judge(self, which: Array) -> None:
        """The decrement of each problem, and whether it has converged."""
        if which.size:
            solutions = self.solutions
            size = np.maximum(np.abs(solutions.value[which]), self.floor[which])
            left = decrement(self.bands[which], self.gradient[which])
            solutions.optimality[which] = left / size
            solutions.converged[which] = left <= self.tolerance * size

    def _iterate(self, active: Array) -> None:
        """One step of every active problem."""
        solutions = self.solutions
        step, predicted = self._steps(active)
        # with damping, less is predicted than without: a cheap test comes first
        size = np.maximum(np.abs(solutions.value[active]), self.floor[active])
        self._judge(active[predicted <= self.tolerance * size])
        share, value = np.ones(len(active)), self._tried(active, step)
        floor = STALLED * np.abs(solutions.value[active])
        better = self._better(active, value, predicted, floor)
        for shorter in SHORTER:
            some = np.flatnonzero(~better & (predicted > floor))
            if not some.size:
                break
            tried = self._tried(active[some], shorter * step[some])
            good = self._better(active[some], tried, predicted[some], floor[some])
            share[some[good]], value[some[good]] = shorter, tried[good]
            better[some[good]] = True
        gain = (solutions.value[active] - value) / np.maximum(predicted, 1e-300)
        gain = np.where(share < 1.0, 0.5, gain)  # a shortened step says nothing: as it was
        self._damp(active, np.where(np.isfinite(gain), gain, -1.0), better)
        moved = active[better]
        solutions.c[moved] += (share[:, None, None] * step)[better]
        solutions.value[moved] = value[better]
        self._switch(active)
        stale = active[better | self.switched[active]]
        self._expand(stale[~solutions.converged[stale]])

    def _tried(self, which: Array, step: Array) -> Array:
        """The values after a step."""
        self.solutions.evaluations[which] += 1
        return self.objective.values(self.solutions.c[which] + step, which)

    def _better(self, which: Array, value: Array, predicted: Array, floor: Array) -> Array:
        """Whether values are lower than before, or as good as rounding can tell."""
        gained = self.solutions.value[which] - value
        better = np.isfinite(value) & ((gained > 0.0) | (predicted <= floor))
        return better & (gained >= -8.0 * floor)

    def _expand(self, which: Array) -> None:
        """Values and derivatives where problems are now."""
        self.switched = np.zeros(len(self.everything), bool)
        for exact in (False, True):
            some = which[self.exact[which] == exact]
            if some.size:
                at = self.objective.expansion(self.solutions.c[some], some, exact)
                self.solutions.value[some], self.gradient[some] = at.value, at.gradient
                if not self.bands.size:
                    self.bands = np.zeros((len(self.everything), *at.bands.shape[1:]))
                self.bands[some] = at.bands
                self.solutions.iterations[some] += 1

    def _switch(self, active: Array) -> None:
        """Change to exact second derivatives where the last steps gained little."""
        history = self.solutions.history
        if self.mode != "late" or len(history) - self.began < WINDOW:
            return
        before = history[-WINDOW][active]
        little = before - self.solutions.value[active] < LITTLE * np.abs(before)
        some = active[little & ~self.exact[active] & ~self.solutions.converged[active]]
        self.exact[some] = self.switched[some] = True

    def _damp(self, active: Array, gain: Array, better: Array) -> None:
        """The damping of each problem, after a step that gained so much of what was predicted."""
        damping, growth = self.solutions.damping, self.growth
        up, down = active[~better], active[better]
        damping[up] *= growth[up]
        growth[up] *= 2.0
        share = np.clip(gain[better], -1.0, 2.0)
        factor = np.clip(1.0 - (2.0 * share - 1.0) ** 3, 1.0 / 16.0, 2.0)
        damping[down] = np.maximum(damping[down] * factor, SMALLEST)
        growth[down] = 2.0

    def _steps(self, active: Array) -> tuple[Array, Array]:
        """The step of each active problem, and the decrease that its quadratic model predicts."""
        g = self.gradient[active].reshape(len(active), -1)
        step = self._solved(active, -g)
        # -(g.s + s.H.s / 2) with (H + damping) s = -g
        damping = self.solutions.damping[active] * self.scale[active]
        predicted = 0.5 * (damping * (step**2).sum(axis=1) - (g * step).sum(axis=1))
        return step.reshape(len(active), *self.gradient.shape[1:]), predicted

    def _solved(self, active: Array, right: Array) -> Array:
        """The damped steps; the damping of each problem is raised until there is one."""
        damping, growth = self.solutions.damping, self.growth
        found, left = np.zeros_like(right), np.arange(len(active))
        left = left[damping[active] < LARGEST]
        while left.size:
            some = active[left]
            shift = damping[some] * self.scale[some]
            step, good = solve_bands(self.bands[some], right[left], shift)
            good &= np.abs(step).max(axis=1) <= FARTHEST
            found[left[good]] = step[good]
            left, some = left[~good], some[~good]
            damping[some] = np.maximum(damping[some] * growth[some], 1e-9)
            growth[some] *= 2.0
            left = left[damping[some] < LARGEST]
        return found
