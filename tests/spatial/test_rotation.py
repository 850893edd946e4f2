"""Rotations: the matrix exponential, quaternions and URDF's angles, on every scalar."""

import math
import operator
from dataclasses import FrozenInstanceError
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from kinetree.compiler.graph import trace
from kinetree.spatial import (
    AxisRotation,
    Matrix3,
    ProductRotation,
    Rotation,
    Symmetric3,
    Vector3,
)
from tests.random_models import AXES, directions, numbers, rotations
from tests.spatial.dense import (
    EVERY_SCALAR,
    expm,
    fraction_rotations,
    fraction_vectors,
    fractions,
    is_rational,
    leaves,
    mat3,
    matrices,
    run_on,
    skew,
    symmetric,
    vec,
    vectors,
)
from tests.tolerances import EXACT, relative_error

angles = numbers(-2.0 * math.pi, 2.0 * math.pi)

# four integers whose squares sum to a square: the quaternion of a rational rotation
PYTHAGOREAN = [(0, 0, 3, 4, 5), (1, 2, 2, 4, 5), (2, 4, 5, 6, 9), (-1, 1, 1, 1, 2), (2, 3, 6, 0, 7)]


@given(directions(), angles)
def test_a_rotation_about_an_axis_is_the_exponential_of_its_cross_product(axis, angle):
    expected = expm(skew(axis) * angle)
    assert relative_error(mat3(Rotation.about(axis, angle)), expected) < EXACT


@given(directions(), angles)
def test_a_rotation_leaves_its_axis(axis, angle):
    assert relative_error(vec(Rotation.about(axis, angle) @ axis), vec(axis)) < EXACT


coordinate_turns = st.builds(Rotation.about, st.sampled_from((*AXES, *(-a for a in AXES))), angles)
UNITS = Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)
quarter_turn = Rotation(Vector3(1, 0, 0), Vector3(0, 0, -1), Vector3(0, 1, 0))
next_axes = Rotation(Vector3(0, 1, 0), Vector3(0, 0, 1), Vector3(1, 0, 0))
exchanges = st.lists(st.sampled_from((quarter_turn, next_axes)), max_size=4).map(
    lambda turns: reduce(operator.matmul, turns, Rotation.identity())
)


@given(st.sampled_from((*AXES, *(-a for a in AXES))), angles)
def test_a_coordinate_axis_leaves_exact_zeros_and_ones(axis, angle):
    R = mat3(Rotation.about(axis, angle))
    k = int(np.abs(vec(axis)).argmax())
    assert R[k, k] == 1.0
    assert not np.delete(R[k], k).any()
    assert not np.delete(R[:, k], k).any()
    others = [i for i in range(3) if i != k]
    np.testing.assert_array_equal(R[others, others], math.cos(angle))


@given(rotations())
def test_a_rotation_is_orthogonal_and_keeps_handedness(R):
    assert relative_error(mat3(R @ R.T), np.eye(3)) < EXACT
    assert relative_error(mat3(R.T @ R), np.eye(3)) < EXACT
    assert relative_error(np.linalg.det(mat3(R)), 1.0) < EXACT


@given(rotations(), rotations(), vectors())
def test_rotations_compose_as_their_matrices_do(R, S, v):
    assert relative_error(mat3(R @ S), mat3(R) @ mat3(S)) < EXACT
    assert relative_error(vec(R @ v), mat3(R) @ vec(v)) < EXACT
    assert relative_error(vec((R @ S) @ v), vec(R @ (S @ v))) < EXACT


@given(
    coordinate_turns | exchanges, coordinate_turns, rotations(), matrices(), symmetric(), vectors()
)
def test_a_product_of_two_rotations_is_one_rotation(first, second, before, A, S, v):
    R = first @ second
    dense = mat3(first) @ mat3(second)
    for made, expected in ((R, dense), (R.T, dense.T), (before @ R, mat3(before) @ dense)):
        assert relative_error(mat3(made), expected) < EXACT
        assert relative_error(vec(made @ v), expected @ vec(v)) < EXACT
        assert relative_error(mat3(made.turn(A)), expected @ mat3(A) @ expected.T) < EXACT
        assert relative_error(mat3(made.turn_symmetric(S)), expected @ mat3(S) @ expected.T) < EXACT


