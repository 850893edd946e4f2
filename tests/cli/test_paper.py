"""The paper's tables: our residuals are no larger than those printed, our times are shorter."""

import pytest

import kinetree as kt
from kinetree.cli import paper


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), list(enumerate(paper.BODIES)))
def test_residuals_are_no_larger_than_the_papers(k, n):
    for ours, printed in zip(
        paper.residuals(kt.robots.chain(n)), paper.TABLE_1.values(), strict=True
    ):
        assert ours <= printed[k]


@pytest.mark.slow
def test_partials_of_the_mass_matrix_are_the_symbols_of_algorithm_2():
    import sympy

    model, q = paper.planar_tree(4), list(sympy.symbols("q1:5"))
    one = paper.partials(model, q)
    two = kt.algorithms.christoffel_symbols(model, q)
    at = dict(zip(q, (0.3, -0.7, 1.1, 0.4), strict=True))
    for a, b in zip(sympy.flatten(one), sympy.flatten(two), strict=True):
        assert abs(float((a - b).subs(at) if a != b else 0.0)) < 1e-13


def test_an_exponent_is_that_of_a_power():
    assert paper.exponent((1, 2, 4), [3.0, 24.0, 192.0]) == pytest.approx(3.0)
