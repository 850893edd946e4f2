"""The response of accelerations and forces to a change of the optimality conditions.

Source: J. Carpentier, R. Budhiraja & N. Mansard, Proximal and sparse resolution of constrained
dynamic equations, Robotics: Science and Systems (2021), section V, for

    M dqdd - J^T dforces = - x,    J dqdd = - y

    paper         code        meaning
    M             inverse     M^-1 = K D^-1 K^T, by `factored_inverse`
                  Z           J K
    G^+           G_inv       of the forces of least norm; G = J M^-1 J^T = Z D^-1 Z^T
                  U           G^+ Z, by proximal iterations; G^+ = U D^-1 U^T

With z = - D^-1 K^T x,

    dforces = - U z - G^+ y,    dqdd = K (z + D^-1 Z^T dforces)

By tau, where x is - 1, they are - U D^-1 K^T and K (D^-1 - D^-1 Z^T U D^-1) K^T.

differs: columns are multiplied by these factors, sparse for branched robots, instead of being
solved for one by one; U has no component along the rows' dependencies, where an inverse is large.

Cost: O(N (d + m)) for each column, O(N^2 d) by tau, for m rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.constraints.proximal import Proximal
from kinetree.algorithms.constraints.sparse import filled, transposed
from kinetree.algorithms.dense import dot
from kinetree.algorithms.factored_inverse import Inverse, blocks, inverted, products
from kinetree.algorithms.inverse_derivatives import Matrix
from kinetree.algorithms.ltl import Row
from kinetree.scalar import Scalar, call


@dataclass(frozen=True)
class Response:
    """The response of accelerations and row forces to changes of the optimality conditions.

    Z: rows of J K, by columns of K.
    U: G^+ Z, a dense row each.
    G_inv: G^+.
    """

    inverse: Inverse
    Z: list[Row]
    U: Matrix
    G_inv: Matrix

    def columns(self, X: Matrix, Y: Matrix) -> list[tuple[list[Scalar], list[Scalar]]]:
        """dqdd and dforces for each column of X and Y."""
        K, D_inv = self.inverse.K, self.inverse.D_inv
        entries = [entry for row in K for entry in row.values()]
        Z_scaled = [entry * D_inv[i] for row in self.Z for i, entry in row.items()]
        U = [row[i] for row in self.U for i in self._support]
        pushed = [[-dot(row, y) for row in self.G_inv] for y in Y]
        found: list[tuple[list[Scalar], list[Scalar]]] = []
        for few in blocks(len(X)):
            given = [list(columns[c]) for columns in (X, pushed) for c in few]
            found += call(self._respond, entries, D_inv, Z_scaled, U, *given, times=len(X))
        return found

    def _respond(
        self,
        entries: Sequence[Scalar],
        D_inv: Sequence[Scalar],
        Z_scaled: Sequence[Scalar],
        U: Sequence[Scalar],
        *given: Sequence[Scalar],
    ) -> list[tuple[list[Scalar], list[Scalar]]]:
        """dqdd and dforces for a few columns.

        Arguments:
            entries: of K, row by row.
            Z_scaled: entries of Z D^-1, row by row.
            U: entries of U, row by row, where Z has any.
            given: the columns x, and then as many columns - G^+ y.
        """
        count = len(given) // 2
        K = filled(self.inverse.K, entries)
        order = self.inverse.order
        y = products(transposed(K, len(K)), [[x[k] for k in order] for x in given[:count]])
        z = [[-(d * x) for x in row] for d, row in zip(D_inv, y, strict=True)]
        few = [[z[i][c] for i in self._support] for c in range(count)]
        width = len(self._support)
        U_rows = [U[r * width : (r + 1) * width] for r in range(len(self.Z))]
        forces = [
            [f - dot(row, part) for f, row in zip(pushed, U_rows, strict=True)]
            for pushed, part in zip(given[count:], few, strict=True)
        ]
        Z_columns = transposed(filled(self.Z, Z_scaled), len(K))
        held = products(Z_columns, forces)
        total = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(z, held, strict=True)]
        moved = products(K, list(zip(*total, strict=True)))
        place = {k: i for i, k in enumerate(order)}
        return [([moved[place[k]][c] for k in range(len(K))], forces[c]) for c in range(count)]

    def by_tau(self) -> tuple[Matrix, Matrix]:
        """dqdd and dforces by joint forces: both triangles of the first."""
        K, D_inv, order = self.inverse.K, self.inverse.D_inv, self.inverse.order
        n, support = len(order), self._support
        U = [{i: -(row[i] * D_inv[i]) for i in support} for row in self.U]
        Z = transposed(self.Z, n)
        # D^-1 - D^-1 Z^T U D^-1, the rows that differ from D^-1
        C: dict[int, Row] = {i: {} for i in support}
        for i in support:
            scaled = {r: entry * D_inv[i] for r, entry in Z[i].items()}
            for j in support:
                if j <= i:
                    entry = sum((x * U[r][j] for r, x in scaled.items()), start=0)
                    C[i][j] = C[j][i] = entry + D_inv[i] if i == j else entry
        a: Matrix = [[0] * n for _ in range(n)]
        f: Matrix = [[0] * n for _ in U]
        for few in blocks(n):
            rows = [[K[j].get(k, 0) for k in range(n)] for j in few]
            for r, totals in enumerate(products(U, rows)):
                for j, total in zip(few, totals, strict=True):
                    f[r][order[j]] = total
            C_rows = [C[i] if i in C else {i: D_inv[i]} for i in range(n)]
            columns = list(zip(*products(C_rows, rows), strict=True))
            for i in range(few[-1] + 1):
                (totals,) = products([K[i]], columns)
                for j, total in zip(few, totals, strict=True):
                    a[order[i]][order[j]] = a[order[j]][order[i]] = total
        return a, f

    @property
    def _support(self) -> list[int]:
        """The columns in which Z has entries."""
        return sorted({i for row in self.Z for i in row})


def response(factors: Proximal) -> Response:
    """The response to changes of the optimality conditions, from the factors of the dynamics."""
    inverse, Z = inverted(factors.M), factors.Z
    n, D_inv = len(inverse.order), inverse.D_inv
    U: Matrix = [[0] * n for _ in Z]
    support = sorted({i for row in Z for i in row})
    columns, _ = factors.columns([[row.get(i, 0) for row in Z] for i in support])
    for i, column in zip(support, columns, strict=True):
        for r, entry in enumerate(column):
            U[r][i] = entry
    scaled = [[x * d for x, d in zip(row, D_inv, strict=True)] for row in U]
    G_inv: Matrix = [[0] * len(Z) for _ in Z]
    for r, row in enumerate(scaled):
        for s in range(r + 1):
            G_inv[r][s] = G_inv[s][r] = dot(row, U[s])
    return Response(inverse, Z, U, G_inv)
