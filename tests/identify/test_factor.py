"""Factors in constant memory are those of all rows at once."""

import numpy as np
import pytest

from kinetree.identify.factor import Factor, Factors


def gram(R):
    return R.T @ R


@pytest.mark.parametrize("piece", [3, 50, 1000])
def test_pieces_give_the_factor_of_the_whole(piece):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((1000, 7)) * [1, 10, 0.1, 1, 1, 100, 5]
    factor = Factor(7)
    for start in range(0, 1000, piece):
        factor.add(rows[start : start + piece])
    assert factor.rows == 1000
    assert np.allclose(gram(factor.triangle), gram(rows), rtol=1e-11)


def test_exact_data_stay_exact_where_normal_equations_lose_half_the_digits():
    rng = np.random.default_rng(0)
    scale = 10.0 ** -np.arange(8.0)
    Y, x = rng.standard_normal((4000, 8)) @ (np.eye(8) + 0.99), rng.standard_normal(8)
    Y = Y * scale
    factors = Factors([np.arange(8)], 8)
    for start in range(0, 4000, 100):
        factors.add(0, Y[start : start + 100], Y[start : start + 100] @ x)
    R, z = factors.stacked()
    length = np.linalg.norm(R, axis=0)
    found = np.linalg.lstsq(R / length, z, rcond=None)[0] / length
    assert np.abs(found - x).max() < 1e-7
    assert factors.residuals(x)[0] < 1e-20


def test_columns_that_are_seen_late_are_not_lost():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((600, 5))
    rows[:400, 2] = 0.0
    factor = Factor(5)
    for start in range(0, 600, 40):
        factor.add(rows[start : start + 40])
    assert np.allclose(gram(factor.triangle), gram(rows), rtol=1e-11)


def test_files_are_merged():
    rng = np.random.default_rng(0)
    Y, t = rng.standard_normal((300, 4)), rng.standard_normal(300)
    whole, first, second = (Factors([np.arange(4)], 4) for _ in range(3))
    whole.add(0, Y, t)
    first.add(0, Y[:100], t[:100])
    second.add(0, Y[100:], t[100:])
    first.merge(second)
    assert first.rows.tolist() == [300]
    assert np.allclose(gram(first.factors[0]), gram(whole.factors[0]), rtol=1e-12)


def test_a_column_may_be_zero_at_first_or_always():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2000, 6))
    rows[:, 1] = 0.0
    rows[:900, 4] = 0.0
    factor = Factor(6)
    for start in range(0, 2000, 100):
        factor.add(rows[start : start + 100])
    assert factor.inverse is not None
    assert np.allclose(gram(factor.triangle), gram(rows), rtol=1e-11)
