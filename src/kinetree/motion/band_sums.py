"""Second derivatives of a sum over samples by the coefficients of a spline: band matrices.

At a sample q, v and a are linear in the coefficients, q = N_0 c, v = N_1 c and a = N_2 c, so that
second derivatives Z_ab by two of them become N_a^T Z_ab N_b. Forces enter through their derivatives
D_a by q, v and a: with second derivatives H by the forces and X_a by a rate and the forces,

    Z_ab = S_ab + D_a^T H D_b + X_a D_b + (X_b D_a)^T                                           (1)

The derivatives of terms (`Sampled`) become the blocks of (1) with a <= b. Machine code adds them to
the bands (`runtime.cpu.bands`); `_add` is its definition, for back ends that do not compile.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.backend import backend
from kinetree.motion.arrays import Array
from kinetree.motion.splines import bands
from kinetree.motion.terms import Sampled

RATES = ("q", "v", "a")
PAIRS = tuple((a, b) for a in range(3) for b in range(a, 3))
"""The order of blocks."""
TILE = 8
"""Coefficients of a block are padded with zeros to a multiple of this."""

Forces = tuple[Sequence[Array], Array]
"""Derivatives of forces by q, v and a; second derivatives by each force."""


class BandSums:
    """Adds the second derivatives at the samples of one grid to band matrices.

    Arguments:
        N: basis functions and their rates by time, (3, intervals, samples, wide).
        weights: of the samples, (intervals, samples).
    """

    def __init__(self, N: Array, weights: Array) -> None:
        self.N, self.weights = N, weights

    @cached_property
    def coefficients(self) -> Array:
        """The weight of each block: (intervals, samples, blocks, wide^2 padded)."""
        _, intervals, samples, wide = self.N.shape
        room = -(-wide * wide // TILE) * TILE
        made = np.zeros((intervals, samples, len(PAIRS), room))
        for k, (a, b) in enumerate(PAIRS):
            both = self.N[a][..., :, None] * self.N[b][..., None, :]
            both = both * self.weights[..., None, None]
            made[:, :, k, : wide * wide] = both.reshape(intervals, samples, -1)
        return made

    def add(self, total: Array, at: Sampled, D: Sequence[Array]) -> None:
        """Add the derivatives of terms at the samples.

        Arguments:
            total: band matrices, (problems, coefficients, wide, n, n).
            at: second derivatives at the samples, (problems, intervals, samples, ...).
            D: derivatives of the forces by q, v and a; empty if no term has forces.
        """
        shape = (len(total), *self.weights.shape, total.shape[-1])
        second = _blocks(at, D)
        forces: Forces | None = None
        if "tau" in at.diagonal:
            forces = D, np.broadcast_to(at.diagonal["tau"], shape)
        by_rate = [
            np.broadcast_to(at.diagonal[x], shape) if x in at.diagonal else None for x in RATES
        ]
        pairs = [
            None if (x := second.get(key)) is None else np.broadcast_to(x, (*shape, shape[-1]))
            for key in PAIRS
        ]
        if backend().compiles:
            from kinetree.compiler.runtime.cpu.bands import add_bands

            samples = self.weights.shape[1]
            add_bands(total, self.coefficients, samples, forces, by_rate, pairs)
        else:
            self._add(total, forces, by_rate, pairs)

    def _add(
        self,
        total: Array,
        forces: Forces | None,
        by_rate: Sequence[Array | None],
        second: Sequence[Array | None],
    ) -> None:
        """The same with arrays; arguments as in `add_bands`."""
        problems, _, wide, n, _ = total.shape
        intervals, samples = self.weights.shape
        Z = np.zeros((problems, intervals, samples, len(PAIRS), n, n))
        every = np.arange(n)
        for k, (a, b) in enumerate(PAIRS):
            if forces is not None:
                D, d = forces
                Z[..., k, :, :] += D[a].swapaxes(-1, -2) @ (d[..., None] * D[b])
            if (given := second[k]) is not None:
                Z[..., k, :, :] += given
            if a == b and (x := by_rate[a]) is not None:
                Z[..., k, every, every] += x
            Z[..., k, :, :] *= 0.5 if a == b else 1.0
        c = self.coefficients[..., : wide * wide].reshape(intervals, -1, wide * wide)
        half = c.swapaxes(-1, -2) @ Z.reshape(problems, intervals, -1, n * n)
        local = half.reshape(problems, intervals, wide, wide, n, n).transpose(0, 1, 2, 4, 3, 5)
        total += bands(local + local.transpose(0, 1, 4, 5, 2, 3))


def _blocks(at: Sampled, D: Sequence[Array]) -> dict[tuple[int, int], Array]:
    """Z_ab (1) for a <= b, without diagonal terms; (q, v) is (0, 1)."""
    sums: dict[tuple[int, int], Array] = {}

    def add(a: int, b: int, x: Array) -> None:
        sums[a, b] = sums[a, b] + x if (a, b) in sums else x

    for (one, other), x in at.second.items():
        if other != "tau":
            add(RATES.index(one), RATES.index(other), x)
        elif one == "tau":
            bent = [_product(x, by, at.blocks) for by in D]
            for a, b in PAIRS:
                add(a, b, D[a].swapaxes(-1, -2) @ bent[b])
        else:
            a = RATES.index(one)
            for b, by in enumerate(D):
                crossed = _product(x, by, at.blocks)
                if a <= b:
                    add(a, b, crossed)
                if b <= a:
                    add(b, a, crossed.swapaxes(-1, -2))
    return sums


def _product(H: Array, D: Array, blocks: Sequence[slice] | None) -> Array:
    """H D, where H may be zero outside of diagonal blocks."""
    if blocks is None:
        return H @ D
    found = np.zeros(np.broadcast_shapes(H.shape, D.shape))
    for block in blocks:
        found[..., block, :] = H[..., block, block] @ D[..., block, :]
    return found
