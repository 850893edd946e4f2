"""Inertias of bodies and of articulated bodies: sums over point masses, on every scalar."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.spatial import (
    ArticulatedInertia,
    Force,
    Inertia,
    Matrix3,
    Rotation,
    Symmetric3,
    Transform,
    Twist,
    Vector3,
)
from tests.random_models import inertias, numbers, transforms
from tests.spatial.dense import (
    EVERY_SCALAR,
    articulated,
    articulated_inertias,
    dense,
    force_cross,
    force_to_parent,
    forces,
    fraction_inertias,
    fraction_transforms,
    fraction_vectors,
    inertia,
    inertia_of_points,
    is_rational,
    mat3,
    motions,
    run_on,
    skew,
    symmetric,
    vec,
    vectors,
)
from tests.tolerances import EXACT, relative_error

I = Inertia(1.5, Vector3(0.2, -0.1, 0.3), Symmetric3(0.5, 0.6, 0.7, 0.01, -0.02, 0.03))
A = ArticulatedInertia(
    Symmetric3(1.0, 2.0, 3.0, 0.1, 0.2, 0.3),
    Matrix3(Vector3(0.1, 0.2, 0.3), Vector3(-0.4, 0.5, 0.6), Vector3(0.7, -0.8, 0.9)),
    Symmetric3(0.5, 0.6, 0.7, 0.01, -0.02, 0.03),
)
X = Transform(Rotation.rpy(0.3, -0.8, 1.2), Vector3(0.2, -0.5, 0.4))
U = Twist(Vector3(0.3, -0.7, 0.2), Vector3(0.9, 0.4, -0.6))
V = Twist(Vector3(-0.1, 0.5, 0.8), Vector3(-0.2, 0.7, 0.25))
F = Force(Vector3(0.6, -0.3, 0.1), Vector3(-0.8, 0.2, 0.45))

points = st.lists(st.tuples(numbers(0.1, 3.0), vectors()), min_size=1, max_size=4)
fraction_points = st.lists(
    st.tuples(st.fractions(0, 3, max_denominator=9), fraction_vectors()), min_size=1, max_size=3
)


def body_of(masses_at):
    """The sum of point masses, each an inertia without extent."""
    total = Inertia.zero()
    for mass, r in masses_at:
        total = total + Inertia.about_center(mass, r, Symmetric3.diagonal(0))
    return total


# rigid bodies


@given(points)
def test_an_inertia_is_the_sum_over_its_points(masses_at):
    expected = inertia_of_points(*zip(*masses_at, strict=True))
    assert relative_error(inertia(body_of(masses_at)), expected) < EXACT


@given(fraction_points)
def test_an_inertia_of_fractions_is_exactly_the_sum_over_its_points(masses_at):
    body = body_of(masses_at)
    assert is_rational(body)
    assert (inertia(body) == inertia_of_points(*zip(*masses_at, strict=True))).all()


@given(numbers(0.1, 10.0), vectors(), symmetric())
def test_about_center_is_the_parallel_axes_theorem(m, c, about_center):
    I = Inertia.about_center(m, c, about_center)
    r = vec(c)
    assert I.mass == m
    assert relative_error(vec(I.moment), m * r) < EXACT
    expected = mat3(about_center) + m * (r @ r * np.eye(3) - np.outer(r, r))
    assert relative_error(mat3(I.rotational), expected) < EXACT


@given(points)
def test_the_second_moments_are_the_sum_of_r_rT(masses_at):
    expected = sum(m * np.outer(vec(r), vec(r)) for m, r in masses_at)
    assert relative_error(mat3(body_of(masses_at).second_moments()), expected) < EXACT


@given(inertias(), motions())
def test_momentum_is_the_dense_product(I, V):
    assert relative_error(vec(I @ V), inertia(I) @ vec(V)) < EXACT


@given(inertias(), motions(), motions())
def test_a_wrench_is_newtons_and_eulers_equation(I, V, A):
    D = inertia(I)
    expected = D @ vec(A) + force_cross(V) @ (D @ vec(V))
    assert relative_error(vec(I.wrench(V, A)), expected) < EXACT
    assert relative_error(vec(I.wrench(V, A)), vec(I @ A + V.cross_force(I @ V))) < EXACT


@given(fraction_inertias(), *[fraction_vectors()] * 4)
def test_a_wrench_of_fractions_is_exact(I, a, b, c, d):
    V, A = Twist(a, b), Twist(c, d)
    wrench = I.wrench(V, A)
    assert is_rational(wrench)
    assert wrench == I @ A + V.cross_force(I @ V)


@given(transforms(), inertias())
def test_an_inertia_goes_to_the_parent_as_the_dense_matrix_says(X, I):
    M = force_to_parent(X)
    assert relative_error(inertia(X.to_parent(I)), M @ inertia(I) @ M.T) < EXACT


@given(transforms(), inertias(), motions())
def test_kinetic_energy_is_the_same_in_both_frames(X, I, V):
    energy = V.dot(I @ V)
    moved = X.to_parent(V)
    assert relative_error(moved.dot(X.to_parent(I) @ moved), energy) < EXACT


@given(fraction_transforms(), fraction_inertias())
def test_an_inertia_of_fractions_goes_there_and_back_exactly(X, I):
    there = X.to_parent(I)
    assert is_rational(there)
    M = force_to_parent(X)
    assert (inertia(there) == M @ inertia(I) @ M.T).all()
    assert X.inverse().to_parent(there) == I


@given(inertias(), inertias(), motions())
def test_the_inertia_of_two_bodies_is_the_sum(I, J, V):
    assert relative_error(vec((I + J) @ V), vec(I @ V) + vec(J @ V)) < EXACT
    assert I + Inertia.zero() == I


# articulated bodies


@given(inertias(), motions())
def test_a_body_is_an_articulated_body_without_joints(I, V):
    assert relative_error(articulated(ArticulatedInertia.of_body(I)), inertia(I)) < EXACT
    assert relative_error(vec(ArticulatedInertia.of_body(I) @ V), vec(I @ V)) < EXACT


@given(articulated_inertias(), motions())
def test_the_force_of_an_articulated_body_is_the_dense_product(A, a):
    assert relative_error(vec(A @ a), articulated(A) @ vec(a)) < EXACT


@given(transforms(), articulated_inertias())
def test_an_articulated_inertia_goes_to_the_parent_as_the_dense_matrix_says(X, A):
    M = force_to_parent(X)
    assert relative_error(articulated(X.to_parent(A)), M @ articulated(A) @ M.T) < EXACT


@given(transforms(), inertias())
def test_a_body_moves_alike_as_either_kind_of_inertia(X, I):
    one = articulated(X.to_parent(ArticulatedInertia.of_body(I)))
    assert relative_error(one, inertia(X.to_parent(I))) < EXACT


@given(fraction_transforms(), fraction_inertias(), *[fraction_vectors()] * 3)
def test_an_articulated_inertia_of_fractions_goes_there_and_back_exactly(X, I, a, b, c):
    A = ArticulatedInertia(I.rotational, Matrix3(a, b, c), I.rotational * I.mass)
    there = X.to_parent(A)
    assert is_rational(there)
    M = force_to_parent(X)
    assert (articulated(there) == M @ articulated(A) @ M.T).all()
    assert X.inverse().to_parent(there) == A


@given(fraction_inertias())
def test_a_body_of_fractions_is_an_exact_articulated_body(I):
    A = ArticulatedInertia.of_body(I)
    assert is_rational(A)
    assert (articulated(A) == inertia(I)).all()


@given(forces(), numbers(-2.0, 2.0))
def test_the_outer_product_of_parallel_forces_is_numpys(f, s):
    expected = np.outer(vec(f), vec(f * s))
    assert relative_error(articulated(ArticulatedInertia.outer(f, f * s)), expected) < EXACT


@given(articulated_inertias(), articulated_inertias())
def test_articulated_inertias_add_and_subtract_as_matrices(A, B):
    assert (articulated(A + B) == articulated(A) + articulated(B)).all()
    assert (articulated(A - B) == articulated(A) - articulated(B)).all()


# every scalar


@pytest.mark.parametrize("kind", EVERY_SCALAR)
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        (Inertia.about_center, (1.5, U.linear, I.rotational)),
        (lambda I, V: I @ V, (I, V)),
        (lambda I, V, A: I.wrench(V, A), (I, U, V)),
        (lambda X, I: X.to_parent(I) + I, (X, I)),
        (lambda I: [I.second_moments(), Inertia.zero() + I], (I,)),
        (lambda I: ArticulatedInertia.of_body(I), (I,)),
        (lambda f, s: ArticulatedInertia.outer(f, f * s), (F, 0.7)),
        (lambda X, A, B, V: (X.to_parent(A) - B) @ V, (X, A, A, V)),
    ],
    ids=["center", "momentum", "wrench", "moved", "moments", "of_body", "outer", "articulated"],
)
def test_inertias_agree_on_every_scalar(kind, operation, arguments):
    actual, expected = run_on(kind, operation, *arguments)
    assert relative_error(actual, expected) < EXACT


def test_the_dense_oracle_agrees_with_a_dumbbell_by_hand():
    # two unit masses at x = 1 and x = -1: m = 2, no moment, I = diag(0, 2, 2)
    body = body_of([(1, Vector3(1, 0, 0)), (1, Vector3(-1, 0, 0))])
    np.testing.assert_array_equal(dense(body), np.diag([2, 2, 2, 0, 2, 2]))
    np.testing.assert_array_equal(skew(Vector3(1, 2, 3)), [[0, -3, 2], [3, 0, -1], [-2, 1, 0]])
    assert body_of([(Fraction(1, 3), Vector3(1, 0, 0))]).rotational.yy == Fraction(1, 3)


@pytest.mark.parametrize("value", [I, A], ids=["body", "articulated"])
def test_inertias_cannot_be_changed(value):
    with pytest.raises(FrozenInstanceError):
        value.mass = 2.0
