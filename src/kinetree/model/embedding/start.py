"""The start of Newton's method: a polynomial that was fitted to solutions over the whole range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.scalar import Scalar, cos, maximum, minimum, sin
from kinetree.scalar.dual import Dual


@dataclass(frozen=True)
class Axis:
    """One independent coordinate of a fit.

    Arguments:
        lower, upper: its range; equal for an angle that turns all the way round.
    """

    lower: float
    upper: float

    @property
    def turns(self) -> bool:
        """Whether it is an angle without limits."""
        return self.lower == self.upper

    def functions(self, x: Scalar, degree: int) -> list[Scalar]:
        """Chebyshev polynomials on the range; 1, cos x, sin x, cos 2x, ... of an angle.

        Arguments:
            x: the coordinate; clipped to the range.
            degree: of the highest function.

        Returns:
            The values of the functions; an angle has two for each degree but zero.
        """
        if self.turns:
            return self._waves(cos(x), sin(x), degree)
        z = (x - 0.5 * (self.lower + self.upper)) * (2.0 / (self.upper - self.lower))
        z = maximum(-1.0, minimum(1.0, z))
        values: list[Scalar] = [1.0, z]
        for _ in range(2, degree + 1):
            values.append(z * values[-1] * 2.0 - values[-2])
        return values[: degree + 1]

    def _waves(self, c: Scalar, s: Scalar, degree: int) -> list[Scalar]:
        values: list[Scalar] = [1.0]
        wave: tuple[Scalar, Scalar] = (1.0, 0.0)
        for _ in range(degree):
            wave = (wave[0] * c - wave[1] * s, wave[1] * c + wave[0] * s)
            values += wave
        return values

    def degree_of(self, index: int) -> int:
        """The degree of a function by its index in `functions`."""
        return (index + 1) // 2 if self.turns else index


@dataclass(frozen=True)
class Fit:
    """Coordinates as sums of products of functions, one function of each independent coordinate.

    Arguments:
        axes: the independent coordinates.
        degree: of the highest function.
        terms: the indices of the functions in each product.
        windings: for each result, its number of turns in a turn of each axis.
        coefficients: for each result, one for each product.
    """

    axes: tuple[Axis, ...]
    degree: int
    terms: tuple[tuple[int, ...], ...]
    windings: tuple[tuple[float, ...], ...]
    coefficients: tuple[tuple[float, ...], ...]

    def values(self, q: Sequence[Scalar]) -> list[Scalar]:
        """The results at independent coordinates, without rates: they only approximate solutions.

        Arguments:
            q: the coordinates, one for each axis.

        Returns:
            A scalar for each result.
        """
        q, levels = plain_values(q)
        products = _products(self.axes, self.degree, self.terms, q)
        results = []
        for turns, numbers in zip(self.windings, self.coefficients, strict=True):
            pairs = [*zip(turns, q, strict=True), *zip(numbers, products, strict=True)]
            results.append(sum((p * c for c, p in pairs if c), start=0))
        return lifted_values(results, levels)


def fitted(axes: tuple[Axis, ...], degree: int, q: np.ndarray, results: np.ndarray,
           windings: np.ndarray) -> Fit:  # fmt: skip
    """The fit of least squares to results at some configurations.

    Arguments:
        axes: the independent coordinates.
        degree: at most this in total.
        q: configurations, (n, axes).
        results: at these, (n, results).
        windings: as in `Fit`, (results, axes).

    Returns:
        The fit.
    """
    counts = [len(axis.functions(0.0, degree)) for axis in axes]
    grid = [[axis.degree_of(k) for k in range(n)] for axis, n in zip(axes, counts, strict=True)]
    terms = tuple(
        index
        for index in np.ndindex(*counts)
        if sum(grid[a][k] for a, k in enumerate(index)) <= degree
    )
    columns: list[Any] = _products(axes, degree, terms, list(q.T))
    A = np.stack([np.broadcast_to(np.asarray(c, float), len(q)) for c in columns], axis=1)
    x, *_ = np.linalg.lstsq(A, results - q @ windings.T, rcond=None)
    small = np.abs(x) < 1e-12 * max(1.0, np.abs(x).max())
    coefficients = tuple(tuple(row) for row in np.where(small, 0.0, x).T.tolist())
    return Fit(axes, degree, terms, tuple(map(tuple, windings.tolist())), coefficients)


def _products(
    axes: Sequence[Axis], degree: int, terms: Sequence[Sequence[int]], q: Sequence[Scalar]
) -> list[Scalar]:
    functions = [axis.functions(x, degree) for axis, x in zip(axes, q, strict=True)]
    products = []
    for term in terms:
        value: Scalar = 1.0
        for k, of_axis in zip(term, functions, strict=True):
            value = of_axis[k] * value
        products.append(value)
    return products


def plain_values(values: Sequence[Scalar]) -> tuple[list[Scalar], int]:
    """Values without their rates.

    Arguments:
        values: scalars, of which some are dual numbers.

    Returns:
        The values, and the number of levels of dual numbers.
    """
    plain, levels = [], 0
    for x in values:
        depth = 0
        while isinstance(x, Dual):
            x, depth = x.value, depth + 1
        plain.append(x)
        levels = max(levels, depth)
    return plain, levels


def lifted_values(values: Sequence[Scalar], levels: int) -> list[Scalar]:
    """Values, plain ones as dual numbers of rate zero.

    Arguments:
        values: scalars.
        levels: of dual numbers.

    Returns:
        Scalars.
    """
    result = list(values)
    for _ in range(levels):
        result = [
            x if isinstance(given, Dual) else Dual(x, 0)
            for x, given in zip(result, values, strict=True)
        ]
    return result
