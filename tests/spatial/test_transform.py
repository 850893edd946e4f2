"""Transforms: a group acting on points and spatial vectors, on every scalar."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from kinetree.spatial import ArticulatedInertia, Rotation, Transform, Twist, Vector3
from tests.random_models import inertias, transforms
from tests.spatial.dense import (
    EVERY_SCALAR,
    dense,
    forces,
    fraction_transforms,
    fraction_vectors,
    is_rational,
    mat3,
    motion_to_parent,
    motions,
    run_on,
    vec,
    vectors,
)
from tests.tolerances import EXACT, relative_error


@given(transforms(), transforms())
def test_transforms_compose_as_their_matrices_do(X, Y):
    product = np.array(X.matrix()) @ np.array(Y.matrix())
    assert relative_error((X @ Y).matrix(), product) < EXACT
    assert (
        relative_error(motion_to_parent(X @ Y), motion_to_parent(X) @ motion_to_parent(Y)) < EXACT
    )


@given(transforms())
def test_the_inverse_is_the_matrix_inverse(X):
    assert relative_error(X.inverse().matrix(), np.linalg.inv(X.matrix())) < EXACT
    assert relative_error((X @ X.inverse()).matrix(), np.eye(4)) < EXACT
    assert relative_error((X.inverse() @ X).matrix(), np.eye(4)) < EXACT


@given(transforms(), vectors())
def test_a_point_is_turned_then_shifted(X, p):
    expected = mat3(X.rotation) @ vec(p) + vec(X.translation)
    assert relative_error(vec(X.point(p)), expected) < EXACT
    assert relative_error([*X.point(p), 1.0], np.array(X.matrix()) @ [*p, 1.0]) < EXACT


@given(transforms(), transforms(), motions(), forces(), inertias())
def test_moving_twice_is_moving_by_the_product(X, Y, m, f, I):
    for value in (m, f, I, ArticulatedInertia.of_body(I)):
        at_once = dense((X @ Y).to_parent(value))
        assert relative_error(dense(X.to_parent(Y.to_parent(value))), at_once) < EXACT
    for value in (m, f):
        at_once = dense((X @ Y).to_child(value))
        assert relative_error(dense(Y.to_child(X.to_child(value))), at_once) < EXACT


@given(transforms(), motions(), forces())
def test_to_child_is_to_parent_of_the_inverse(X, m, f):
    for value in (m, f):
        expected = dense(X.inverse().to_parent(value))
        assert relative_error(dense(X.to_child(value)), expected) < EXACT


@given(motions(), forces(), inertias())
def test_the_identity_changes_nothing(m, f, I):
    X = Transform.identity()
    assert X.to_parent(m) == m
    assert X.to_child(f) == f
    assert X.to_parent(I) == I
    assert X @ X == X


@given(fraction_transforms(), fraction_transforms(), fraction_vectors())
def test_transforms_of_fractions_are_exact(X, Y, p):
    assert (X @ Y).inverse() == Y.inverse() @ X.inverse()
    assert X.inverse().point(X.point(p)) == p
    assert is_rational(X @ Y)
    assert X @ X.inverse() == Transform.identity()


def test_a_transform_from_a_pythagorean_quaternion_brings_fractions_back():
    quat = (Fraction(2, 9), Fraction(4, 9), Fraction(5, 9), Fraction(6, 9))
    v = Vector3(Fraction(1, 3), Fraction(2, 7), Fraction(-5, 11))
    X = Transform(Rotation.quat_xyzw(*quat), v)
    m = Twist(v, Vector3(v.y, v.z, v.x))
    assert X.to_parent(m) != m
    assert is_rational(X.to_parent(m))
    assert X.to_child(X.to_parent(m)) == m


def test_the_identity_and_the_homogeneous_matrix_leave_fractions_exact():
    v = Vector3(Fraction(1, 3), Fraction(2, 7), Fraction(-5, 11))
    assert is_rational(Transform.identity().point(v))
    assert is_rational(Transform(Rotation.identity(), v).matrix())


@pytest.mark.parametrize("kind", EVERY_SCALAR)
def test_transforms_agree_on_every_scalar(kind):
    def operation(X, Y, p):
        return [X @ Y, X.inverse(), X.point(p), X.matrix(), Transform.identity() @ Y]

    X = Transform(Rotation.rpy(0.3, -0.8, 1.2), Vector3(0.2, -0.5, 0.4))
    Y = Transform(Rotation.rpy(-1.3, 0.4, 0.1), Vector3(-0.6, 0.3, 0.9))
    actual, expected = run_on(kind, operation, X, Y, Vector3(0.7, -0.1, 0.35))
    assert relative_error(actual, expected) < EXACT


def test_transforms_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Transform.identity().translation = Vector3.zero()