@pytest.mark.parametrize("axis", range(3))
def test_a_turn_about_a_coordinate_axis_is_known_as_one(axis):
    R = Rotation.about(AXES[axis], 0.3)
    plain = Rotation(*R.rows)
    assert plain == R
    assert hash(plain) == hash(R)
    other = Rotation.about(AXES[(axis + 1) % 3], 0.4)
    for about in (R, R.T, R @ R, Rotation.identity() @ R, plain.structured()):
        assert isinstance(about, AxisRotation)
        assert about.axis == axis
    for product, left in ((R @ other, R), (R @ (R @ other), R @ R)):
        assert isinstance(product, ProductRotation)
        assert (product.left, product.right) == (left, other)


def test_a_turn_about_another_axis_has_no_structure():
    slanted = Rotation.about(Vector3(0.6, 0.8, 0.0), 0.3)
    turn = Rotation.about(AXES[2], 0.4)
    for R in (slanted, slanted @ turn, (turn @ slanted), slanted.structured()):
        assert type(R) is Rotation
    assert type(Rotation.identity().structured()) is Rotation


def operations(function):
    """The cost of a function of two angles, a vector and a symmetric matrix."""

    def entries(q, v, S):
        return {"y": leaves(function(*q, Vector3(*v), Symmetric3(*S)))}

    program = trace("f", entries, {"q": (2,), "v": (3,), "S": (6,)})
    return sum(program.operations[op] for op in ("add", "sub", "mul", "neg"))


@pytest.mark.parametrize(
    "turned",
    [
        lambda R, v, S: R @ v,
        lambda R, v, S: R.turn_symmetric(S),
        lambda R, v, S: R.turn(Matrix3(*S.rows)),
    ],
    ids=["vector", "symmetric", "matrix"],
)
def test_a_rotation_of_known_structure_takes_less_arithmetic(turned):
    def product(p, q):
        return Rotation.about(AXES[0], p) @ Rotation.about(AXES[2], q)

    structured = operations(lambda p, q, v, S: turned(product(p, q), v, S))
    plain = operations(lambda p, q, v, S: turned(Rotation(*product(p, q).rows), v, S))
    assert structured < plain


@given(st.sampled_from(AXES), st.sampled_from((0.0, math.pi / 2, math.pi, -math.pi / 2)))
def test_a_turned_matrix_keeps_the_digits_of_its_small_entries(axis, angle):
    R = Rotation.about(axis, angle + 1e-9)
    S = Symmetric3(1.0, 1e-13, 2e-13, 0.0, 0.0, 0.0)
    exactly = Rotation(*(Vector3(*map(Fraction, row)) for row in R.rows))
    expected = exactly.turn_symmetric(Symmetric3(*map(Fraction, S)))
    for one, other in zip(R.turn_symmetric(S), expected, strict=True):
        assert abs(Fraction(one) - other) <= abs(other) * Fraction(EXACT)


@given(rotations(), matrices(), symmetric())
def test_turning_a_matrix_is_the_product_from_both_sides(R, A, S):
    dense = mat3(R)
    assert relative_error(mat3(R.turn(A)), dense @ mat3(A) @ dense.T) < EXACT
    assert relative_error(mat3(R.turn_symmetric(S)), dense @ mat3(S) @ dense.T) < EXACT


@given(angles, angles, angles)
def test_rpy_turns_about_x_then_y_then_z_all_fixed(roll, pitch, yaw):
    def turn(k, angle):
        return expm(skew(np.eye(3)[k]) * angle)

    expected = turn(2, yaw) @ turn(1, pitch) @ turn(0, roll)
    assert relative_error(mat3(Rotation.rpy(roll, pitch, yaw)), expected) < EXACT


