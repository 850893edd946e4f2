"""Newton's method with Levenberg and Marquardt's damping, for many problems with band matrices.

Source: K. Madsen, H. B. Nielsen & O. Tingleff, Methods for non-linear least squares problems
(2004), section 3.2: the damping and how it changes with the gain.

differs: Gauss and Newton's matrix leads far along curved valleys but converges linearly where
residuals are not small. So a problem begins with it, and takes the exact second derivatives once
that gains little. The damping is then also raised until the matrix is positive definite. It
multiplies the unit matrix, not the diagonal: motions bend with angles, whatever a joint's inertia.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from kinetree.motion.arrays import Array
from kinetree.motion.splines import scipy_module

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
        """Values and derivatives at c; second derivatives are exact, or Gauss and Newton's."""


@dataclass
class Found:
    """What the minimisation of many problems gave.

    c: the best coefficients, (problems, blocks, n).
    value: (problems,).
    optimality: the largest entry of the gradient over that at the start, (problems,).
    converged: (problems,).
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
    def at(c: Array, value: Array) -> Found:
        """What is known before anything is done: coefficients and their values."""
        n = len(c)
        zeros, none, count = np.zeros(n), np.zeros(n, bool), np.zeros(n, int)
        state = (zeros.copy(), none.copy(), count, count.copy(), zeros, none)
        return Found(c, value, *state)


def minimize(
    objective: Objective,
    start: Array,
    tolerance: float,
    iterations: int,
    reference: Array | None = None,
    exact: str = "late",
    progress: Callable[[Array], object] | None = None,
    before: Found | None = None,
) -> Found:
    """Minimise all problems at once; each stops when its own gradient is small.

    Arguments:
        start: (problems, blocks, n).
        tolerance: of the gradient, relative to `reference`.
        iterations: at most so many.
        reference: what gradients are relative to, (problems,); that at the start if None.
        exact: whether second derivatives are exact: "late", "always" or "never".
        progress: called with the values after each iteration. KeyboardInterrupt ends the
            minimisation with the best so far.
        before: of a minimisation that this one continues.
    """
    return _Minimization(objective, start, tolerance, reference, exact, before).run(
        iterations, progress
    )


class _Minimization:
    """The state of all problems between iterations."""

    def __init__(
        self,
        objective: Objective,
        start: Array,
        tolerance: float,
        reference: Array | None,
        exact: str,
        before: Found | None,
    ) -> None:
        self.lapack = scipy_module("linalg.lapack")
        self.objective, self.tolerance, self.mode = objective, tolerance, exact
        self.everything = np.arange(len(start))
        self.exact = np.full(len(start), exact == "always")
        if before is not None:
            self.exact |= before.exact
        self.gradient = np.zeros_like(start)
        self.bands: Array = np.zeros(0)
        self.growth = np.full(len(start), 2.0)
        ones = np.ones(len(start), int)
        self.found = found = Found(
            c=start.copy(),
            value=np.zeros(len(start)),
            optimality=np.zeros(len(start)),
            converged=np.zeros(len(start), bool),
            iterations=0 * ones,
            evaluations=ones.copy(),
            damping=np.full(len(start), FIRST) if before is None else before.damping.copy(),
            exact=self.exact,
        )
        self.reference: Array = np.ones(len(start)) if reference is None else reference
        self._expand(self.everything)
        size = _largest(self.gradient)
        if reference is None:
            self.reference = np.where(size > 0.0, size, 1.0)
        found.optimality = size / self.reference
        found.converged = size <= tolerance * self.reference
        found.history.append(found.value.copy())
        self.scale = np.maximum(np.abs(found.value), 1e-12)

    def run(self, iterations: int, progress: Callable[[Array], object] | None) -> Found:
        """Iterate until every problem has converged or cannot go on."""
        found = self.found
        try:
            for _ in range(iterations):
                active = self.everything[~found.converged & (found.damping < LARGEST)]
                if not active.size:
                    break
                self._iterate(active)
                found.history.append(found.value.copy())
                if progress is not None:
                    progress(found.value)
        except KeyboardInterrupt:
            found.interrupted = True
        return found

    def _iterate(self, active: Array) -> None:
        """One step of every active problem."""
        found = self.found
        step, predicted = self._steps(active)
        trial = found.c[active] + step
        value = self.objective.values(trial, active)
        found.evaluations[active] += 1
        gained = found.value[active] - value
        floor = STALLED * np.abs(found.value[active])
        better = np.isfinite(value) & ((gained > 0.0) | (predicted <= floor))
        better &= gained >= -8.0 * floor
        gain = gained / np.maximum(predicted, 1e-300)
        self._damp(active, np.where(np.isfinite(gain), gain, -1.0), better)
        moved = active[better]
        found.c[moved] = trial[better]
        self._switch(active)
        self._expand(active[better | self.switched[active]])
        found.optimality[moved] = _largest(self.gradient[moved]) / self.reference[moved]
        found.converged[moved] = found.optimality[moved] <= self.tolerance

    def _expand(self, which: Array) -> None:
        """Values and derivatives where problems are now."""
        self.switched = np.zeros(len(self.everything), bool)
        for exact in (False, True):
            some = which[self.exact[which] == exact]
            if some.size:
                at = self.objective.expansion(self.found.c[some], some, exact)
                self.found.value[some], self.gradient[some] = at.value, at.gradient
                if not self.bands.size:
                    self.bands = np.zeros((len(self.everything), *at.bands.shape[1:]))
                self.bands[some] = at.bands
                self.found.iterations[some] += 1

    def _switch(self, active: Array) -> None:
        """Change to exact second derivatives where the last steps gained little."""
        history = self.found.history
        if self.mode != "late" or len(history) < WINDOW:
            return
        before = history[-WINDOW][active]
        little = before - self.found.value[active] < LITTLE * np.abs(before)
        some = active[little & ~self.exact[active]]
        self.exact[some] = self.switched[some] = True

    def _damp(self, active: Array, gain: Array, better: Array) -> None:
        """The damping of each problem, after a step that gained so much of what was predicted."""
        damping, growth = self.found.damping, self.growth
        up, down = active[~better], active[better]
        damping[up] *= growth[up]
        growth[up] *= 2.0
        share = np.clip(gain[better], -1.0, 2.0)
        factor = np.clip(1.0 - (2.0 * share - 1.0) ** 3, 1.0 / 16.0, 2.0)
        damping[down] = np.maximum(damping[down] * factor, SMALLEST)
        growth[down] = 2.0

    def _steps(self, active: Array) -> tuple[Array, Array]:
        """The step of each active problem, and the decrease that its quadratic model predicts."""
        lower = _lapack_bands(self.bands[active])
        g = self.gradient[active].reshape(len(active), -1)
        step = np.empty_like(g)
        for row, problem in enumerate(active):
            step[row] = self._solved(lower[row], -g[row], problem)
        # -(g.s + s.H.s / 2) with (H + damping) s = -g
        damping = self.found.damping[active] * self.scale[active]
        predicted = 0.5 * (damping * (step**2).sum(axis=1) - (g * step).sum(axis=1))
        return step.reshape(len(active), *self.gradient.shape[1:]), predicted

    def _solved(self, lower: Array, right: Array, problem: int) -> Array:
        """The damped step; the damping is raised until there is one."""
        lapack = self.lapack
        damping, growth = self.found.damping, self.growth
        while damping[problem] < LARGEST:
            matrix = lower.copy()
            matrix[:, 0] += damping[problem] * self.scale[problem]
            factor, fault = lapack.dpbtrf(matrix.T, lower=1, overwrite_ab=1)
            if fault == 0:
                step = lapack.dpbtrs(factor, right, lower=1)[0]
                if np.abs(step).max() <= FARTHEST:
                    return step
            damping[problem] = max(damping[problem] * growth[problem], 1e-9)
            growth[problem] *= 2.0
        return np.zeros_like(right)


def _largest(gradient: Array) -> Array:
    return np.abs(gradient).max(axis=(1, 2), initial=0.0)


def _lapack_bands(band: Array) -> Array:
    """Blocks below the diagonal as LAPACK wants them, but transposed: column r is diagonal r."""
    problems, blocks, wide, n, _ = band.shape
    size = wide * n
    found = np.zeros((problems, blocks, n, size))
    whole = band.reshape(problems, blocks, size, n)
    for j in range(n):  # column j of each block starts at its own diagonal
        found[:, :, j, : size - j] = whole[:, :, j:, j]
    return found.reshape(problems, blocks * n, size)
