"""The equations of motion in other coordinates.

Source: Echeandia & Wensing, section 3.3 and the proof of Theorem 1.

    paper     code        meaning
    q-bar     y           the other coordinates, q = q(y)
    A         A           dq/dy (31)
    H-bar     mass        A^T H A (32)
    C-bar     coriolis    A^T C A + A^T H A' (33), consistent if C is (37)
    g-bar     gravity     A^T g (34)
    tau-bar   force       A^T tau (35)
    Gamma-bar symbols     (74)

    tau-bar = A^T ID(q, A y', A y'' + A' y'), and y'' from it: H-bar y'' = tau-bar - its bias

Derivatives of q(y) come from running it on dual numbers, once and twice.

Where the text at hand has something else, docs/sources.md says so.

Cost: that of the matrices, and O(n^3) for the products (O(n^4) for the symbols).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.algorithms.christoffel import christoffel_symbols
from kinetree.algorithms.coriolis import coriolis
from kinetree.algorithms.crba import crba
from kinetree.algorithms.dense import dot, inverse_symmetric
from kinetree.algorithms.rnea import rnea
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift

CoordinateMap = Callable[[Sequence[Scalar]], Sequence[Scalar]]
"""q(y), written over any scalar."""
Matrix = list[list[Scalar]]


def derivative(chart: CoordinateMap, y: Sequence[Scalar]) -> Matrix:
    """A = dq/dy (31)."""
    columns = []
    for j in range(len(y)):
        moving = [Dual(x, 1 if k == j else 0) for k, x in enumerate(y)]
        columns.append([lift(x).rate for x in chart(moving)])
    return transposed(columns)


def derivative_rate(chart: CoordinateMap, y: Sequence[Scalar], dy: Sequence[Scalar]) -> Matrix:
    """A', as y moves with dy."""
    moving = [Dual(x, dx) for x, dx in zip(y, dy, strict=True)]
    return [[lift(entry).rate for entry in row] for row in derivative(chart, moving)]


def mass_in(chart: CoordinateMap, model: Model, y: Sequence[Scalar]) -> Matrix:
    """H-bar (32)."""
    A = derivative(chart, y)
    return product(transposed(A), product(crba(model, list(chart(y))), A))


def coriolis_in(
    chart: CoordinateMap, model: Model, y: Sequence[Scalar], dy: Sequence[Scalar]
) -> Matrix:
    """C-bar (33), with C of the Christoffel symbols, and so in the new coordinates, too (37)."""
    A, dA = derivative(chart, y), derivative_rate(chart, y, dy)
    H, _, C = coriolis(model, list(chart(y)), [dot(row, dy) for row in A])
    inner = sum_of(product(C, A), product(H, dA))
    return product(transposed(A), inner)


def gravity_in(chart: CoordinateMap, model: Model, y: Sequence[Scalar]) -> list[Scalar]:
    """g-bar (34)."""
    zero = [0] * model.nv
    return force_in(chart, y, rnea(model, list(chart(y)), zero, zero))


def force_in(chart: CoordinateMap, y: Sequence[Scalar], tau: Sequence[Scalar]) -> list[Scalar]:
    """tau-bar (35)."""
    return [dot(column, tau) for column in transposed(derivative(chart, y))]


def inverse_dynamics_in(
    chart: CoordinateMap,
    model: Model,
    y: Sequence[Scalar],
    dy: Sequence[Scalar],
    ddy: Sequence[Scalar],
) -> list[Scalar]:
    """tau-bar of a motion: drives and friction included."""
    A, dA = derivative(chart, y), derivative_rate(chart, y, dy)
    v = [dot(row, dy) for row in A]
    a = [dot(row, ddy) + dot(bent, dy) for row, bent in zip(A, dA, strict=True)]
    return force_in(chart, y, rnea(model, list(chart(y)), v, a))


def forward_dynamics_in(
    chart: CoordinateMap,
    model: Model,
    y: Sequence[Scalar],
    dy: Sequence[Scalar],
    force: Sequence[Scalar],
) -> list[Scalar]:
    """y'' under tau-bar."""
    bias = inverse_dynamics_in(chart, model, y, dy, [0] * len(y))
    left = [f - b for f, b in zip(force, bias, strict=True)]
    return [dot(row, left) for row in inverse_symmetric(mass_in(chart, model, y))]


def symbols_in(chart: CoordinateMap, model: Model, y: Sequence[Scalar]) -> list[Matrix]:
    """Gamma-bar (74)."""
    n, q = len(y), list(chart(y))
    A, H = derivative(chart, y), crba(model, q)
    old = christoffel_symbols(model, q)
    units = [[1 if k == j else 0 for k in range(n)] for j in range(n)]
    second = [derivative_rate(chart, y, unit) for unit in units]  # [k][alpha][j]
    new = []
    for i in range(n):
        column = [row[i] for row in A]
        # sum over alpha of A_alpha,i Gamma_alpha, then A^T (...) A, and A^T H d^2 q
        middle = [
            [dot(column, [layer[b][c] for layer in old]) for c in range(len(q))]
            for b in range(len(q))
        ]
        both = product(transposed(A), product(middle, A))
        felt = [dot(column, row) for row in transposed(H)]
        bent = [[dot(felt, [row[j] for row in second[k]]) for k in range(n)] for j in range(n)]
        new.append(sum_of(both, bent))
    return new


def transposed(matrix: Sequence[Sequence[Scalar]]) -> Matrix:
    return [list(row) for row in zip(*matrix, strict=True)]


def product(a: Matrix, b: Matrix) -> Matrix:
    columns = transposed(b)
    return [[dot(row, column) for column in columns] for row in a]


def sum_of(a: Matrix, b: Matrix) -> Matrix:
    return [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]
