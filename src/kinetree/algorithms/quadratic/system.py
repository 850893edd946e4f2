"""The matrix of a step of the interior-point method, and the order in which it is eliminated.

Source: as in `interior_point`; the order is that of minimum degree, W. Tinney & J. Walker, Direct
solutions of sparse network equations by optimally ordered triangular factorization (1967).

Cost: one product for each pair of entries in a row of C.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.quadratic.problem import Pattern, Quadratic
from kinetree.scalar import Scalar

DELTA = 1e-9
"""Subtracted from the diagonal of the equations; at convergence it multiplies dy = 0."""


def assembled(pattern: Pattern, given: Quadratic, W: Sequence[Scalar]) -> list[list[Scalar]]:
    """The matrix of a step, with its zeros."""
    n, m = pattern.unknowns, pattern.equations
    K: list[list[Scalar]] = [[0] * (n + m) for _ in range(n + m)]
    for (i, j), h in zip(pattern.H, given.H, strict=True):
        K[i][j] = h
    weights: list[Scalar] = [0.0] * pattern.inequalities
    for (i, _), w in zip(pattern.sides, W, strict=True):
        weights[i] = weights[i] + w
    for w, row in zip(weights, pattern.rows(given.C, "C"), strict=True):
        for i, x in row.items():
            scaled = w * x
            for j, y in row.items():
                if j <= i:
                    K[i][j] = K[i][j] + scaled * y
    for (i, j), a in zip(pattern.A, given.A, strict=True):
        K[n + i][j] = a
    for i in range(m):
        K[n + i][n + i] = -DELTA
    for i in range(n + m):
        for j in range(i):
            K[j][i] = K[i][j]
    return K


def elimination_order(pattern: Pattern) -> list[int]:
    """An order of elimination, its last first: unknowns, then equations, each by minimum degree."""
    n, total = pattern.unknowns, pattern.unknowns + pattern.equations
    near: dict[int, set[int]] = {k: set() for k in range(total)}

    def join(group: Sequence[int]) -> None:
        for i in group:
            near[i] |= {j for j in group if j != i}

    for i, j in pattern.H:
        join((i, j))
    for i, j in pattern.A:
        join((n + i, j))
    rows: list[list[int]] = [[] for _ in range(pattern.inequalities)]
    for i, j in pattern.C:
        rows[i].append(j)
    for row in rows:
        join(row)
    order: list[int] = []
    for phase in (range(n), range(n, total)):
        rest = set(phase)
        while rest:
            k = min(rest, key=lambda i: (len(near[i]), i))
            rest.remove(k)
            others = near.pop(k)
            for i in others:
                near[i] |= others - {i}
                near[i].discard(k)
            order.append(k)
    return order[::-1]
