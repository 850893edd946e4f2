"""Symmetric matrices as sums of squares, S = d 1 + a aT + b bT: cheaper to turn.

R S R^T is then d 1 + (R a)(R a)^T + (R b)(R b)^T, in about two thirds of the products. With d the
least eigenvalue, S - d 1 has two positive ones, and there is a pair a, b with b.x = 0.
The sum is S up to the rounding of its largest entry. Where that would cost a small moment half of
its digits, S stays as it is. So does an S with fewer terms than its squares: one with a product
beside a moment of zero, which no body has, or with moments of zero beside negative ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinetree.scalar import Scalar
from kinetree.spatial import Rotation, Symmetric3, Vector3

NOISE = 4.0 * float(np.finfo(float).eps)
SLENDER = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class SumOfSquares(Symmetric3):
    """A symmetric matrix that is also d 1 + a aT + b bT."""

    d: Scalar = field(compare=False, repr=False)
    a: Vector3 = field(compare=False, repr=False)
    b: Vector3 = field(compare=False, repr=False)

    def turned(self, R: Rotation) -> Symmetric3:
        if R.is_constant:  # then so are the six entries
            return Symmetric3.turned(self, R)
        a, b = R @ self.a, R @ self.b
        return Symmetric3.diagonal(self.d) + Symmetric3.outer(b, b) + Symmetric3.outer(a, a)


def as_sum_of_squares(matrix: Symmetric3) -> Symmetric3:
    """The same matrix of floats as a `SumOfSquares`, if that keeps the digits of its moments."""
    largest = max(abs(entry) for entry in matrix)
    if any(0.0 < abs(moment) < SLENDER * largest for moment in (matrix.xx, matrix.yy, matrix.zz)):
        return matrix
    if any(not moment and (u or v) for moment, u, v in _beside(matrix)):
        return matrix
    values, vectors = np.linalg.eigh([list(row) for row in matrix.rows])
    roots = vectors[:, 1:] * np.sqrt(values[1:] - values[0])
    pair = np.asarray(np.linalg.qr(roots.T, mode="r"))
    pair[np.abs(pair) <= NOISE * np.abs(pair).max()] = 0.0
    a, b = (Vector3(*row) for row in pair.tolist())
    terms = sum(any(part) for part in ((values[0],), a, b))
    if sum(bool(moment) for moment in (matrix.xx, matrix.yy, matrix.zz)) < terms:
        return matrix
    xx, yy, zz, xy, xz, yz = matrix
    return SumOfSquares(xx, yy, zz, xy, xz, yz, float(values[0]), a, b)


def _beside(m: Symmetric3) -> tuple[tuple[Scalar, Scalar, Scalar], ...]:
    """Each moment with the two products in its row."""
    return (m.xx, m.xy, m.xz), (m.yy, m.xy, m.yz), (m.zz, m.xz, m.yz)
