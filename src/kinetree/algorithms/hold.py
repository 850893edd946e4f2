"""The linearised motion over a step in which the joint forces are held.

Source: C. F. Van Loan, Computing integrals involving the matrix exponential (1978): with
x' = A x + B u and u constant over the step h,

    x(h) = Phi x(0) + Gamma u,    Phi = 1 + A S,    Gamma = S B,    S = sum of A^k h^(k+1) / (k+1)!

    symbol    code        meaning
    A         G 1; K D    how displacements and velocities change: G of `transport`, K = dqdd/dq,
                          D = dqdd/dv
    B         0; H_inv    how they change with joint forces; less than H^-1 under constraints
    r         rate        a bound of A: the larger root of r^2 = |D| r + |K|, and |G|

The series is cut after `DEGREE` terms by Horner's rule: below rounding while r h <= `SMALL`.

Cost: O(DEGREE N^3).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.constraints.forward_derivatives import acceleration_derivatives
from kinetree.algorithms.dense import dot
from kinetree.algorithms.transport import transport
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.scalar import Scalar, absolute, maximum, sqrt

DEGREE = 11
SMALL = 0.3
Matrix = list[list[Scalar]]


def held_linearization(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads = (),
) -> tuple[Matrix, Matrix, Scalar]:
    """Phi, Gamma and the bound r."""
    K, D, H_inv = acceleration_derivatives(model, q, v, tau, external)
    G = transport(model, q, v)
    S = _identity(2 * model.nv)
    for k in range(DEGREE, 1, -1):
        S = _one_plus(_product(G, K, D, S), dt / k)
    step = [[x * dt for x in row] for row in S]
    Phi = _one_plus(_product(G, K, D, step), 1)
    columns = list(zip(*H_inv, strict=True))
    Gamma = [[dot(row[model.nv :], column) for column in columns] for row in step]
    d = _norm(D)
    rate = maximum((d + sqrt(d * d + 4 * _norm(K))) * 0.5, _norm(G))
    return Phi, Gamma, rate


def _product(G: Matrix, K: Matrix, D: Matrix, S: Matrix) -> Matrix:
    """A S, with A of its four blocks."""
    n = len(G)
    upper, lower = ([list(c) for c in zip(*part, strict=True)] for part in (S[:n], S[n:]))
    first = [[dot(g, c) + x for c, x in zip(upper, S[n + i], strict=True)] for i, g in enumerate(G)]
    pairs = list(zip(upper, lower, strict=True))
    return first + [[dot(k, c) + dot(d, e) for c, e in pairs] for k, d in zip(K, D, strict=True)]


def _one_plus(A: Matrix, scale: Scalar) -> Matrix:
    return [[x * scale + (1 if i == j else 0) for j, x in enumerate(r)] for i, r in enumerate(A)]


def _identity(n: int) -> Matrix:
    return [[1 if i == j else 0 for j in range(n)] for i in range(n)]


def _norm(A: Matrix) -> Scalar:
    """The largest sum of absolute values in a row."""
    largest: Scalar = 0.0
    for row in A:
        largest = maximum(largest, sum((absolute(x) for x in row), start=0.0))
    return largest
