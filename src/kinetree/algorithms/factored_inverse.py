"""The inverse of the mass matrix by its sparse factors.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.5, for H = L^T D L; the
inverse K of L has entries only where L has.

    book      code      meaning
    L^-1      K[i]      row i: column -> entry, the unit diagonal included
    D^-1      D_inv     as in `ltl`

Cost: O(N d^2) for K, O(N d) to multiply, O(N^2 d) for all of H^-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltl import Factor, Row, elimination_order, factor
from kinetree.model import Model
from kinetree.scalar import Scalar


@dataclass(frozen=True)
class Inverse:
    """H^-1 = K D^-1 K^T: K, the inverse of L, has entries only where L has."""

    K: list[Row]
    D_inv: list[Scalar]
    order: list[int]

    def times(self, vectors: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """H^-1 b for some vectors b, an entry of K for all of them in turn.

        What is zero in b saves the work it would make.
        """
        n = len(self.order)
        carried: list[Row] = [{} for _ in range(n)]  # K by columns
        for i, row in enumerate(self.K):
            for j, entry in row.items():
                carried[j][i] = entry
        given = [[b[k] for k in self.order] for b in vectors]
        z = [[d * x for x in y] for d, y in zip(self.D_inv, _products(carried, given), strict=True)]
        found = _products(self.K, list(zip(*z, strict=True)))
        results: list[list[Scalar]] = [[0] * n for _ in vectors]
        for k, values in zip(self.order, found, strict=True):
            for result, value in zip(results, values, strict=True):
                result[k] = value
        return results

    def matrix(self) -> list[list[Scalar]]:
        """Both triangles."""
        n = len(self.order)
        inverse: list[list[Scalar]] = [[0] * n for _ in range(n)]
        for i, row in enumerate(self.K):
            scaled = {k: value * self.D_inv[k] for k, value in row.items()}
            for j in range(i + 1):
                total: Scalar = 0
                for k, value in self.K[j].items():
                    if k in scaled:
                        total = total + scaled[k] * value
                a, b = self.order[i], self.order[j]
                inverse[a][b] = inverse[b][a] = total
        return inverse


def _products(rows: list[Row], vectors: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """Each row times each vector, one entry after the other."""
    found = []
    for row in rows:
        totals: list[Scalar] = [0] * len(vectors)
        for j, entry in row.items():
            totals = [t + entry * b[j] for t, b in zip(totals, vectors, strict=True)]
        found.append(totals)
    return found


def inverted(f: Factor) -> Inverse:
    """K, row by row."""
    K: list[Row] = []
    for i, entries in enumerate(f.L):
        row: Row = {i: 1}
        for j, entry in entries.items():
            for k, value in K[j].items():
                row[k] = row.get(k, 0) - entry * value
        K.append(row)
    return Inverse(K, f.D_inv, f.order)


def mass_matrix_inverse(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """H^-1, both triangles."""
    return inverted(factor(crba(model, q), elimination_order(model))).matrix()