def test_rpy_of_a_quarter_turn_each_is_a_known_permutation():
    quarter = math.pi / 2
    # x goes to -z: after the roll x, after the pitch -z, after the yaw -z
    R = Rotation.rpy(quarter, quarter, quarter)
    assert relative_error(vec(R @ Vector3(1.0, 0.0, 0.0)), [0.0, 0.0, -1.0]) < EXACT
    assert relative_error(vec(R @ Vector3(0.0, 1.0, 0.0)), [0.0, 1.0, 0.0]) < EXACT
    assert relative_error(vec(R @ Vector3(0.0, 0.0, 1.0)), [1.0, 0.0, 0.0]) < EXACT


@given(directions(), angles)
def test_a_quaternion_turns_by_twice_its_angle(axis, angle):
    s, c = math.sin(angle / 2), math.cos(angle / 2)
    R = Rotation.quat_xyzw(*(axis * s), c)
    assert relative_error(mat3(R), mat3(Rotation.about(axis, angle))) < EXACT
    assert Rotation.quat_xyzw(*(axis * -s), -c) == R


@pytest.mark.parametrize(("x", "y", "z", "w", "n"), PYTHAGOREAN)
def test_a_pythagorean_quaternion_gives_an_exact_rational_rotation(x, y, z, w, n):
    assert x * x + y * y + z * z + w * w == n * n
    R = Rotation.quat_xyzw(*(Fraction(c, n) for c in (x, y, z, w)))
    assert is_rational(R)
    product = R @ R.T
    assert product == Rotation.identity()
    # v goes to q v q*: the axis stays
    assert R @ Vector3(x, y, z) == Vector3(x, y, z)
    for length in (Fraction(1), Fraction(-7, 3), Fraction(1, 1000)):
        assert Rotation.quat_xyzw(*(c * length for c in (x, y, z, w))) == R


@given(fraction_rotations(), fraction_rotations(), fraction_vectors())
def test_rotations_of_fractions_are_exact(R, S, v):
    assert R.T @ (R @ v) == v
    assert (R @ S).T == S.T @ R.T
    assert is_rational((R @ S) @ v)


@given(fraction_rotations(), st.builds(Symmetric3, *[fractions()] * 6))
def test_a_symmetric_matrix_of_fractions_is_turned_there_and_back_exactly(R, S):
    assert R.T.turn_symmetric(R.turn_symmetric(S)) == S


def test_the_identity_leaves_fractions_exact():
    v = Vector3(Fraction(1, 3), Fraction(2, 7), Fraction(-5, 11))
    assert Rotation.identity() @ v == v
    assert is_rational(Rotation.identity() @ v)


def test_a_rotation_by_a_symbolic_angle_is_orthogonal():
    t = sympy.Symbol("t", real=True)
    R = Rotation.about(Vector3(*(sympy.Rational(k, 3) for k in (2, -1, 2))), t)
    product = mat3(R @ R.T)
    assert [sympy.simplify(entry) for entry in product.ravel()] == [1, 0, 0, 0, 1, 0, 0, 0, 1]


@pytest.mark.parametrize("kind", EVERY_SCALAR)
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        (Rotation.about, (Vector3(0.48, -0.6, 0.64), 0.7)),
        (Rotation.rpy, (0.3, -1.1, 2.0)),
        (
            lambda p, q: [
                (R := Rotation.about(UNITS[0], p) @ Rotation.about(UNITS[2], q)),
                R.T @ R,
            ],
            (0.3, -1.1),
        ),
        (Rotation.quat_xyzw, (0.1, -0.5, 0.5, 0.7)),
        (lambda R, v: R.T @ (R @ R @ v), (Rotation.rpy(0.1, 0.2, 0.3), Vector3(1.0, 2.0, -0.5))),
        (
            lambda R, S: [R.turn_symmetric(S), R.turn(Matrix3(*S.rows))],
            (Rotation.rpy(0.4, 0.5, 0.6), Symmetric3(1.0, 2.0, 3.0, 0.1, 0.2, 0.3)),
        ),
    ],
    ids=["about", "rpy", "axes", "quat_xyzw", "product", "turn"],
)
def test_rotations_agree_on_every_scalar(kind, operation, arguments):
    actual, expected = run_on(kind, operation, *arguments)
    assert relative_error(actual, expected) < EXACT


def test_rotations_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Rotation.identity().a = Vector3.zero()
