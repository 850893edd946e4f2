"""Least squares in constant memory: triangular factors that grow by rows.

Sources: G. H. Golub & C. F. Van Loan, Matrix Computations (4th ed., 2013), for
updating a QR factorisation by rows; T. Fukaya and others, Shifted Cholesky QR, SIAM J. Scientific
Computing 42 (2020), for preconditioned Cholesky QR. The rows of each joint have a factor of their
own, because a joint feels only the bodies that it moves, and because the noise of joints differs.

    symbol    code        meaning
    Y_k, t_k  rows        regressor rows and measured forces of velocity k
    R_k       factors[k]  triangular, with R_k^T R_k = [Y_k t_k]^T [Y_k t_k]
    S         divisor     R_k of the first rows, its smallest diagonal entries made larger
    G         gram        the sum of Z^T Z over later rows, with Z = [Y t] S^-1

Then |Y_k x - t_k| = |R_k (x, -1)| for every x: whatever is asked of the data later, with other
weights for the joints, with constraints or a prior, needs the small matrices R_k and nothing else.

Later rows are added by matrix products, R_k^T R_k = R^T R + S^T G S with R of the first rows. That
is as accurate as QR, because the columns of Z are nearly orthogonal, and several times faster,
because QR of narrow matrices is bound by memory and by the synchronisation of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.typing import Array

LEAST = 1e-3
"""Relative to a column's norm: smaller diagonal entries of S are not divided by."""
ROUNDING = 1e-14
"""Relative to the largest eigenvalue of G: smaller ones are rounding errors."""
AGAIN = 4
"""S is recomputed when the number of rows has grown by this factor: the first rows may contain
little information."""
ONE_THREAD = 2.5e5
"""Multiplications of a matrix product that OpenBLAS computes in one thread."""
SMALLEST = 16
"""Rows of the smallest product."""
ROWS_PER_COLUMN = 4
"""Rows per column from which S is computed."""


def triangle(rows: Array) -> Array:
    """R with R^T R = rows^T rows, at most square."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def gram(rows: Array, inverse: Array) -> Array:
    """Z^T Z for Z = rows S^-1, by products too small for BLAS to share between threads.

    Waking threads for a product takes longer than the product, by far if other programs run.
    """
    m, n = rows.shape
    height = max(SMALLEST, min(m, int(ONE_THREAD / n**2)))
    whole = m - m % height
    Z = rows[:whole].reshape(-1, height, n) @ inverse
    last = rows[whole:] @ inverse
    return (np.swapaxes(Z, 1, 2) @ Z).sum(axis=0) + last.T @ last


class Factor:
    """The triangular factor of rows that arrive in pieces.

    Arguments:
        columns: how many, the forces included.
    """

    def __init__(self, columns: int) -> None:
        self.start: Array = np.zeros((0, columns))
        self.inverse: Array | None = None
        self.gram: Array = np.zeros((columns, columns))
        self.divisor = np.eye(columns)
        self.silent = np.zeros(columns, dtype=bool)
        self.rows = 0
        self.started: float = np.inf

    def add(self, rows: Array) -> None:
        """Take rows in, (m, columns)."""
        grown = self.rows >= AGAIN * self.started
        if grown or (self.inverse is not None and rows[:, self.silent].any()):
            self.start, self.inverse = self.triangle, None
            self.gram = np.zeros_like(self.gram)
        self.rows += len(rows)
        if self.inverse is None:
            step = ROWS_PER_COLUMN * rows.shape[1]
            self.start = triangle(np.concatenate([self.start, rows[:step]]))
            rows = rows[step:]
            if self.rows >= step:
                self._prepare()
        if self.inverse is None:
            self.start = triangle(np.concatenate([self.start, rows]))
        else:
            self.gram += gram(rows, self.inverse)

    def _prepare(self) -> None:
        """Compute S^-1 from the rows so far, without columns of zeros."""
        length = np.linalg.norm(self.start, axis=0)
        self.silent = length == 0.0
        live = np.flatnonzero(~self.silent)
        S = np.eye(len(length))
        S[np.ix_(live, live)] = triangle(self.start[:, live])
        diagonal = np.diag(S)
        least = np.maximum(np.abs(diagonal), LEAST * length)
        np.fill_diagonal(S, np.where(diagonal < 0.0, -least, least))
        self.divisor, self.inverse, self.started = S, np.linalg.inv(S), self.rows

    @property
    def triangle(self) -> Array:
        """R of all rows."""
        if self.inverse is None:
            return self.start
        scale = np.sqrt(np.maximum(np.diag(self.gram), 1e-300))
        values, vectors = np.linalg.eigh(self.gram / scale / scale[:, None])
        values = np.where(values > ROUNDING * values[-1], values, 0.0)
        root = np.sqrt(values)[:, None] * vectors.T * scale
        return triangle(np.concatenate([self.start, root @ self.divisor]))


class Factors:
    """The data of an identification, compressed: a triangular factor for each velocity.

    Arguments:
        support: for each velocity, which parameters its force depends on.
        count: how many parameters there are.
    """

    def __init__(self, support: Sequence[NDArray[np.intp]], count: int) -> None:
        self.support, self.count = tuple(support), count
        self.parts = [Factor(len(places) + 1) for places in support]

    @property
    def rows(self) -> Array:
        """The number of measurements of each velocity, (nv,)."""
        return np.array([part.rows for part in self.parts])

    @property
    def factors(self) -> list[Array]:
        """R of each velocity, with the forces as its last column."""
        return [part.triangle for part in self.parts]

    def add(self, k: int, Y: Array, forces: Array) -> None:
        """Add measurements of one velocity.

        Arguments:
            k: the number of the velocity.
            Y: rows of the regressor, (m, support).
            forces: the measured forces, (m,).
        """
        self.parts[k].add(np.concatenate([Y, forces[:, None]], axis=1))

    def merge(self, other: Factors) -> None:
        """Add the data of other factors, such as those of another file.

        Arguments:
            other: with the same parameters.
        """
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            count = mine.rows + theirs.rows
            mine.add(theirs.triangle)
            mine.rows = count

    def residuals(self, x: Array) -> Array:
        """The sum of squared residuals of each velocity.

        Arguments:
            x: the parameters, (count,).

        Returns:
            (nv,).
        """
        return np.array([np.sum((Y @ x[places] - t) ** 2) for places, Y, t in self.split()])

    def split(self) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
        """The triangular problem of each velocity.

        Returns:
            For each velocity, the places of its parameters, its matrix and its right-hand side.
        """
        for places, factor in zip(self.support, self.factors, strict=True):
            yield places, factor[:, :-1], factor[:, -1]

    def stacked(self, weights: Array | None = None) -> tuple[Array, Array]:
        """One triangular problem for all velocities.

        Arguments:
            weights: what each velocity's residuals are multiplied by, (nv,); one if None.

        Returns:
            R (m, count) and z (m,): |R x - z| is the norm of the weighted residuals at the
            parameters x.
        """
        scale = np.ones(len(self.support)) if weights is None else np.asarray(weights)
        parts = list(self.split())
        whole = np.zeros((sum(len(Y) for _, Y, _ in parts), self.count + 1))
        at = 0
        for w, (places, Y, t) in zip(scale, parts, strict=True):
            rows = slice(at, at + len(Y))
            whole[rows, places] = w * Y
            whole[rows, -1] = w * t
            at += len(Y)
        R = triangle(whole)
        return R[:, :-1], R[:, -1]
