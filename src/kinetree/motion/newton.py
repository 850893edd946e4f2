"""Newton's method with Levenberg-Marquardt damping, for many problems with band matrices.

Source: K. Madsen, H. B. Nielsen & O. Tingleff, Methods for non-linear least squares problems
(2004), section 3.2: the damping and its update by the gain ratio.

differs: the Gauss-Newton matrix allows long steps along curved valleys but converges linearly if
residuals are large. So a problem begins with it, and changes to exact second derivatives once it
gains little. The damping is then also raised until the matrix is positive definite. It adds a
multiple of the identity, not of the diagonal: curvature depends on angles, not on inertia.

A problem has converged where the Newton decrement g . H^-1 g / 2, the decrease that the quadratic
model without damping predicts, is small relative to the value (S. Boyd & L. Vandenberghe, Convex
Optimization (2004), section 9.5.1). This does not depend on units, nor on the initial guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.band_solver import factor_bands, solve_bands
from kinetree.motion.surface import LOST, RETURNS, Normal, Surface, normal

SMALLEST, LARGEST = 1e-18, 1e8
"""Bounds of the damping, relative to the initial value."""
FIRST = 2e-4
"""The initial damping."""
WINDOW, LITTLE = 5, 1e-2
"""If so many steps gain less than this share, a problem changes to exact second derivatives."""
FARTHEST = 2.0
"""The largest change of a coefficient in a step, rad or m: beyond, the quadratic model is invalid,
and joints that hardly cost effort would spin."""
BENT = 0.25
"""The least factor of the damping in an update on a surface, whose curvature limits steps."""
STALLED = 1e-15
"""Relative decrease below which the gain ratio of a step is meaningless."""
SHORTER = (0.5, 0.2, 0.05)
"""Step lengths that are tried before the damping is raised: if the value has kinks, such as those
of penalties, the direction is good and the length is not."""
SINGULAR = 1e-14
"""Added to the second derivatives for the decrement, relative to the largest of them; it removes
directions in which the value is constant."""


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
    """The function to minimise. `which` has the problem of each row of c."""

    def values(self, c: Array, which: Array) -> Array:
        """(problems,), from c (problems, blocks, n)."""

    def expansion(self, c: Array, which: Array, exact: bool) -> Expansion:
        """Values and derivatives at c; second derivatives are exact, or those of Gauss-Newton."""


@dataclass
class Solutions:
    """The results of minimising many problems.

    c: the best coefficients, (problems, blocks, n).
    value: (problems,).
    optimality: the Newton decrement before the last step, relative to the value, (problems,);
        infinite where the second derivatives were not positive definite.
    converged: whether it is below the tolerance, (problems,).
    iterations, evaluations: the numbers of second derivatives and values computed, (problems,).
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
        """The initial state: coefficients and their values."""
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
    surface: Surface | None = None,
) -> Solutions:
    """Minimise many problems at once; each stops when its own decrement is small.

    Arguments:
        start: initial guesses (`Solutions.at`), or the result of an earlier call; not changed.
        tolerance: of the Newton decrement, relative to the value.
        iterations: at most this many.
        floor: smaller values count as this large, (problems,).
        exact: whether second derivatives are exact: "late", "always" or "never".
        progress: called with the values after each iteration. KeyboardInterrupt ends the
            minimisation with the best so far.
        which: the problems that are minimised; all if None.
        surface: equalities that all motions meet, those of `start` included.
    """
    some = np.arange(len(start.c)) if which is None else which
    minimization = _Minimization(objective, start, tolerance, floor, exact, some, surface)
    return minimization.run(iterations, progress)


def decrement(bands: Array, gradient: Array, J: Sequence[Array] | None = None) -> Array:
    """g . H^-1 g / 2 of each problem; infinite if H is not positive definite.

    Arguments:
        bands: the second derivatives, (problems, blocks, wide, n, n).
        gradient: (problems, blocks, n).
        J: derivatives of equalities, along which steps are made; see `surface.py`.
    """
    g = gradient.reshape(len(gradient), -1)
    diagonal = bands[:, :, 0].diagonal(axis1=-2, axis2=-1)
    largest = np.abs(diagonal).max(axis=(1, 2), initial=0.0)
    shift = SINGULAR * np.maximum(largest, 1e-300)
    if J is None:
        x, good = solve_bands(bands, g, shift)
    else:
        on_surface = [np.zeros(len(by)) for by in J]
        x, good, _ = _along(bands, g, shift, on_surface, J)
    return np.where(good, 0.5 * (g * x).sum(axis=-1), np.inf)


