"""B-splines: ends, grids, bands."""

import numpy as np
import pytest

from kinetree.errors import KinetreeError
from kinetree.motion.splines import Basis, Grid, checked_basis


@pytest.mark.parametrize("degree", [3, 5])
def test_the_coefficients_at_an_end_give_its_state(degree):
    basis = Basis(10, degree)
    state = np.random.default_rng(0).standard_normal((3, 2))
    c = np.zeros((10, 2))
    c[-3:] = basis.end(state, 0.7, last=True)
    for rate in range(3):
        assert np.allclose(basis.values(1.0, rate) @ c / 0.7**rate, state[rate])


def test_a_line_has_its_values_at_the_greville_abscissae():
    basis = Basis(9, 3)
    u = np.linspace(0.0, 1.0, 7)
    assert np.allclose(basis.values(u) @ basis.greville, u)


def test_a_grid_integrates_polynomials_and_keeps_given_times():
    basis = Basis(8, 3)
    grid = Grid.gauss(basis, 3)
    assert (grid.weights * grid.u**5).sum() == pytest.approx(1.0 / 6.0)
    times = (np.arange(13) + 0.5) / 13
    other = Grid.at(basis, times, 1.0 / 13)
    kept = other.u[other.weights > 0.0]
    assert np.allclose(np.sort(kept), times)


def test_too_few_coefficients_are_named():
    with pytest.raises(KinetreeError, match="6 of them are fixed"):
        checked_basis(5, 3, 6)
    with pytest.raises(KinetreeError, match="degree=2"):
        checked_basis(9, 2, 4)
