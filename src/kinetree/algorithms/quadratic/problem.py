"""A convex quadratic program with sparse rows.

    min 1/2 x^T H x + g^T x    with    A x = b,    l <= C x <= u

The sparsity pattern is known when a program is traced, and is the same in every state: `Pattern`.
The values vary: `Quadratic`.

    symbol    code       meaning
    H, g      H g        the cost; H is positive definite
    A, b      A b        equations
    C, l, u   C l u      inequalities; a row may have one bound or both
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.ltl import Row, is_zero
from kinetree.scalar import Scalar, sqrt

TINY = 1e-30
"""Added to the square of a row's length: rows may be zero in a state."""


@dataclass(frozen=True)
class Pattern:
    """The sparsity pattern of a quadratic program: (row, column) of each entry.

    unknowns: their number.
    H: entries of the lower triangle.
    sides: the bounds: (row of C, 1 for an upper one or -1 for a lower one).
    equations, inequalities: the number of rows of A and of C.
    """

    unknowns: int
    H: tuple[tuple[int, int], ...]
    A: tuple[tuple[int, int], ...]
    C: tuple[tuple[int, int], ...]
    sides: tuple[tuple[int, float], ...]
    equations: int
    inequalities: int

    def rows(self, values: Sequence[Scalar], which: str) -> list[Row]:
        """The rows of a matrix, from its entries in the order of the pattern."""
        places: tuple[tuple[int, int], ...] = getattr(self, which)
        count = {"H": self.unknowns, "A": self.equations, "C": self.inequalities}[which]
        rows: list[Row] = [{} for _ in range(count)]
        for (i, j), x in zip(places, values, strict=True):
            rows[i][j] = x
        return rows


@dataclass(frozen=True)
class Quadratic:
    """The numbers of a quadratic program, in the order of its pattern.

    bounds: of each side.
    """

    H: list[Scalar]
    g: list[Scalar]
    A: list[Scalar]
    b: list[Scalar]
    C: list[Scalar]
    bounds: list[Scalar]


def pattern_of(
    H: Sequence[Row],
    g: Sequence[Scalar],
    A: Sequence[Row],
    b: Sequence[Scalar],
    C: Sequence[tuple[Row, Scalar | None, Scalar | None]],
) -> tuple[Pattern, Quadratic]:
    """A quadratic program as a pattern and numbers.

    Arguments:
        H: the rows of the lower triangle, the diagonal included.
        g: the linear cost.
        A, b: the rows of the equations.
        C: rows of the inequalities, each with its lower and its upper bound, or None.
    """

    def places(rows: Sequence[Row]) -> tuple[tuple[tuple[int, int], ...], list[Scalar]]:
        found = [
            ((i, j), x) for i, row in enumerate(rows) for j, x in row.items() if not is_zero(x)
        ]
        return tuple(at for at, _ in found), [x for _, x in found]

    at_H, in_H = places(H)
    at_A, in_A = places(A)
    at_C, in_C = places([row for row, _, _ in C])
    sides: list[tuple[int, float]] = []
    bounds: list[Scalar] = []
    for i, (_, lower, upper) in enumerate(C):
        for sign, bound in ((1.0, upper), (-1.0, lower)):
            if bound is not None:
                sides.append((i, sign))
                bounds.append(bound)
    pattern = Pattern(len(g), at_H, at_A, at_C, tuple(sides), len(b), len(C))
    return pattern, Quadratic(in_H, list(g), in_A, list(b), in_C, bounds)


def equilibrated(pattern: Pattern, given: Quadratic) -> tuple[Quadratic, list[Scalar]]:
    """The same program with a unit diagonal of H and rows of length one.

    Returns:
        The program, and the factor of each unknown.
    """
    diagonal: list[Scalar] = [0.0] * pattern.unknowns
    for (i, j), h in zip(pattern.H, given.H, strict=True):
        if i == j:
            diagonal[i] = h
    d = [1.0 / sqrt(h) for h in diagonal]

    def normalised(
        places: Sequence[tuple[int, int]], values: Sequence[Scalar], count: int
    ) -> tuple[list[Scalar], list[Scalar]]:
        scaled = [x * d[j] for (_, j), x in zip(places, values, strict=True)]
        squares: list[Scalar] = [TINY] * count
        for (i, _), x in zip(places, scaled, strict=True):
            squares[i] = squares[i] + x * x
        lengths = [1.0 / sqrt(x) for x in squares]
        return [x * lengths[i] for (i, _), x in zip(places, scaled, strict=True)], lengths

    H = [h * d[i] * d[j] for (i, j), h in zip(pattern.H, given.H, strict=True)]
    g = [x * s for x, s in zip(given.g, d, strict=True)]
    A, by_equation = normalised(pattern.A, given.A, pattern.equations)
    C, by_row = normalised(pattern.C, given.C, pattern.inequalities)
    b = [x * e for x, e in zip(given.b, by_equation, strict=True)]
    bounds = [x * by_row[i] for (i, _), x in zip(pattern.sides, given.bounds, strict=True)]
    return Quadratic(H, g, A, b, C, bounds), d
