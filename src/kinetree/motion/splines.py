"""Clamped B-splines and the grids of times at which they are sampled.

A spline is linear in its coefficients c, and between two knots only degree + 1 of them count. So
the second derivative of a sum over samples by c is a band matrix.

    code   meaning
    u      time over duration, from 0 to 1
    N      values of the basis functions, and of their first and second rates, by interval
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array


def scipy_module(name: str) -> Any:
    """A module of SciPy, imported when it is first needed, because that takes time."""
    return import_module(f"scipy.{name}")


@dataclass(frozen=True)
class Basis:
    """A clamped B-spline basis with equal intervals on [0, 1].

    count: the number of basis functions.
    degree: of their polynomials.
    """

    count: int
    degree: int

    @property
    def intervals(self) -> int:
        """The number of intervals between the knots."""
        return self.count - self.degree

    @cached_property
    def knots(self) -> Array:
        """All knots, those at the ends repeated, (count + degree + 1,)."""
        inner = np.linspace(0.0, 1.0, self.intervals + 1)
        return np.concatenate([[0.0] * self.degree, inner, [1.0] * self.degree])

    @cached_property
    def greville(self) -> Array:
        """The Greville abscissae: the coefficients of a line are its values there, (count,)."""
        k = self.knots
        return np.array([k[i + 1 : i + 1 + self.degree].mean() for i in range(self.count)])

    def values(self, u: Array, rate: int = 0) -> Array:
        """The basis functions, or their rates by u, at given times, (..., count)."""
        unit = scipy_module("interpolate").BSpline(self.knots, np.eye(self.count), self.degree)
        return unit(np.asarray(u, float), rate)

    def end(self, state: Array, duration: float, last: bool) -> Array:
        """The first (or last) coefficients, from the state at that end.

        Arguments:
            state: q and its rates by time, (..., rates, n).
            duration: of the motion, s.
            last: whether the state is the last one.

        Returns:
            (..., rates, n).
        """
        count = state.shape[-2]
        at = slice(self.count - count, None) if last else slice(0, count)
        u = 1.0 if last else 0.0
        rows = [self.values(u, k)[at] / duration**k for k in range(count)]
        return np.linalg.solve(np.array(rows), state)


@dataclass(frozen=True)
class Grid:
    """Sample times, equally many in each interval of a basis.

    u: (intervals, samples).
    weights: of the quadrature over u, (intervals, samples); zero for padding.
    N: values, first and second rates by u of the basis functions that count in an interval,
        (3, intervals, samples, degree + 1).
    """

    u: Array
    weights: Array
    N: Array

    @staticmethod
    def of(basis: Basis, u: Array, weights: Array) -> Grid:
        """The grid of times and weights, each (intervals, samples)."""
        local = np.arange(basis.intervals)[:, None] + np.arange(basis.degree + 1)
        whole = np.array([basis.values(u, rate) for rate in range(3)])
        N = np.take_along_axis(whole, local[None, :, None, :], axis=-1)
        return Grid(u, weights, np.ascontiguousarray(N))

    @staticmethod
    def gauss(basis: Basis, points: int) -> Grid:
        """Gauss-Legendre quadrature between each two knots."""
        nodes, weights = np.polynomial.legendre.leggauss(points)
        length = 1.0 / basis.intervals
        start = np.arange(basis.intervals)[:, None] * length
        u = start + length * (nodes + 1.0) / 2.0
        return Grid.of(basis, u, np.broadcast_to(length * weights / 2.0, u.shape).copy())

    @staticmethod
    def lobatto(basis: Basis, points: int) -> Grid:
        """Gauss-Lobatto quadrature between each two knots, these included."""
        inner = np.polynomial.legendre.Legendre.basis(points - 1)
        nodes = np.concatenate([[-1.0], np.sort(inner.deriv().roots().real), [1.0]])
        weights = 2.0 / (points * (points - 1) * inner(nodes) ** 2)
        length = 1.0 / basis.intervals
        u = (np.arange(basis.intervals)[:, None] + (nodes + 1.0) / 2.0) * length
        return Grid.of(basis, u, np.broadcast_to(length * weights / 2.0, u.shape).copy())

    @staticmethod
    def at(basis: Basis, u: Array, weight: float) -> Grid:
        """Given times, sorted into intervals, which are padded to the same number."""
        place = np.clip((np.asarray(u) * basis.intervals).astype(int), 0, basis.intervals - 1)
        most = max(int(np.bincount(place, minlength=basis.intervals).max()), 1)
        times = np.repeat((np.arange(basis.intervals)[:, None] + 0.5) / basis.intervals, most, 1)
        weights = np.zeros_like(times)
        for i in range(basis.intervals):
            inside = np.asarray(u)[place == i]
            times[i, : len(inside)], weights[i, : len(inside)] = inside, weight
        return Grid.of(basis, times, weights)

    def motion(self, c: Array, duration: float) -> tuple[Array, Array, Array]:
        """q, v and a at the samples, each (..., intervals, samples, n), from c (..., count, n)."""
        intervals, _, wide = self.N.shape[1:]
        near = np.arange(intervals)[:, None] + np.arange(wide)
        local = np.take(c, near, axis=-2)  # (..., intervals, degree + 1, n)
        q, v, a = (N @ local for N in self.N)
        return q, v / duration, a / duration**2

    def gradient(self, rates: tuple[Array, Array, Array], duration: float) -> Array:
        """The derivative of a sum by c, (..., count, n), from those by q, v and a at samples."""
        scale = (1.0, 1.0 / duration, 1.0 / duration**2)
        transposed = self.N.swapaxes(-1, -2)
        local = sum(
            (s * (N @ g) for s, N, g in zip(scale, transposed, rates, strict=True)),
            start=np.zeros(()),
        )
        return _overlapped(local)


def _overlapped(local: Array) -> Array:
    """The sum of the intervals' contributions to each coefficient: (..., count, n)."""
    intervals, wide, n = local.shape[-3:]
    whole = np.zeros((*local.shape[:-3], intervals + wide - 1, n))
    for k in range(wide):
        whole[..., k : k + intervals, :] += local[..., k, :]
    return whole


