"""Small dense linear algebra over any scalar.

Symmetric positive definite matrices by A = L D L^T, L unit lower triangular.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from kinetree.scalar import Scalar

Matrix = Sequence[Sequence[Scalar]]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """The sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0)


def factor_symmetric(A: Matrix) -> tuple[list[list[Scalar]], list[Scalar]]:
    """L and the inverse of D, of a symmetric positive definite matrix."""
    n = len(A)
    L: list[list[Scalar]] = [[0] * n for _ in range(n)]
    D_inv: list[Scalar] = []
    for j in range(n):
        scaled = [L[j][k] / D_inv[k] for k in range(j)]  # L_jk D_k
        d = A[j][j]
        for k in range(j):
            d = d - L[j][k] * scaled[k]
        D_inv.append(1 / d)
        for i in range(j + 1, n):
            entry = A[i][j]
            for k in range(j):
                entry = entry - L[i][k] * scaled[k]
            L[i][j] = entry * D_inv[j]
    return L, D_inv


def inverse_symmetric(A: Matrix) -> list[list[Scalar]]:
    """A^-1 = K^T D^-1 K, with K the inverse of L."""
    L, D_inv = factor_symmetric(A)
    n = len(A)
    K: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for j in range(n):
        K[j][j] = 1
        for i in range(j + 1, n):
            total = -L[i][j]
            for k in range(j + 1, i):
                total = total - L[i][k] * K[k][j]
            K[i][j] = total
    inverse: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            total = K[j][i] * D_inv[j]
            for k in range(j + 1, n):
                total = total + K[k][i] * (K[k][j] * D_inv[k])
            inverse[i][j] = inverse[j][i] = total
    return inverse


def determinant(A: Matrix) -> Scalar:
    """The determinant of a small matrix, without division: Laplace's expansion, row by row."""
    minors: dict[tuple[int, ...], Scalar] = {(): 1}  # of the rows so far, by columns
    for count, row in enumerate(A, 1):
        larger = {}
        for columns in combinations(range(len(A)), count):
            total: Scalar = 0
            for k, column in enumerate(columns):
                term = row[column] * minors[columns[:k] + columns[k + 1 :]]
                total = total + term if (count - 1 - k) % 2 == 0 else total - term
            larger[columns] = total
        minors = larger
    return minors[tuple(range(len(A)))]
