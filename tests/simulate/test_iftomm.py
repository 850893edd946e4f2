"""IFToMM's benchmark problems with closed chains: the published results are met."""

from itertools import pairwise

import pytest
from benchmarks import constraints as problems


@pytest.mark.parametrize(
    "problem",
    [
        problems.pendulum,
        lambda: problems.four_bars(2, dt=1e-3),
        problems.squeezer,
        problems.bricard,
        pytest.param(lambda: problems.four_bars(40), marks=pytest.mark.slow),
    ],
    ids=["A01 pendulum", "A02 two four-bars", "A03 squeezer", "A04 Bricard", "A02 40 four-bars"],
)
def test_the_published_result_is_met_with_closed_loops(problem):
    outcome = problem()
    assert outcome.error <= outcome.demanded, outcome
    assert outcome.loops < 1e-10


@pytest.mark.parametrize(
    "sizes", [(10, 20, 40), pytest.param((40, 100), marks=pytest.mark.slow)], ids=str
)
def test_operations_grow_with_the_number_of_loops_and_not_with_its_cube(sizes):
    costs = problems.growth(sizes)
    for few, many in pairwise(sizes):
        assert costs[many][0] / costs[few][0] < 1.1 * many / few
