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
from kinetree.algorithms.ltl import TOGETHER, Factor, Row, elimination_order, factor
from kinetree.model import Model
from kinetree.scalar import Scalar, call


@dataclass(frozen=True)
class Inverse:
    """H^-1 = K D^-1 K^T: K, the inverse of L, has entries only where L has."""

    K: list[Row]
    D_inv: list[Scalar]
    order: list[int]

    def times_negative(self, vectors: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """-H^-1 b for some vectors b.

        What is zero in b saves the work it would make.
        """
        entries = [entry for row in self.K for entry in row.values()]
        found: list[list[Scalar]] = []
        for few in blocks(len(vectors)):
            columns = [list(vectors[c]) for c in few]
            found += call(self._multiply, entries, self.D_inv, *columns, times=len(vectors))
        return found

    def _multiply(
        self, entries: Sequence[Scalar], D_inv: Sequence[Scalar], *vectors: Sequence[Scalar]
    ) -> list[list[Scalar]]:
        """-H^-1 b for a few vectors, from the entries of K, row by row, and from D^-1."""
        rest = iter(entries)
        rows: list[Row] = [{j: next(rest) for j in row} for row in self.K]
        carried: list[Row] = [{} for _ in rows]  # K by columns
        for i, row in enumerate(rows):
            for j, entry in row.items():
                carried[j][i] = entry
        y = products(carried, [[b[k] for k in self.order] for b in vectors])
        z = [[-(d * x) for x in row] for d, row in zip(D_inv, y, strict=True)]
        x = products(rows, list(zip(*z, strict=True)))
        place = {k: i for i, k in enumerate(self.order)}
        return [[x[place[k]][c] for k in range(len(rows))] for c in range(len(vectors))]

    def matrix(self) -> list[list[Scalar]]:
        """Both triangles."""
        n = len(self.order)
        inverse: list[list[Scalar]] = [[0] * n for _ in range(n)]
        for columns in blocks(n):
            rows = [self.K[j] for j in columns]
            scaled = [[row.get(k, 0) * self.D_inv[k] for k in range(n)] for row in rows]
            for i in range(columns[-1] + 1):
                (totals,) = products([self.K[i]], scaled)
                for j, total in zip(columns, totals, strict=True):
                    a, b = self.order[i], self.order[j]
                    inverse[a][b] = inverse[b][a] = total
        return inverse


def products(rows: Sequence[Row], vectors: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """Each row times each vector: a block of rows at a time, entry after entry."""
    totals: list[list[Scalar]] = [[0] * len(vectors) for _ in rows]
    for block in blocks(len(rows)):
        # a row begins with its unit, which costs nothing at the start of a sum
        units = (next(iter(rows[i])) for i in block if rows[i])
        for j in dict.fromkeys((*units, *(k for i in block for k in rows[i]))):
            for i in block:
                if j in rows[i]:
                    totals[i] = [
                        x + rows[i][j] * b[j] for x, b in zip(totals[i], vectors, strict=True)
                    ]
    return totals


def blocks(count: int) -> list[range]:
    """Numbers up to a count, a few at a time."""
    return [range(a, min(a + TOGETHER, count)) for a in range(0, count, TOGETHER)]


def inverted(f: Factor) -> Inverse:
    """K, row by row."""
    K: list[Row] = [{i: 1} for i in range(len(f.L))]

    def take(i: int, j: int) -> None:
        """Subtract from row i its multiple of row j, which is complete."""
        if j in f.L[i]:
            for k, value in K[j].items():
                K[i][k] = K[i].get(k, 0) - f.L[i][j] * value

    for block in blocks(len(K)):
        for j in range(block[0]):
            for i in block:
                take(i, j)
        for i in block:
            for j in range(block[0], i):
                take(i, j)
    return Inverse(K, f.D_inv, f.order)


def mass_matrix_inverse(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """H^-1, both triangles."""
    return inverted(factor(crba(model, q), elimination_order(model))).matrix()
