"""Band matrices of splines: sums of second derivatives, and solutions."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.motion import band_sums
from kinetree.motion.band_solver import _by_lapack, solve_bands
from kinetree.motion.band_sums import BandSums
from kinetree.motion.splines import Basis, Grid
from kinetree.motion.terms import Sampled

NAMES = ("q", "v", "a", "tau")
BASIS = Basis(7, 3)


def sums_of(samples: int) -> tuple[Grid, BandSums]:
    grid = Grid.gauss(BASIS, samples)
    return grid, BandSums(grid.N, grid.weights)


def random_sampled(rng: np.random.Generator, shape: tuple[int, ...], blocks: bool) -> Sampled:
    """Second derivatives by all of (q, v, a, tau), some of them as diagonals."""
    n = shape[-1]
    second = {}
    for i, one in enumerate(NAMES):
        for other in NAMES[i:]:
            H = rng.standard_normal((*shape, n))
            if blocks and other == "tau":
                H[..., 1:, :] = H[..., :, 1:] = 0.0
            second[one, other] = H + H.swapaxes(-1, -2) if one == other else H
    diagonal = {name: rng.standard_normal(shape) for name in NAMES}
    return Sampled(np.zeros(shape[:-1]), {}, diagonal, second, (slice(0, 1),) if blocks else None)


def dense(grid: Grid, at: Sampled, D: list[np.ndarray], k: int) -> np.ndarray:
    """The second derivatives of problem k, by the chain rule with dense matrices."""
    intervals, samples = grid.u.shape
    n, wide = D[0].shape[-1], grid.N.shape[-1]
    total = np.zeros((BASIS.count * n, BASIS.count * n))
    for i in range(intervals):
        for s in range(samples):
            rates = np.zeros((3, n, BASIS.count * n))
            for a in range(3):
                rates[a][:, i * n : (i + wide) * n] = np.kron(grid.N[a, i, s], np.eye(n))
            tau = sum(D[a][k, i, s] @ rates[a] for a in range(3))
            x = dict(zip(NAMES, [*rates, tau], strict=True))
            for (one, other), H in at.second.items():
                part = x[one].T @ H[k, i, s] @ x[other]
                total += grid.weights[i, s] * (part if one == other else part + part.T)
            for name, d in at.diagonal.items():
                total += grid.weights[i, s] * x[name].T @ (d[k, i, s][:, None] * x[name])
    return total


def whole(bands: np.ndarray) -> np.ndarray:
    """A symmetric matrix from its blocks on and below the diagonal."""
    count, wide, n, _ = bands.shape
    found = np.zeros((count, n, count, n))
    for k in range(count):
        for d in range(min(wide, count - k)):
            found[k + d, :, k] = bands[k, d]
            found[k, :, k + d] = bands[k, d].T
    return found.reshape(count * n, count * n)


@pytest.mark.parametrize("n", [1, 2, 3, 9])
@pytest.mark.parametrize("blocks", [False, True])
def test_second_derivatives_are_those_of_the_chain_rule(n: int, blocks: bool) -> None:
    rng = np.random.default_rng(n)
    grid, sums = sums_of(2)
    at = random_sampled(rng, (3, *grid.u.shape, n), blocks)
    D = [rng.standard_normal((3, *grid.u.shape, n, n)) for _ in range(3)]
    total = np.zeros((3, BASIS.count, 4, n, n))
    sums.add(total, at, D)
    for k in range(3):
        expected = dense(grid, at, D, k)
        assert np.abs(whole(total[k]) - expected).max() < 1e-13 * np.abs(expected).max()


def test_machine_code_adds_what_its_definition_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, n = np.random.default_rng(0), 5
    grid, sums = sums_of(3)
    at = random_sampled(rng, (2, *grid.u.shape, n), False)
    parts = (at, Sampled(at.value, {}, {"tau": at.diagonal["tau"]}), Sampled(at.value))
    D = [rng.standard_normal((2, *grid.u.shape, n, n)) for _ in range(3)]
    for part in parts:
        start = rng.standard_normal((2, BASIS.count, 4, n, n))
        compiled, defined = start.copy(), start.copy()
        sums.add(compiled, part, D)
        with monkeypatch.context() as patch:
            patch.setattr(band_sums, "backend", lambda: type("None", (), {"compiles": False}))
            sums.add(defined, part, D)
        assert np.abs(compiled - defined).max() < 1e-13 * np.abs(defined).max()


@pytest.mark.parametrize(("blocks", "wide", "n"), [(12, 4, 7), (2, 4, 3), (5, 6, 1), (1, 1, 2)])
def test_small_band_matrices_are_solved_as_lapack_solves_them(
    blocks: int, wide: int, n: int
) -> None:
    rng = np.random.default_rng(0)
    bands = rng.standard_normal((11, blocks, wide, n, n))
    bands[:, :, 0] += bands[:, :, 0].swapaxes(-1, -2) + 6 * wide * n * np.eye(n)
    bands[3, blocks // 2, 0] -= 20 * wide * n * np.eye(n)  # not positive definite
    right, shift = rng.standard_normal((11, blocks * n)), rng.random(11)
    x, good = solve_bands(bands, right, shift)
    expected, fine = _by_lapack(bands, right, shift)
    assert (good == fine).all()
    assert good.sum() == 10
    assert not x[3].any()
    assert np.abs(x - expected).max() < 1e-13 * np.abs(expected).max()
    H = whole(bands[0]) + shift[0] * np.eye(blocks * n)
    assert np.abs(H @ x[0] - right[0]).max() < 1e-12
