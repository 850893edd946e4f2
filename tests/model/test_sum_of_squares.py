"""Symmetric matrices as squares: the same matrix, and fewer products when it is turned."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kinetree.compiler.graph import interpret, trace
from kinetree.model.prepare.sum_of_squares import SumOfSquares, as_sum_of_squares
from kinetree.spatial import Rotation, Symmetric3, Vector3
from tests.random_models import AXES, rotations
from tests.spatial.dense import mat3, symmetric, vec
from tests.tolerances import EXACT, relative_error

SLENDER = Symmetric3(1.0, 1.0, 1e-9, 0.0, 0.0, 0.0)


def squares(matrix):
    form = as_sum_of_squares(matrix)
    return form.d, form.a, form.b


def summed(matrix: Symmetric3) -> np.ndarray:
    d, a, b = squares(matrix)
    return d * np.eye(3) + np.outer(vec(a), vec(a)) + np.outer(vec(b), vec(b))


def squared():
    """Matrices that have squares."""
    return symmetric().filter(lambda S: isinstance(as_sum_of_squares(S), SumOfSquares))


@given(squared())
def test_the_squares_add_up_to_the_matrix(S):
    assert relative_error(summed(S), mat3(S)) < EXACT


@given(squared())
def test_the_last_square_has_no_first_entry(S):
    _, _, b = squares(S)
    assert b.x == 0.0


@pytest.mark.parametrize("entries", [(3.0, 1.0, 2.0), (1.0, 2.0, 3.0), (-1.0, 2.0, 5.0)])
def test_a_diagonal_matrix_leaves_zeros(entries):
    _, a, b = squares(Symmetric3(*entries, 0.0, 0.0, 0.0))
    assert sum(x == 0.0 for x in (*a, *b)) == 4


@pytest.mark.parametrize("entries", [(0.0,) * 3, (2.0,) * 3])
def test_a_multiple_of_one_has_no_squares(entries):
    d, a, b = squares(Symmetric3(*entries, 0.0, 0.0, 0.0))
    assert (d, a, b) == (entries[0], Vector3.zero(), Vector3.zero())


@given(squared())
def test_a_matrix_equals_its_sum_of_squares(S):
    assert as_sum_of_squares(S) == S
    assert hash(as_sum_of_squares(S)) == hash(S)


def test_a_slender_matrix_stays_as_it_is():
    assert type(as_sum_of_squares(SLENDER)) is Symmetric3


def turned(S: Symmetric3, R: Rotation):
    """R S R^T by a program, and what that takes."""

    def function(r):
        rows = (Vector3(*r[k : k + 3]) for k in (0, 3, 6))
        return {"S": list(Rotation(*rows).turn_symmetric(S))}

    program = trace("turned", function, {"r": (9,)})
    (values,) = interpret(program, mat3(R).ravel())
    return Symmetric3(*values), program.cost


@given(symmetric() | st.just(SLENDER), rotations())
@example(Symmetric3(0.0, 0.0, 0.0, 0.0, 0.0, 1.0), Rotation.identity())
@example(Symmetric3(0.0, 0.0, -1.0, 0.0, 0.0, 0.0), Rotation.identity())
@example(Symmetric3(1.0, 0.0, -1.0, 0.0, 0.0, 0.0), Rotation.identity())
def test_a_matrix_is_turned_as_its_squares_are(S, R):
    dense = mat3(R) @ mat3(S) @ mat3(R).T
    plain, cost = turned(S, R)
    squared, less = turned(as_sum_of_squares(S), R)
    assert relative_error(mat3(plain), dense) < EXACT
    assert relative_error(mat3(squared), dense) < EXACT
    assert less <= cost


@pytest.mark.parametrize("least", [1e-6, 1e-9, 1e-15, 1e-30])
def test_a_slender_body_keeps_half_of_its_digits_or_more(least):
    # a product that is not zero, so that the eigenvalues are rounded
    slender = Symmetric3(1.0, 0.7, least, 0.3, 0.0, 0.0)
    for axis in AXES:
        turned_by_nothing, _ = turned(as_sum_of_squares(slender), Rotation.about(axis, 0.0))
        assert turned_by_nothing.zz == pytest.approx(least, rel=1e-8)
