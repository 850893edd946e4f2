"""Vectors and matrices of three: what NumPy says of the same numbers, on every scalar."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.spatial import Matrix3, Symmetric3, Vector3
from tests.random_models import numbers
from tests.spatial.dense import (
    EVERY_SCALAR,
    fraction_vectors,
    fractions,
    is_rational,
    mat3,
    matrices,
    run_on,
    skew,
    symmetric,
    vec,
    vectors,
)
from tests.tolerances import EXACT, relative_error


@given(vectors(), vectors(), numbers(-2.0, 2.0))
def test_vectors_add_and_scale_as_arrays_do(u, v, s):
    assert list(u + v) == list(vec(u) + vec(v))
    assert list(u - v) == list(vec(u) - vec(v))
    assert list(-u) == list(-vec(u))
    assert list(u * s) == list(vec(u) * s)


@given(vectors(), vectors())
def test_dot_and_cross_are_numpys(u, v):
    assert relative_error(u.dot(v), vec(u) @ vec(v)) < EXACT
    assert relative_error(vec(u.cross(v)), np.cross(vec(u), vec(v))) < EXACT


@given(fraction_vectors(), fraction_vectors(), fraction_vectors())
def test_the_cross_product_obeys_jacobi_and_lagrange_exactly(u, v, w):
    jacobi = u.cross(v.cross(w)) + v.cross(w.cross(u)) + w.cross(u.cross(v))
    assert list(jacobi) == [0, 0, 0]
    assert u.cross(v).dot(u.cross(v)) == u.dot(u) * v.dot(v) - u.dot(v) * u.dot(v)
    assert is_rational(u.cross(v))


@given(vectors(), vectors())
def test_the_matrix_of_a_cross_product_is_skew_and_does_the_same(u, v):
    assert list(Matrix3.cross(u) @ v) == list(u.cross(v))
    np.testing.assert_array_equal(mat3(Matrix3.cross(u)), skew(u))


@given(fraction_vectors(), fraction_vectors())
def test_the_matrix_of_a_cross_product_is_exact_on_fractions(u, v):
    assert list(Matrix3.cross(u) @ v) == list(u.cross(v))
    assert is_rational(Matrix3.cross(u) @ v)


@given(matrices(), matrices(), vectors(), numbers(-2.0, 2.0))
def test_matrices_do_what_arrays_do(A, B, v, s):
    np.testing.assert_array_equal(mat3(A.T), mat3(A).T)
    np.testing.assert_array_equal(mat3(A + B), mat3(A) + mat3(B))
    np.testing.assert_array_equal(mat3(A - B), mat3(A) - mat3(B))
    np.testing.assert_array_equal(mat3(A * s), mat3(A) * s)
    assert relative_error(vec(A @ v), mat3(A) @ vec(v)) < EXACT


@given(symmetric(), symmetric(), vectors(), numbers(-2.0, 2.0))
def test_symmetric_matrices_do_what_arrays_do(A, B, v, s):
    np.testing.assert_array_equal(mat3(A), mat3(A).T)
    np.testing.assert_array_equal(mat3(A + B), mat3(A) + mat3(B))
    np.testing.assert_array_equal(mat3(A - B), mat3(A) - mat3(B))
    np.testing.assert_array_equal(mat3(A * s), mat3(A) * s)
    assert relative_error(vec(A @ v), mat3(A) @ vec(v)) < EXACT


@given(vectors(), numbers(-2.0, 2.0))
def test_the_outer_product_of_parallel_vectors_is_numpys(u, s):
    outer = Symmetric3.outer(u, u * s)
    assert relative_error(mat3(outer), np.outer(vec(u), vec(u) * s)) < EXACT


@given(symmetric())
def test_a_symmetric_matrix_comes_back_from_its_rows(A):
    assert Symmetric3.of_rows(*A.rows) == A


def test_of_rows_does_not_read_below_the_diagonal():
    below = object()
    rows = (Vector3(1, 4, 5), Vector3(below, 2, 6), Vector3(below, below, 3))
    assert Symmetric3.of_rows(*rows) == Symmetric3(1, 2, 3, 4, 5, 6)


def test_diagonal_is_a_multiple_of_the_identity():
    np.testing.assert_array_equal(mat3(Symmetric3.diagonal(2.5)), 2.5 * np.eye(3))


def test_zero_adds_nothing():
    u = Vector3(1.5, -2.0, 3.0)
    assert u + Vector3.zero() == u


@given(fraction_vectors(), st.builds(Symmetric3, *[fractions()] * 6))
def test_zero_and_the_identity_leave_fractions_exact(u, S):
    assert is_rational(u + Vector3.zero())
    assert is_rational(S + Symmetric3.diagonal(Fraction(1)))


@pytest.mark.parametrize("kind", EVERY_SCALAR)
def test_vector_and_matrix_operations_agree_on_every_scalar(kind):
    def operation(u, v, A, S, s):
        return [
            u.cross(v) * s,
            -u + v,
            u.dot(v),
            A.T @ u,
            Matrix3.cross(u) @ v,
            S @ v,
            (S - S * s) @ u,
            Symmetric3.outer(u, u * s),
        ]

    u, v = Vector3(0.5, -0.25, 0.75), Vector3(0.1, 0.9, -0.3)
    A, S = Matrix3(u, v, u.cross(v)), Symmetric3(1.0, 2.0, 3.0, 0.1, 0.2, 0.3)
    actual, expected = run_on(kind, operation, u, v, A, S, 0.7)
    assert relative_error(actual, expected) < EXACT


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (Vector3.zero(), "x"),
        (Matrix3.cross(Vector3.zero()), "a"),
        (Symmetric3.diagonal(1.0), "xx"),
    ],
)
def test_vectors_and_matrices_cannot_be_changed(value, field):
    with pytest.raises(FrozenInstanceError):
        setattr(value, field, 1.0)


def test_vectors_add_to_arrays_and_lists():
    v, given = Vector3(1.0, 2.0, 3.0), np.array([0.5, 0.25, 1.0])
    assert v - given == Vector3(0.5, 1.75, 2.0)
    assert given - v == Vector3(-0.5, -1.75, -2.0)
    assert v + given == given + v == v + tuple(given) == Vector3(1.5, 2.25, 4.0)
