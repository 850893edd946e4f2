"""Operations grow with the robot as theory says, counted as the algorithms do them on scalars."""

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms, scalar

SIZES = (10, 50, 100, 200, 400)


class Counted:
    """A scalar that counts multiplications and additions; zeros and ones cost nothing."""

    count = 0

    def __add__(self, other):
        if isinstance(other, (int, float)) and other == 0:
            return self
        Counted.count += 1
        return self

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other):
        if isinstance(other, (int, float)) and other == 0:
            return 0
        if isinstance(other, (int, float)) and abs(other) == 1:
            return self
        Counted.count += 1
        return self

    __rmul__ = __mul__

    def __truediv__(self, other):
        Counted.count += 1
        return self

    __rtruediv__ = __truediv__

    def __neg__(self):
        return self


scalar.register(Counted, lambda op, args: args[0])


def operations(algorithm, model):
    """How many additions and multiplications an algorithm of one, two or three vectors does."""
    count = {"crba": 1, "christoffel_symbols": 1, "coriolis": 2}.get(algorithm.__name__, 3)
    vectors = [[Counted() for _ in range(model.nv)] for _ in range(count)]
    Counted.count = 0
    algorithm(model, *vectors)
    return Counted.count


def shapes(kind, sizes=SIZES):
    make = {
        "chain": lambda n: kt.robots.chain(n, seed=1),
        "binary tree": lambda n: kt.robots.tree(n, branching=2, seed=1),
    }[kind]
    return [make(n).model for n in sizes]


def depths(model):
    """How many bodies carry each one, itself included."""
    found = []
    for body in model.bodies:
        found.append(1 + (found[body.parent] if body.parent >= 0 else 0))
    return found


LINEAR = (
    algorithms.rnea,
    algorithms.liu_jain,
    algorithms.balafoutis_patel,
    algorithms.aba,
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["chain", "binary tree"])
@pytest.mark.parametrize("algorithm", LINEAR, ids=lambda a: a.__name__)
def test_recursions_are_linear_in_the_bodies(algorithm, kind):
    counts = [operations(algorithm, model) for model in shapes(kind)]
    each = np.diff(counts) / np.diff(SIZES)
    assert each.max() < 1.1 * each.min()
    slope = np.polyfit(np.log(SIZES), np.log(counts), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["chain", "binary tree"])
def test_the_mass_matrix_grows_with_the_bodies_times_their_depth(kind):
    models = shapes(kind)
    counts = [operations(algorithms.crba, model) for model in models]
    entries = [sum(depths(model)) for model in models]  # of the mass matrix's lower triangle
    # O(N d): a part for each body and a part for each entry
    A = np.stack([SIZES, entries], axis=1).astype(float)
    per_body, per_entry = np.linalg.lstsq(A / np.array(counts)[:, None], np.ones(5), rcond=None)[0]
    assert np.abs(A @ [per_body, per_entry] / counts - 1.0).max() < 0.05
    assert per_entry < 80
    slope = math.log(counts[-1] / counts[-2]) / math.log(SIZES[-1] / SIZES[-2])
    assert slope == pytest.approx(2.0, abs=0.1) if kind == "chain" else slope < 1.25


PAPER_SIZES = (5, 10, 20, 40, 80)


@pytest.mark.parametrize(
    ("algorithm", "kind", "most"),
    [
        (algorithms.coriolis, "chain", 2.1),
        (algorithms.christoffel_symbols, "chain", 3.1),
        (algorithms.coriolis, "binary tree", 1.4),
        (algorithms.christoffel_symbols, "binary tree", 1.6),
    ],
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_coriolis_matrices_and_symbols_grow_as_the_paper_says(algorithm, kind, most):
    counts = [operations(algorithm, model) for model in shapes(kind, PAPER_SIZES)]
    exponent = np.polyfit(np.log(PAPER_SIZES), np.log(counts), 1)[0]
    assert 1.0 < exponent <= most
