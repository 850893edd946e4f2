"""Solves positive definite band systems of many problems.

Small ones are factored in machine code, all in one call; large ones one by one by LAPACK, whose
blocked algorithms are faster there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.compiler.runtime.backend import backend
from kinetree.motion.arrays import Array
from kinetree.motion.splines import scipy_module

SMALL = 64
"""Up to this many subdiagonals, LAPACK's calls cost more than its blocking saves."""


def solve_bands(bands: Array, right: Array, shift: Array) -> tuple[Array, Array]:
    """The solutions of band systems with shifted diagonals.

    Arguments:
        bands: blocks on and below the diagonal: [k, d] is that of rows k + d and columns k,
            (problems, blocks, wide, n, n).
        right: (problems, blocks n).
        shift: added to each diagonal, (problems,).

    Returns:
        The solutions, and which matrices were positive definite; of the others, they are zero.
    """
    wide, n = bands.shape[2:4]
    if wide * n <= SMALL and backend().compiles:
        from kinetree.compiler.runtime.cpu import bands as compiled

        return compiled.solve_bands(bands, right, shift)
    return _by_lapack(bands, right, shift)


def factor_bands(bands: Array, shift: float) -> Callable[[Array], Array] | None:
    """The solver of one such matrix, for any number of columns; None if not positive definite.

    Arguments:
        bands: (blocks, wide, n, n).
        shift: added to its diagonal.
    """
    lapack = scipy_module("linalg.lapack")
    lower = _columns(bands)
    lower[:, 0] += shift
    factor, fault = lapack.dpbtrf(lower.T, lower=1, overwrite_ab=1)
    return None if fault else lambda right: lapack.dpbtrs(factor, right, lower=1)[0]


def _by_lapack(bands: Array, right: Array, shift: Array) -> tuple[Array, Array]:
    found, good = np.zeros_like(right), np.zeros(len(right), bool)
    for k, matrix in enumerate(bands):
        solve = factor_bands(matrix, shift[k])
        if solve is not None:
            found[k], good[k] = solve(right[k]), True
    return found, good


def _columns(bands: Array) -> Array:
    """Blocks below the diagonal in LAPACK's band storage, transposed: column r is diagonal r."""
    blocks, wide, n, _ = bands.shape
    size = wide * n
    columns = np.zeros((blocks, n, size))
    whole = bands.reshape(blocks, size, n)
    for j in range(n):  # column j of each block starts at its own diagonal
        columns[:, j, : size - j] = whole[:, j:, j]
    return columns.reshape(blocks * n, size)
