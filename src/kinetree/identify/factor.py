"""Least squares in constant memory: triangular factors that grow by rows.

Source: G. H. Golub & C. F. Van Loan, Matrix Computations (4th ed., 2013), section 6.5.3 (updating a
QR factorisation by rows); the rows of each joint have a factor of their own, because a joint feels
only the bodies that it moves, and because the noise of joints differs.

    symbol    code        meaning
    Y_k, t_k  rows        regressor rows and measured forces of velocity k
    R_k       factors[k]  triangular, with R_k^T R_k = [Y_k t_k]^T [Y_k t_k]

Then |Y_k x - t_k| = |R_k (x, -1)| for every x: whatever is asked of the data later, with other
weights for the joints, with constraints or a prior, needs the small matrices R_k and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kinetree.typing import Array

CHUNK = 4096
"""Rows that are added at once: large enough for LAPACK's blocks, small enough for a cache."""


def triangle(rows: Array) -> Array:
    """R with R^T R = rows^T rows, at most square."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


class Factors:
    """The data of an identification, compressed: a triangular factor for each velocity.

    Arguments:
        support: for each velocity, which parameters its force depends on.
        count: how many parameters there are.

    rows: how many measurements of each velocity were added.
    """

    def __init__(self, support: Sequence[Array], count: int) -> None:
        self.support, self.count = tuple(support), count
        self.factors: list[Array] = [np.zeros((0, len(places) + 1)) for places in support]
        self.rows = np.zeros(len(self.support), dtype=int)

    def add(self, k: int, Y: Array, forces: Array) -> None:
        """Take measurements of velocity k in: rows (m, support) and forces (m,)."""
        new = np.concatenate([Y, forces[:, None]], axis=1)
        self.factors[k] = triangle(np.concatenate([self.factors[k], new]))
        self.rows[k] += len(Y)

    def merge(self, other: Factors) -> None:
        """Take the data of other factors in, such as those of another file.

        Arguments:
            other: with the same parameters.
        """
        for k, factor in enumerate(other.factors):
            self.factors[k] = triangle(np.concatenate([self.factors[k], factor]))
        self.rows += other.rows

    def residuals(self, x: Array) -> Array:
        """The sum of squared residuals of each velocity at the parameters x, (nv,)."""
        return np.array([np.sum((Y @ x[places] - t) ** 2) for places, Y, t in self.split()])

    def split(self) -> Iterator[tuple[Array, Array, Array]]:
        """For each velocity: the places of its parameters, its matrix and its right-hand side."""
        for places, factor in zip(self.support, self.factors, strict=True):
            yield places, factor[:, :-1], factor[:, -1]

    def stacked(self, weights: Array | None = None) -> tuple[Array, Array]:
        """One triangular problem for all: R (m, count) and z (m,), with |R x - z| as the data.

        Arguments:
            weights: what each velocity's residuals are multiplied by, (nv,); one if None.
        """
        scale = np.ones(len(self.support)) if weights is None else np.asarray(weights)
        whole = np.zeros((sum(len(f) for f in self.factors), self.count + 1))
        at = 0
        for w, (places, Y, t) in zip(scale, self.split(), strict=True):
            rows = slice(at, at + len(Y))
            whole[rows, places] = w * Y
            whole[rows, -1] = w * t
            at += len(Y)
        R = triangle(whole)
        return R[:, :-1], R[:, -1]
