"""Motions and forces: their 6x6 algebra, duality and power, on every scalar."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from kinetree.spatial import Force, Rotation, Transform, Twist, Vector3
from tests.random_models import numbers, transforms
from tests.spatial.dense import (
    EVERY_SCALAR,
    force_cross,
    force_to_parent,
    forces,
    fraction_transforms,
    fraction_vectors,
    is_rational,
    motion_cross,
    motion_to_parent,
    motions,
    run_on,
    vec,
    vectors,
)
from tests.tolerances import EXACT, relative_error

U = Twist(Vector3(0.3, -0.7, 0.2), Vector3(0.9, 0.4, -0.6))
V = Twist(Vector3(-0.1, 0.5, 0.8), Vector3(-0.2, 0.7, 0.25))
X = Transform(Rotation.rpy(0.3, -0.8, 1.2), Vector3(0.2, -0.5, 0.4))
F = Force(Vector3(0.6, -0.3, 0.1), Vector3(-0.8, 0.2, 0.45))


@given(transforms(), motions())
def test_a_motion_goes_to_the_parent_and_the_child_as_the_dense_matrix_says(X, m):
    M = motion_to_parent(X)
    assert relative_error(vec(X.to_parent(m)), M @ vec(m)) < EXACT
    assert relative_error(vec(X.to_child(m)), np.linalg.solve(M, vec(m))) < EXACT


@given(transforms(), forces())
def test_a_force_goes_to_the_parent_and_the_child_as_the_dense_matrix_says(X, f):
    M = force_to_parent(X)
    assert relative_error(vec(X.to_parent(f)), M @ vec(f)) < EXACT
    assert relative_error(vec(X.to_child(f)), np.linalg.solve(M, vec(f))) < EXACT


@given(transforms(), motions(), vectors())
def test_a_moved_motion_gives_each_point_of_the_body_the_same_velocity(X, m, r):
    def velocity(motion, point):
        return motion.linear + motion.angular.cross(point)

    in_parent = velocity(X.to_parent(m), X.point(r))
    assert relative_error(vec(in_parent), vec(X.rotation @ velocity(m, r))) < EXACT


@given(transforms(), motions(), forces())
def test_power_is_the_same_in_both_frames(X, m, f):
    power = m.dot(f)
    assert relative_error(X.to_parent(m).dot(X.to_parent(f)), power) < EXACT
    assert relative_error(X.to_child(m).dot(X.to_child(f)), power) < EXACT


@given(motions(), forces())
def test_power_is_the_dot_product_of_the_six_vectors_from_either_side(m, f):
    assert relative_error(m.dot(f), vec(m) @ vec(f)) < EXACT
    assert f.dot(m) == m.dot(f)


@given(motions(), motions(), forces())
def test_the_cross_products_are_the_dense_ones(v, m, f):
    assert relative_error(vec(v.cross(m)), motion_cross(v) @ vec(m)) < EXACT
    assert relative_error(vec(v.cross_force(f)), force_cross(v) @ vec(f)) < EXACT


@given(motions(), motions(), forces())
def test_the_cross_product_of_forces_is_minus_the_transpose_of_that_of_motions(v, m, f):
    # m . (v x* f) = -(v x m) . f
    assert relative_error(m.dot(v.cross_force(f)), -v.cross(m).dot(f)) < EXACT


@given(motions(), motions(), motions())
def test_the_cross_product_of_motions_is_a_lie_bracket(u, v, w):
    assert relative_error(vec(u.cross(v)), vec(-v.cross(u))) < EXACT
    jacobi = u.cross(v.cross(w)) + v.cross(w.cross(u)) + w.cross(u.cross(v))
    assert relative_error(vec(jacobi), np.zeros(6)) < EXACT


@given(transforms(), motions(), motions(), forces())
def test_the_cross_products_move_with_their_factors(X, v, m, f):
    moved = X.to_parent(v).cross(X.to_parent(m))
    assert relative_error(vec(X.to_parent(v.cross(m))), vec(moved)) < EXACT
    pushed = X.to_parent(v).cross_force(X.to_parent(f))
    assert relative_error(vec(X.to_parent(v.cross_force(f))), vec(pushed)) < EXACT


@given(fraction_transforms(), fraction_vectors(), fraction_vectors())
def test_motions_and_forces_of_fractions_go_there_and_back_exactly(X, linear, angular):
    for value in (Twist(linear, angular), Force(linear, angular)):
        there = X.to_parent(value)
        assert is_rational(there)
        assert X.to_child(there) == value
        assert X.to_parent(X.to_child(value)) == value


def test_zero_leaves_fractions_exact():
    v = Vector3(Fraction(1, 3), Fraction(2, 7), Fraction(-5, 11))
    for kind in (Twist, Force):
        total = kind.zero() + kind(v, v)
        assert total == kind(v, v)
        assert is_rational(total)


@given(motions(), motions(), numbers(-2.0, 2.0))
def test_motions_and_forces_add_and_scale_as_six_vectors(a, b, s):
    for kind in (Twist, Force):
        u, v = kind(a.linear, a.angular), kind(b.linear, b.angular)
        assert list(u + v) == list(vec(u) + vec(v))
        assert list(u - v) == list(vec(u) - vec(v))
        assert list(-u) == list(-vec(u))
        assert list(u * s) == list(vec(u) * s)
        assert isinstance(u * s, kind)


@pytest.mark.parametrize("kind", EVERY_SCALAR)
def test_motions_and_forces_agree_on_every_scalar(kind):
    def operation(X, u, v, f, s):
        return [
            u.cross(v) - v * s,
            u.cross_force(f) + f * s,
            -u.dot(f) + f.dot(v),
            X.to_parent(u),
            X.to_child(v),
            X.to_parent(f),
            X.to_child(f),
            Twist.zero() + u,
            Force.zero() + f,
        ]

    actual, expected = run_on(kind, operation, X, U, V, F, 0.7)
    assert relative_error(actual, expected) < EXACT


@pytest.mark.parametrize("value", [U, F], ids=["motion", "force"])
def test_motions_and_forces_cannot_be_changed(value):
    with pytest.raises(FrozenInstanceError):
        value.linear = Vector3.zero()
