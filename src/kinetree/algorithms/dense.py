"""Small dense linear algebra over any scalar: what a joint of several degrees of freedom needs."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.scalar import Scalar


def inverse_symmetric(A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """The inverse of a symmetric positive definite matrix, by A = L D L^T."""
    n = len(A)
    L: list[list[Scalar]] = [[0] * n for _ in range(n)]
    D_inv: list[Scalar] = []
    for j in range(n):
        d = A[j][j]
        scaled = [L[j][k] / D_inv[k] for k in range(j)]  # L_jk D_k
        for k in range(j):
            d = d - L[j][k] * scaled[k]
        D_inv.append(1 / d)
        for i in range(j + 1, n):
            entry = A[i][j]
            for k in range(j):
                entry = entry - L[i][k] * scaled[k]
            L[i][j] = entry * D_inv[j]
    # M = L^-1, unit lower triangular; A^-1 = M^T D^-1 M
    M: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for j in range(n):
        M[j][j] = 1
        for i in range(j + 1, n):
            total = -L[i][j]
            for k in range(j + 1, i):
                total = total - L[i][k] * M[k][j]
            M[i][j] = total
    inverse: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            total = M[j][i] * D_inv[j]
            for k in range(j + 1, n):
                total = total + M[k][i] * (M[k][j] * D_inv[k])
            inverse[i][j] = inverse[j][i] = total
    return inverse
