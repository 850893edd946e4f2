"""Optimal control by sampling: predictive sampling and model-predictive path integrals.

Source: T. Howell et al., Predictive sampling: real-time behaviour synthesis with MuJoCo (2022);
G. Williams, A. Aldrich & E. Theodorou, Model predictive path integral control (2017).

    paper    code          meaning
    sigma    noise         standard deviation of the controls' changes
    lambda   temperature   of the weights exp(-(cost - least) / lambda)
"""

from __future__ import annotations

import numpy as np

from kinetree.errors import KinetreeError, among, unknown
from kinetree.motion.arrays import Array
from kinetree.motion.control_problem import ControlProblem
from kinetree.robot.checks import count, generator, number, spread
from kinetree.typing import ArrayLike

KINDS = ("mppi", "predictive")


class Sampler:
    """Improves controls by random sampling around them.

    Arguments:
        problem: what moves, and what it costs.
        kind: "mppi", the average weighted by costs; or "predictive", the best.
        samples: the number of samples in a round.
        knots: the number of points between which controls are interpolated linearly.
        noise: of the controls, a number or (nu,); by default a quarter of the range of bounds.
        temperature: of the weights, relative to the spread of the costs.
        seed: of the random numbers.
    """

    def __init__(
        self,
        problem: ControlProblem,
        kind: str = "mppi",
        samples: int = 256,
        knots: int = 8,
        noise: ArrayLike | None = None,
        temperature: float = 0.1,
        seed: int = 0,
    ) -> None:
        if not among(kind, KINDS):
            raise unknown("method", kind, KINDS, "sampling")
        knots = count("knots", knots)
        self.problem, self.kind, self.samples = problem, kind, count("samples", samples)
        self.temperature = number("temperature", temperature, above=0.0)
        self._rng = generator("seed", seed)
        span = problem.upper - problem.lower
        usual = np.where(np.isfinite(span), 0.25 * span, 1.0)
        self.noise = usual if noise is None else spread("noise", noise, (problem.nu,))
        place = np.linspace(0.0, knots - 1.0, problem.steps)
        near = np.minimum(place.astype(int), max(knots - 2, 0))
        self._mix = np.zeros((problem.steps, knots))
        rows = np.arange(problem.steps)
        self._mix[rows, near] = 1.0 - (place - near)
        if knots > 1:
            self._mix[rows, near + 1] += place - near

    def improve(self, q0: Array, v0: Array, u: Array, start: float = 0.0) -> tuple[Array, Array]:
        """Better controls than given ones.

        Arguments:
            q0, v0: states, (..., nq) and (..., nv).
            u: controls, (..., steps, nu).
            start: the time of the first state, s.

        Returns:
            Controls (..., steps, nu), and the least costs of the samples, (...).
        """
        problem = self.problem
        shape = (*u.shape[:-2], self.samples, self._mix.shape[1], problem.nu)
        change = self._mix @ (self._rng.standard_normal(shape) * self.noise)
        change[..., 0, :, :] = 0.0  # the given controls themselves
        tried = np.clip(u[..., None, :, :] + change, problem.lower, problem.upper)
        q, v = problem.roll(q0[..., None, :], v0[..., None, :], tried)
        value = problem.costs(q, v, tried, start)
        value = np.where(np.isfinite(value), value, np.inf)
        least = value.min(axis=-1, keepdims=True)
        if self.kind == "predictive":
            best = np.argmin(value, axis=-1)[..., None, None, None]
            return np.take_along_axis(tried, best, axis=-3)[..., 0, :, :], least[..., 0]
        finite = np.isfinite(value)
        if not finite.any(axis=-1).all():
            raise KinetreeError(
                f"all {self.samples} motions that were tried diverge or have no finite cost: "
                "choose a smaller noise, or a smaller dt"
            )
        above = np.where(finite, value - least, 0.0)
        spread = np.std(above, axis=-1, where=finite, keepdims=True)
        scale = np.maximum(self.temperature * spread, 1e-300)
        weights = np.where(finite, np.exp(-above / scale), 0.0)
        weights /= weights.sum(axis=-1, keepdims=True)
        return np.einsum("...s,...stu->...tu", weights, tried), least[..., 0]