def bands(local: Array) -> Array:
    """The blocks on and below the diagonal: [k, d] is that of coefficients k + d and k.

    Arguments:
        local: each interval's second derivatives, (..., intervals, degree + 1, n, degree + 1, n).

    Returns:
        (..., count, degree + 1, n, n).
    """
    *batch, intervals, wide, n, _, _ = local.shape
    whole = np.zeros((*batch, intervals + wide - 1, wide, n, n))
    for i in range(wide):
        for j in range(i + 1):
            whole[..., j : j + intervals, i - j, :, :] += local[..., :, i, :, j, :]
    return whole


def checked_basis(count: int, degree: int, fixed: int) -> Basis:
    """A basis with room for free coefficients."""
    if degree not in (3, 4, 5):
        raise KinetreeError(f"degree={degree!r}: 3, 4 or 5 is expected")
    least = max(degree + 1, fixed + 1)
    if count < least:
        raise KinetreeError(
            f"coefficients={count!r}: at least {least} are expected; {fixed} of them are fixed by "
            "the states at the ends"
        )
    return Basis(count, degree)


def through_derivatives(x: Array, values: Array) -> Any:
    """The piecewise polynomial with given values and derivatives at its breaks, of least degree.

    Arguments:
        x: the breaks, increasing, (T,).
        values: values and derivatives there, (T, m, n); the degree is 2 m - 1.

    Returns:
        SciPy's `PPoly`.
    """
    m = values.shape[1]
    powers = np.arange(2 * m)
    # derivatives of u^k at u = 0 and at u = 1, u from 0 to 1 in each interval
    falling = np.array([[float(_falling(k, d)) for k in powers] for d in range(m)])
    at_zero = np.where(powers == np.arange(m)[:, None], falling, 0.0)
    solve = np.linalg.inv(np.concatenate([at_zero, falling]))
    h = np.diff(x)
    scale = h[:, None] ** np.arange(m)
    ends = np.concatenate([values[:-1] * scale[..., None], values[1:] * scale[..., None]], axis=1)
    c = np.einsum("kj,tjn->ktn", solve, ends) / (h ** powers[:, None])[..., None]
    return scipy_module("interpolate").PPoly(c[::-1], x)


def _falling(k: int, d: int) -> int:
    """k (k - 1) ... (k - d + 1)."""
    return math.perm(int(k), d)
