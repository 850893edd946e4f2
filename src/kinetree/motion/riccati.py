"""One step of the backward pass over scalars, compiled in a loop over time; for small robots.

The equations are those of `ilqr.backward`. S, Q_xx and Q_uu are symmetric: only their lower
triangles are computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.dense import dot
from kinetree.motion.arrays import Array
from kinetree.runtime.time_loop import TimeLoop
from kinetree.scalar import (
    Scalar,
    absolute,
    less,
    less_equal,
    logical_and,
    logical_or,
    maximum,
    minimum,
    select,
)

if TYPE_CHECKING:
    from kinetree.motion.control_problem import Quadratic
    from kinetree.robot import Robot

ROUNDS = 4
"""Of the search for the controls at their bounds; as in `ilqr`."""
Matrix = list[list[Scalar]]


class Riccati:
    """The backward pass of a robot with so many controls, compiled.

    Arguments:
        robot: its kernels are made from.
        nu: how many controls there are.
        bounded: whether they have bounds.
    """

    def __init__(self, robot: Robot, nu: int, bounded: bool) -> None:
        self.nx, self.nu, self.bounded = 2 * robot.nv, nu, bounded
        nx = self.nx
        self._lower = np.tril_indices(nx)
        lengths: dict[str, int | None] = {"s": nx, "S": len(self._lower[0]), "sums": 3}
        lengths |= {"damping": None, "A": nx * nx, "B": nx * nu, "x": nx, "u": nu}
        lengths |= {"xx": len(self._lower[0]), "ux": nu * nx, "uu": nu * nu}
        lengths |= {"low": nu, "up": nu} if bounded else {}
        kernel = robot.custom_kernel(self._step, lengths, "backward_pass")
        self._loop = TimeLoop(kernel, 3, 9 if bounded else 7)

    def __call__(
        self,
        A: Array,
        B: Array,
        costs: Quadratic,
        last: Array,
        second: Array,
        damping: Array,
        lower: Array,
        upper: Array,
    ) -> tuple[Array, Array, Array, Array, Array]:
        """As `ilqr.backward`."""
        problems, steps = B.shape[:2]
        flat = (problems, steps, -1)
        rows, columns = self._lower
        given = [last, second[:, rows, columns], np.zeros((problems, 3)), damping]
        given += [A.reshape(flat), B.reshape(flat), costs.x, costs.u]
        given += [costs.xx[..., rows, columns], costs.ux.reshape(flat), costs.uu.reshape(flat)]
        given += [lower, upper] if self.bounded else []
        arrays = [np.ascontiguousarray(x) for x in given]
        rolled = self._loop(arrays, problems, steps, 1, ("k", "K"), backwards=True)
        k, K = rolled.records["k"], rolled.records["K"]
        slope, bend, fault = rolled.final["sums"].T
        return k, K.reshape(problems, steps, self.nu, self.nx), slope, bend, fault > 0.0

    def _step(self, model: Any, s: Any, S: Any, sums: Any, damping: Scalar, *given: Any) -> Any:
        nx, nu = self.nx, self.nu
        A, B, lx, lu, lxx, lux, luu, *bounds = given
        S = _symmetric(S, nx)
        A = [A[i * nx : (i + 1) * nx] for i in range(nx)]
        B = [B[i * nu : (i + 1) * nu] for i in range(nx)]
        At, Bt = _transposed(A), _transposed(B)
        SA = [[dot(S[i], At[j]) for j in range(nx)] for i in range(nx)]
        SB = [[dot(S[i], Bt[j]) for j in range(nu)] for i in range(nx)]
        SAt, SBt = _transposed(SA), _transposed(SB)
        Qx = [lx[i] + dot(At[i], s) for i in range(nx)]
        Qu = [lu[i] + dot(Bt[i], s) for i in range(nu)]
        lxx = _symmetric(lxx, nx)
        Qux = [[lux[i * nx + j] + dot(Bt[i], SAt[j]) for j in range(nx)] for i in range(nu)]
        Quu = _mirrored([[luu[i * nu + j] + dot(Bt[i], SBt[j]) for j in range(i + 1)]
                         for i in range(nu)])  # fmt: skip
        largest: Scalar = 1.0
        for row in Quu:
            for entry in row:
                largest = maximum(largest, absolute(entry))
        H = [[Quu[i][j] + (damping * largest if i == j else 0.0) for j in range(nu)]
             for i in range(nu)]  # fmt: skip
        factors, fault = _factored(H)
        k = [-x for x in _solved(factors, Qu)]
        held: list[Any] = [0.0] * nu
        if self.bounded:
            k, held = _within(H, Qu, k, *bounds)
            factors, _ = _factored(_freed(H, held))
        QuxT = _transposed(Qux)
        KT = [
            [-x for x in _solved(factors, [_free(h, g) for h, g in zip(held, column, strict=True)])]
            for column in QuxT
        ]
        Quu_k = [dot(row, k) for row in Quu]
        right = [a + b for a, b in zip(Quu_k, Qu, strict=True)]
        new_s = [Qx[i] + dot(KT[i], right) + dot(QuxT[i], k) for i in range(nx)]
        QuuK = [[dot(Quu[i], KT[j]) for i in range(nu)] for j in range(nx)]
        new_S = [
            lxx[i][j]
            + dot(At[i], SAt[j])
            + dot(KT[i], [a + b for a, b in zip(QuuK[j], QuxT[j], strict=True)])
            + dot(QuxT[i], KT[j])
            for i in range(nx)
            for j in range(i + 1)
        ]
        found = [sums[0] + dot(k, Qu), sums[1] + dot(k, Quu_k), maximum(sums[2], fault)]
        gains = [KT[j][i] for i in range(nu) for j in range(nx)]
        return {"s": new_s, "S": new_S, "sums": found, "k": k, "K": gains}


def _symmetric(lower: Any, n: int) -> Matrix:
    """A symmetric matrix from its lower triangle, row by row."""
    return _mirrored([list(lower[i * (i + 1) // 2 : i * (i + 1) // 2 + i + 1]) for i in range(n)])


def _mirrored(rows: Matrix) -> Matrix:
    n = len(rows)
    return [[rows[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def _transposed(M: Any) -> Matrix:
    return [list(column) for column in zip(*M, strict=True)]


def _factored(H: Matrix) -> tuple[tuple[Matrix, list[Scalar]], Scalar]:
    """L and 1 / D of H = L D L^T, and one if a pivot is not positive, which is then replaced."""
    n = len(H)
    L: Matrix = [[0.0] * n for _ in range(n)]
    D: list[Scalar] = []
    inverse: list[Scalar] = []
    fault: Scalar = 0.0
    for j in range(n):
        scaled = [L[j][k] * D[k] for k in range(j)]
        pivot = H[j][j] - dot(L[j][:j], scaled)
        wrong = less_equal(pivot, 0.0)
        fault = select(wrong, 1.0, fault)
        D.append(select(wrong, 1.0, pivot))
        inverse.append(1.0 / D[j])
        for i in range(j + 1, n):
            L[i][j] = (H[i][j] - dot(L[i][:j], scaled)) * inverse[j]
    return (L, inverse), fault


def _solved(factors: tuple[Matrix, list[Scalar]], right: list[Scalar]) -> list[Scalar]:
    L, inverse = factors
    n = len(right)
    y: list[Scalar] = []
    for i in range(n):
        y.append(right[i] - dot(L[i][:i], y))
    x: list[Scalar] = [a * b for a, b in zip(y, inverse, strict=True)]
    for i in range(n - 2, -1, -1):
        x[i] = x[i] - dot([L[k][i] for k in range(i + 1, n)], x[i + 1 :])
    return x


def _free(held: Any, value: Scalar) -> Scalar:
    """The value of a control that is free, zero of one that is held."""
    return value if isinstance(held, float) else select(held, 0.0, value)


def _freed(H: Matrix, held: list[Any]) -> Matrix:
    """H with the rows and columns of held controls replaced by those of the unit matrix."""
    n = len(H)
    return [
        [
            select(held[i], 1.0, H[i][j])
            if i == j
            else select(logical_or(held[i], held[j]), 0.0, H[i][j])
            for j in range(n)
        ]
        for i in range(n)
    ]


def _within(
    H: Matrix, g: list[Scalar], k: list[Scalar], low: list[Scalar], up: list[Scalar]
) -> tuple[list[Scalar], list[Any]]:
    """The minimum within bounds and the controls that are held, as `ilqr._bounded` has it."""
    n, held = len(k), []
    for _ in range(ROUNDS):
        at = [minimum(maximum(x, a), b) for x, a, b in zip(k, low, up, strict=True)]
        slope = [g[i] + dot(H[i], at) for i in range(n)]
        held = [
            logical_or(
                logical_and(less_equal(at[i], low[i]), less(0.0, slope[i])),
                logical_and(less_equal(up[i], at[i]), less(slope[i], 0.0)),
            )
            for i in range(n)
        ]
        fixed = [select(h, x, 0.0) for h, x in zip(held, at, strict=True)]
        right = [select(held[i], at[i], -g[i] - dot(H[i], fixed)) for i in range(n)]
        k = _solved(_factored(_freed(H, held))[0], right)
    return [minimum(maximum(x, a), b) for x, a, b in zip(k, low, up, strict=True)], held
