"""The sparse factorisation of the mass matrix, H = L^T L.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.5 and Table 6.3, as
H = L^T D L with unit lower triangular L, which needs no square roots.

Rows are eliminated from the tips to the base, so that L has no entry where H has none: row i of L
has entries only at the coordinates that move the ancestors of joint i. Zeros are not stored, so
joints that share a coordinate need no special care.

    book      code      meaning
    L         L[i]      row i: column -> entry, the unit diagonal left out
    D         D_inv     the inverses of its diagonal

Cost: O(N d^2) to factor, O(N d) to solve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kinetree.algorithms.crba import crba
from kinetree.model import Model
from kinetree.scalar import Scalar, sqrt

Row = dict[int, Scalar]
TOGETHER = 2
"""How many rows are eliminated together: what is loaded for one serves the others."""


@dataclass(frozen=True)
class Factor:
    """L and D of H = L^T D L, in the order of elimination: `order[i]` is a coordinate of H."""

    L: list[Row]
    D_inv: list[Scalar]
    order: list[int]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The x with H x = b."""
        return self.back(self.half(dict(enumerate(b))))

    def half(self, b: Row) -> Row:
        """The y with L^T y = b, sparse as b and the robot's branches are; in eliminated order."""
        place = self.places
        y = {place[k]: x for k, x in b.items()}
        for i in reversed(range(len(self.order))):
            if i in y:
                for j, entry in self.L[i].items():
                    y[j] = y.get(j, 0) - entry * y[i]
        return y

    def scaled(self, y: Row) -> Row:
        """D^-1 y, for y of `half`."""
        return {i: x * self.D_inv[i] for i, x in y.items()}

    def back(self, y: Row) -> list[Scalar]:
        """The x with L x = D^-1 y, in the order of H."""
        n = len(self.order)
        x = [y[i] * self.D_inv[i] if i in y else 0 for i in range(n)]
        for i in range(n):
            for j, entry in self.L[i].items():
                x[i] = x[i] - entry * x[j]
        result: list[Scalar] = [0] * n
        for i, coordinate in enumerate(self.order):
            result[coordinate] = x[i]
        return result

    @property
    def places(self) -> dict[int, int]:
        """Maps a coordinate of H to its place in the order of elimination."""
        return {coordinate: i for i, coordinate in enumerate(self.order)}


def factor(
    H: Sequence[Sequence[Scalar]],
    order: Sequence[int],
    inverse: Callable[[int, Scalar], Scalar] = lambda _, pivot: 1 / pivot,
) -> Factor:
    """L^T D L of a symmetric positive definite matrix, the last of the order eliminated first.

    Arguments:
        inverse: takes a coordinate and its pivot, gives the entry of D^-1, 1 / pivot.
    """
    n = len(order)
    rows: list[Row] = []
    for i in range(n):
        row = {j: H[order[i]][order[j]] for j in range(i + 1)}
        rows.append({j: h for j, h in row.items() if not is_zero(h) or j == i})
    D_inv: list[Scalar] = [0] * n
    L: list[Row] = [{} for _ in range(n)]

    def take(i: int, k: int) -> None:
        """Subtract from row i what row k, which comes after it, contributes."""
        if i in L[k]:
            for j, h in rows[k].items():
                if j <= i:
                    rows[i][j] = rows[i].get(j, 0) - L[k][i] * h

    for last in range(n - 1, -1, -TOGETHER):
        block = range(last, max(last - TOGETHER, -1), -1)
        for k in range(last + 1, n):
            for i in block:
                take(i, k)
        for i in block:
            for k in range(i + 1, last + 1):
                take(i, k)
            D_inv[i] = inverse(order[i], rows[i].pop(i))
            L[i] = {j: h * D_inv[i] for j, h in rows[i].items()}
    return Factor(L, D_inv, list(order))


def elimination_order(model: Model) -> list[int]:
    """The coordinates from the base to the tips, independent of their order in q."""
    return [k for i in sorted(model.coordinate_order) for k in _range(model.v_slices[i])]


def sparse_order(G: Sequence[Sequence[Scalar]]) -> list[int]:
    """An order of elimination, its last first, that fills few of G's zeros: least degree first."""
    n = len(G)
    near = {r: {s for s in range(n) if s != r and not is_zero(G[r][s])} for r in range(n)}
    if all(len(others) == n - 1 for others in near.values()):
        return list(range(n))
    order: list[int] = []
    while near:
        r = min(near, key=lambda k: (len(near[k]), k))
        others = near.pop(r)
        for s in others:
            near[s] |= others
            near[s] -= {r, s}
        order.append(r)
    return order[::-1]


def mass_matrix_factor(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """L with H = L^T L; lower triangular if coordinates are ordered from the base to the tips."""
    f = factor(crba(model, q), elimination_order(model))
    L: list[list[Scalar]] = [[0] * model.nv for _ in range(model.nv)]
    for i, coordinate in enumerate(f.order):
        root = sqrt(1 / f.D_inv[i])
        L[coordinate][coordinate] = root
        for j, entry in f.L[i].items():
            L[coordinate][f.order[j]] = root * entry
    return L


def is_zero(value: Scalar) -> bool:
    """Whether a scalar is the number zero, at every state."""
    return isinstance(value, (int, float)) and value == 0


def _range(at: slice) -> range:
    return range(at.start, at.stop)
