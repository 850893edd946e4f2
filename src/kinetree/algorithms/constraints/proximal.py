"""The matrix of constraints J M^-1 J^T, its factor, and forces by proximal iterations.

Source: J. Carpentier, R. Budhiraja & N. Mansard, Proximal and sparse resolution of constrained
dynamic equations, Robotics: Science and Systems (2021), sections III and IV; the sparse factor is
R. Featherstone's, Rigid Body Dynamics Algorithms (2008), section 8.5.

    paper         code      meaning
    M = L^T D L   M         the factor of the mass matrix, as in `ltl`
    J             J         the rows of the constraints
    G             G         J M^-1 J^T = Z D^-1 Z^T, the operational (Delassus) matrix
    Z             Z         rows of J L^-1
    mu            mu        the proximal parameter, a small share of the mean of G's diagonal
    lambda        forces    the forces of the rows

Forces are the solution of G x = b of least norm, if the rows of J are dependent and agree:

    (G + mu) x_0 = b,    (G + mu) x_{k+1} = b + mu x_k

The residual b - G x_{k+1} = mu (x_{k+1} - x_k) falls by mu / (s + mu) in each iteration, along an
eigenvector of G with the eigenvalue s. All iterations share the factor of G + mu. No pivot of it is
smaller than mu; pivots that rounding makes smaller are raised to mu.

differs: mu is a share of G's own size, so that units do not matter. There are at most
`ITERATIONS` iterations; those after the first `SURE` are made only if the last step was not yet
small relative to x. The final residual is a result.

Cost: O(m N) for Z, O(m^2 d) for G, O(m^3) for its factor; less where constraints share no joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.algorithms.constraints.sparse import filled, plus, product, square
from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltl import Factor, Row, elimination_order, factor, sparse_order
from kinetree.model import Model
from kinetree.scalar import Scalar, call_if, less, maximum

SHARE = 1e-9
"""mu, as a share of the mean of G's diagonal: well above rounding, well below eigenvalues."""
ITERATIONS = 4
"""The most corrections of x after x_0."""
SURE = 2
"""The number of corrections that are always made."""
SETTLED = 1e-20
"""Iterations end once the squared length of a step, relative to that of x, is below this."""
FLOOR = 1e-3
"""Added to the sum of G's diagonal in mu, 1/kg: forces are finite where every row is zero."""

Columns = list[list[Scalar]]


@dataclass(frozen=True)
class Proximal:
    """The factors of M and of G + mu.

    G: J M^-1 J^T, in the order of the rows.
    inner: the factor of G + mu.
    """

    M: Factor
    Z: list[Row]
    G: list[list[Scalar]]
    mu: Scalar
    inner: Factor

    def forces(
        self, b: Sequence[Scalar], iterations: int = ITERATIONS
    ) -> tuple[list[Scalar], list[Scalar]]:
        """x of least norm with G x = b, and the residual."""
        (x,), (step,) = self.columns([b], iterations)
        return x, [self.mu * s for s in step]

    def columns(
        self, columns: Sequence[Sequence[Scalar]], iterations: int = ITERATIONS
    ) -> tuple[Columns, Columns]:
        """x for each b of several, and the last step of each."""
        L, order = self.inner.L, self.inner.order

        def corrected(
            entries: Sequence[Scalar], scaled: Sequence[Scalar], x: Columns, steps: Columns
        ) -> tuple[Columns, Columns]:
            """x and the steps after another iteration, from the entries of L and mu D^-1."""
            inner = Factor(filled(L, entries), list(scaled), order)
            steps = [inner.solve(step) for step in steps]
            return [plus(*pair) for pair in zip(x, steps, strict=True)], steps

        steps = [self.inner.solve(b) for b in columns]
        entries = [entry for row in L for entry in row.values()]
        scaled = [self.mu * d for d in self.inner.D_inv]
        reached: tuple[Columns, Columns] = (steps, steps)
        for k in range(iterations):
            if k < SURE:
                reached = corrected(entries, scaled, *reached)
            else:
                far = less(square(reached[0]) * SETTLED, square(reached[1]))
                reached = call_if(far, corrected, entries, scaled, *reached, otherwise=reached)
        return reached

    def accelerations_along(self, y: Row) -> list[Scalar]:
        """J M^-1 b, from y = half(b)."""
        scaled = self.M.scaled(y)
        return [product(row, scaled) for row in self.Z]

    def solve(self, y: Row, forces: Sequence[Scalar]) -> list[Scalar]:
        """M^-1 (b + J^T forces), from y = half(b)."""
        total = dict(y)
        for row, force in zip(self.Z, forces, strict=True):
            for i, entry in row.items():
                total[i] = total.get(i, 0) + entry * force
        return self.M.back(total)


def proximal(
    model: Model, q: Sequence[Scalar], J: Sequence[Row], idle: Sequence[Scalar] = ()
) -> Proximal:
    """The factors for rows J at a configuration.

    idle: added to the diagonal of G: nonzero where a row is zero.
    """
    return factored(factor(crba(model, q), elimination_order(model)), J, idle)


def factored(M: Factor, J: Sequence[Row], idle: Sequence[Scalar] = ()) -> Proximal:
    """The same, from the factor of the mass matrix."""
    Z = [M.half(row) for row in J]
    scaled = [M.scaled(row) for row in Z]
    G: list[list[Scalar]] = [[0] * len(Z) for _ in Z]
    for r, row in enumerate(scaled):
        for s in range(r + 1):
            G[r][s] = G[s][r] = product(row, Z[s])
    for r, extra in enumerate(idle):
        G[r][r] = G[r][r] + extra
    inner, mu = damped_factor(G, FLOOR)
    return Proximal(M, Z, G, mu, inner)


def damped_factor(A: Sequence[Sequence[Scalar]], floor: float) -> tuple[Factor, Scalar]:
    """The factor of A + mu, and mu.

    floor: added to the sum of A's diagonal, of which mu is a share; A may be zero.
    """
    n = len(A)
    mu = (sum((A[r][r] for r in range(n)), start=0) + floor) * (SHARE / max(n, 1))
    damped = [[a + mu if r == s else a for s, a in enumerate(row)] for r, row in enumerate(A)]
    return factor(damped, sparse_order(A), lambda _, pivot: 1 / maximum(pivot, mu)), mu


def delassus_matrix(
    model: Model, q: Sequence[Scalar], names: Sequence[str] = ()
) -> list[list[Scalar]]:
    """G = J M^-1 J^T."""
    return proximal(model, q, constraint_rows(model, q, names=names).J).G


def delassus_inverse(
    model: Model, q: Sequence[Scalar], names: Sequence[str] = ()
) -> list[list[Scalar]]:
    """G^-1; if rows are dependent, large along the dependency, but finite."""
    factors = proximal(model, q, constraint_rows(model, q, names=names).J)
    m = len(factors.Z)
    units = [[1 if r == s else 0 for s in range(m)] for r in range(m)]
    columns, _ = factors.columns(units)
    return [[columns[max(r, s)][min(r, s)] for s in range(m)] for r in range(m)]