def _along(
    bands: Array, right: Array, shift: Array, rows: Sequence[Array], J: Sequence[Array]
) -> tuple[Array, Array, list[tuple[Normal, Array] | None]]:
    """The solutions of band matrices under equalities: x with rows + J x = 0.

    Returns:
        The solutions; which matrices were positive definite; and for each of these, the normal
        directions of its surface and the change of its multipliers.
    """
    ways: list[tuple[Normal, Array] | None] = []
    found = np.zeros_like(right)
    for k, by in enumerate(J):
        solve = factor_bands(bands[k], shift[k])
        if solve is None:
            ways.append(None)
            continue
        free, off = solve(right[k]), normal(by, solve(by.T))
        left = rows[k] + by @ free
        found[k] = free + off.back(left)
        ways.append((off, off.inverse @ left))
    return found, np.array([way is not None for way in ways]), ways


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
        surface: Surface | None = None,
    ) -> None:
        self.objective, self.tolerance, self.mode = objective, tolerance, exact
        self.surface, self.J = surface, [np.zeros((0, 0))] * len(start.c)
        self.rows: list[Array] = [np.zeros(0)] * len(start.c)
        self.ways: dict[int, tuple[Normal, Array]] = {}
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
            damping=np.minimum(start.damping, FIRST),  # a large final damping is not kept
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
            J = None if self.surface is None else [self.J[k] for k in which]
            left = decrement(self.bands[which], self.gradient[which], J)
            solutions.optimality[which] = left / size
            solutions.converged[which] = left <= self.tolerance * size

    def _iterate(self, active: Array) -> None:
        """One step of every active problem."""
        solutions = self.solutions
        step, predicted = self._steps(active)
        # the damped decrease is a lower bound of the decrement: a cheap test comes first
        size = np.maximum(np.abs(solutions.value[active]), self.floor[active])
        self._judge(active[predicted <= self.tolerance * size])
        share = np.ones(len(active))
        c, value = self._tried(active, step)
        floor = STALLED * np.abs(solutions.value[active])
        better = self._better(active, value, predicted, floor)
        for shorter in SHORTER:
            some = np.flatnonzero(~better & (predicted > floor))
            if not some.size:
                break
            near, tried = self._tried(active[some], shorter * step[some])
            good = self._better(active[some], tried, predicted[some], floor[some])
            share[some[good]], value[some[good]] = shorter, tried[good]
            c[some[good]] = near[good]
            better[some[good]] = True
        gain = (solutions.value[active] - value) / np.maximum(predicted, 1e-300)
        gain = np.where(share < 1.0, 0.5, gain)  # shortened: keep the damping
        self._damp(active, np.where(np.isfinite(gain), gain, -1.0), better)
        moved = active[better]
        solutions.c[moved] = c[better]
        solutions.value[moved] = value[better]
        if self.surface is not None:
            solutions.damping[moved] /= share[better]  # on a curved surface: shorter, turned
            for k, part in zip(moved, share[better], strict=True):
                if k in self.ways:
                    self.surface.push(k, part * self.ways[k][1])
        self._switch(active)
        stale = active[better | self.switched[active]]
        self._expand(stale[~solutions.converged[stale]])

    def _tried(self, which: Array, step: Array) -> tuple[Array, Array]:
        """The motions after a step, on the surface if there is one, and their values."""
        self.solutions.evaluations[which] += 1
        c = self.solutions.c[which] + step
        met = self._returned(c, which)
        c[~met] = self.solutions.c[which[~met]]
        return c, np.where(met, self.objective.values(c, which), np.inf)

    def _returned(self, c: Array, which: Array) -> Array:
        """Bring motions back to the surface, in place; whether they reached it."""
        if self.surface is None:
            return np.ones(len(c), bool)
        for _ in range(RETURNS):
            rows = self.surface.rows(c, which)
            size = np.abs(rows).max(axis=1)
            off = ~(size < self.surface.met)
            if not off.any():
                break
            for k in np.flatnonzero(off & (size < LOST)):
                c[k] += self.ways[which[k]][0].back(rows[k]).reshape(c.shape[1:])
        return ~off

    def _better(self, which: Array, value: Array, predicted: Array, floor: Array) -> Array:
        """Whether values are lower than before, or equal up to rounding."""
        gained = self.solutions.value[which] - value
        better = np.isfinite(value) & ((gained > 0.0) | (predicted <= floor))
        return better & (gained >= -8.0 * floor)

    def _expand(self, which: Array) -> None:
        """Update values and derivatives at the current coefficients."""
        self.switched = np.zeros(len(self.everything), bool)
        for exact in (False, True):
            some = which[self.exact[which] == exact]
            if some.size:
                at = self.objective.expansion(self.solutions.c[some], some, exact)
                self.solutions.value[some], self.gradient[some] = at.value, at.gradient
                if not self.bands.size:
                    self.bands = np.zeros((len(self.everything), *at.bands.shape[1:]))
                self.bands[some] = at.bands
                if self.surface is not None:
                    rows, J = self.surface.expand(self.solutions.c[some], some)
                    for k, problem in enumerate(some):
                        self.rows[problem], self.J[problem] = rows[k], J[k]
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
        """Update the damping of each problem by the gain ratio of its step."""
        damping, growth = self.solutions.damping, self.growth
        up, down = active[~better], active[better]
        damping[up] *= growth[up]
        growth[up] *= 2.0
        share = np.clip(gain[better], -1.0, 2.0)
        least = 1.0 / 16.0 if self.surface is None else BENT
        factor = np.clip(1.0 - (2.0 * share - 1.0) ** 3, least, 2.0)
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
            step, good = self._damped(some, right[left], damping[some] * self.scale[some])
            good &= np.abs(step).max(axis=1) <= FARTHEST
            found[left[good]] = step[good]
            left, some = left[~good], some[~good]
            damping[some] = np.maximum(damping[some] * growth[some], 1e-9)
            growth[some] *= 2.0
            left = left[damping[some] < LARGEST]
        return found

    def _damped(self, which: Array, right: Array, shift: Array) -> tuple[Array, Array]:
        """Steps with this damping, along the surface if there is one, and which of them exist."""
        if self.surface is None:
            return solve_bands(self.bands[which], right, shift)
        rows, J = [self.rows[k] for k in which], [self.J[k] for k in which]
        step, good, ways = _along(self.bands[which], right, shift, rows, J)
        self.ways |= {k: way for k, way in zip(which, ways, strict=True) if way is not None}
        return step, good
