"""The cost of spline motions as a function of their coefficients, with band matrices.

symbol   code   meaning
c        c      coefficients; the first and last are fixed, those between are the unknowns
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kinetree._lazy import cached_property
from kinetree.motion.arrays import Array
from kinetree.motion.band_sums import BandSums
from kinetree.motion.newton import Expansion
from kinetree.motion.splines import Grid
from kinetree.motion.terms import Sampled, State, Term

if TYPE_CHECKING:
    from kinetree.robot import Robot

Key = TypeVar("Key", bound=Hashable)
RATE = {"q": 0, "v": 1, "a": 2}
"""Maps a coordinate or its rate to its order of differentiation."""


class Integral:
    """Terms that are integrated over time by the samples of one grid.

    Arguments:
        robot: its velocities are rates of its coordinates.
        grid: the samples.
        terms: the summands.
        duration: of the motion, s.
    """

    def __init__(self, robot: Robot, grid: Grid, terms: Sequence[Term], duration: float) -> None:
        self.robot, self.grid, self.duration = robot, grid, duration
        self.terms = list(terms)
        self.weights = grid.weights * duration
        scale = np.array([1.0, 1.0 / duration, 1.0 / duration**2])
        self._N = grid.N * scale[:, None, None, None]

    @property
    def forces(self) -> bool:
        """Whether any term needs the joint forces."""
        return any(term.needs_forces for term in self.terms)

    def state(self, c: Array) -> State:
        """The motion at the samples, from all coefficients (problems, count, n)."""
        q, v, a = self.grid.motion(c, self.duration)
        tau = self.robot.inverse_dynamics(q, v, a) if self.forces else None
        return State(self.grid.u * self.duration, q, v, a, tau)

    def values(self, c: Array, which: Array) -> Array:
        """The sum over samples and terms, (problems,)."""
        state = self.state(c)
        total = sum((term.value(state, which) for term in self.terms), start=np.zeros(()))
        return self.integrated(total)

    def expand(self, c: Array, which: Array, exact: bool, total: Array) -> tuple[Array, Array]:
        """The sum and its gradient by all coefficients; second derivatives are added to an array.

        Arguments:
            exact: whether the second derivatives of tau count, and those of terms are exact.
            total: band matrices, (problems, coefficients, wide, n, n).
        """
        state = self.state(c)
        terms = _summed(
            [(x.derivatives if exact else x.approximate)(state, which) for x in self.terms]
        )
        first = dict(terms.first)
        D: Sequence[Array] = ()
        if "tau" in first:
            D = self.robot.inverse_dynamics_derivatives(state.q, state.v, state.a)
            y = first.pop("tau")
            slopes = [(y[..., None, :] @ by)[..., 0, :] for by in D]
            _add_to(first, dict(zip(RATE, slopes, strict=True)))
            if exact:
                terms.second = dict(terms.second)
                _add_to(terms.second, self._bent(state, y))
        self.sums.add(total, terms, D)
        return self.integrated(terms.value), self._gradient(first, state.q.shape)

    @cached_property
    def sums(self) -> BandSums:
        """Adds second derivatives at the samples to band matrices."""
        return BandSums(self._N, self.weights)

    @property
    def wide(self) -> int:
        """The number of coefficients that affect an interval."""
        return self._N.shape[-1]

    def value_and_gradient(self, c: Array, which: Array) -> tuple[Array, Array]:
        """The sum and its gradient by all coefficients, by a reverse sweep."""
        state = self.state(c)
        terms = _summed([term.derivatives(state, which) for term in self.terms])
        first = dict(terms.first)
        if "tau" in first:
            kernel = self.robot.kernel("inverse_dynamics").vjp(tuple(RATE))
            swept = kernel(state.q, state.v, state.a, first.pop("tau"))
            _add_to(first, dict(zip(RATE, swept, strict=True)))
        return self.integrated(terms.value), self._gradient(first, state.q.shape)

    def by_coefficients(
        self, state: State, slopes: Mapping[str, Array], at: tuple[Array, ...]
    ) -> Array:
        """The derivatives of rows at single samples by all coefficients.

        Arguments:
            state: the motion at the samples.
            slopes: by q and tau, (problems, intervals, samples, rows, n) each.
            at: the interval, the sample and the row of each, three arrays.

        Returns:
            (problems, rows, count, n).
        """
        interval, sample, row = at
        here = {x: by[:, interval, sample, row] for x, by in slopes.items()}  # (problems, rows, n)
        rates = {"q": here["q"]} if "q" in here else {}
        if "tau" in here:
            D = self.robot.inverse_dynamics_derivatives(state.q, state.v, state.a)
            swept = [(here["tau"][..., None, :] @ by[:, interval, sample])[..., 0, :] for by in D]
            _add_to(rates, dict(zip(RATE, swept, strict=True)))
        first = next(iter(here.values()))
        J = np.zeros((*first.shape[:2], len(self.grid.u) + self.wide - 1, first.shape[-1]))
        rows = np.arange(first.shape[1])
        for name, by in rates.items():
            N = self._N[RATE[name]][interval, sample]  # (rows, wide)
            for k in range(self.wide):
                J[:, rows, interval + k] += N[:, k, None] * by
        return J

    def accelerations(self) -> Array:
        """The map from all coefficients to accelerations at samples, each times its weight's root.

        Returns:
            (samples, count).
        """
        intervals, samples, wide = self._N.shape[1:]
        rows = np.zeros((intervals, samples, intervals + wide - 1))
        for i in range(intervals):
            rows[i, :, i : i + wide] = self._N[2, i] * np.sqrt(self.weights[i])[:, None]
        return rows.reshape(intervals * samples, -1)

    def integrated(self, value: Array) -> Array:
        """The sum over the samples, (problems,), of values at each."""
        return (value * self.weights).sum(axis=(-1, -2))

    def _gradient(self, first: dict[str, Array], shape: tuple[int, ...]) -> Array:
        """The gradient by all coefficients, from those by q, v and a at the samples."""
        q, v, a = (self.weights[..., None] * first.get(x, np.zeros(shape)) for x in RATE)
        return self.grid.gradient((q, v, a), self.duration)

    def _bent(self, state: State, y: Array) -> dict[tuple[str, str], Array]:
        """The second derivatives of y^T tau by coordinates and their rates, y constant."""
        pairs = (("q", "q"), ("q", "v"), ("v", "v"), ("q", "a"))
        q, v, a = state.q, state.v, state.a
        second = self.robot.derivatives.inverse_dynamics_second(q, v, a, y)
        return dict(zip(pairs, second, strict=True))


def _add_to(sums: dict[Key, Array], added: Mapping[Key, Array]) -> None:
    """Add arrays to sums, each to the one of its key."""
    for key, x in added.items():
        sums[key] = sums[key] + x if key in sums else x


def _summed(parts: Sequence[Sampled]) -> Sampled:
    """The sum of terms."""
    total = Sampled(np.zeros(()))
    for part in parts:
        total.value = total.value + part.value
        for name in ("first", "diagonal", "second"):
            _add_to(getattr(total, name), getattr(part, name))
    coupled = [x for x in parts if any("tau" in key for key in x.second)]
    if len(coupled) == 1:
        total.blocks = coupled[0].blocks
    return total


class SplineObjective:
    """The sum of parts as a function of the free coefficients.

    Arguments:
        parts: over grids of the same basis.
        ends: the first and the last coefficients, which stay, (problems, fixed, n) each.
    """

    def __init__(self, parts: Sequence[Integral], ends: tuple[Array, Array]) -> None:
        self.parts, self.ends = list(parts), ends

    def whole(self, c: Array, which: Array) -> Array:
        """All coefficients, (problems, count, n)."""
        first, last = self.ends
        return np.concatenate([first[which], c, last[which]], axis=1)

    def values(self, c: Array, which: Array) -> Array:
        """The cost of each problem, (problems,)."""
        whole = self.whole(c, which)
        return sum((part.values(whole, which) for part in self.parts), start=np.zeros(len(c)))

    def expansion(self, c: Array, which: Array, exact: bool = True) -> Expansion:
        """The cost and its derivatives by the free coefficients."""
        whole = self.whole(c, which)
        n, wide = c.shape[-1], self.parts[0].wide
        bands = np.zeros((*whole.shape[:2], wide, n, n))
        value, gradient = np.zeros(len(c)), np.zeros(whole.shape)
        for part in self.parts:
            added, slope = part.expand(whole, which, exact, bands)
            value, gradient = value + added, gradient + slope
        free = slice(self.ends[0].shape[1], self.ends[0].shape[1] + c.shape[1])
        return Expansion(value, gradient[:, free], bands[:, free])

    def value_and_gradient(self, c: Array, which: Array) -> tuple[Array, Array]:
        """The cost and its gradient by the free coefficients, without second derivatives."""
        whole = self.whole(c, which)
        free = slice(self.ends[0].shape[1], self.ends[0].shape[1] + c.shape[1])
        value, gradient = np.zeros(len(c)), np.zeros(whole.shape)
        for part in self.parts:
            added, slope = part.value_and_gradient(whole, which)
            value, gradient = value + added, gradient + slope
        return value, gradient[:, free]
