"""The exponential map and its inverse: exact to rounding from the identity to half a turn."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kinetree.spatial import Rotation, Vector3, exponential
from kinetree.spatial.exponential import (
    cosine_quotient,
    half_turn_quat,
    quat_log,
    quat_product,
    quat_unit,
    sine_quotient,
    third_quotient,
    translation_of_screw,
    translation_to_screw,
)
from tests.random_models import directions, numbers
from tests.spatial.dense import EVERY_SCALAR, expm, mat3, run_on, skew, vec, vectors
from tests.tolerances import EPS, EXACT, relative_error

SWITCH = exponential._SWITCH  # of theta^2: the series below, the closed form above
BELOW = math.nextafter(SWITCH, 0.0)

TINY = [10.0**-k for k in range(12, 2, -1)]
AROUND_THE_SWITCH = [math.sqrt(SWITCH) * (1.0 + d) for d in (-1e-9, -1e-15, 0.0, 1e-15, 1e-9)]
AROUND_THE_HALF_ANGLES_SWITCH = [2.0 * theta for theta in AROUND_THE_SWITCH]
NEAR_HALF_A_TURN = [math.pi - d for d in (1e-1, 1e-4, 1e-8, 1e-12, 1e-15)]
ANGLES = [
    0.0,
    *TINY,
    *AROUND_THE_SWITCH,
    *AROUND_THE_HALF_ANGLES_SWITCH,
    *NEAR_HALF_A_TURN,
]

angles = st.one_of(st.sampled_from(ANGLES), numbers(0.0, math.pi - 1e-9))
rotation_vectors = st.builds(lambda u, theta: u * theta, directions(), angles)
unit_quats = st.builds(half_turn_quat, rotation_vectors)


def homogeneous(v, w):
    """The 4x4 matrix of a screw."""
    screw = np.zeros((4, 4))
    screw[:3, :3] = skew(w)
    screw[:3, 3] = vec(v)
    return screw


# the quotients


@pytest.mark.parametrize(
    ("quotient", "definition"),
    [
        (sine_quotient, lambda t: mpmath.sin(t) / t),
        (cosine_quotient, lambda t: (1 - mpmath.cos(t)) / t**2),
        (third_quotient, lambda t: (t - mpmath.sin(t)) / t**3),
    ],
    ids=["sine", "cosine", "third"],
)
def test_each_quotient_is_its_definition_to_sixty_digits(quotient, definition):
    with mpmath.workdps(60):
        for x in [theta * theta for theta in ANGLES if theta and theta < 3.1] + [SWITCH, BELOW]:
            expected = definition(mpmath.sqrt(mpmath.mpf(x)))
            # theta - sin(theta) has lost four bits at the switch, where the closed form begins
            assert abs(quotient(x) - expected) <= 16 * EPS * expected


@pytest.mark.parametrize("quotient", [sine_quotient, cosine_quotient, third_quotient])
def test_each_quotient_is_continuous_across_the_switch(quotient):
    assert abs(quotient(BELOW) - quotient(SWITCH)) <= 1e-15 * quotient(SWITCH)


@pytest.mark.parametrize(
    ("quotient", "limit"),
    [(sine_quotient, 1.0), (cosine_quotient, 1 / 2), (third_quotient, 1 / 6)],
)
def test_each_quotient_has_its_limit_at_zero(quotient, limit):
    assert quotient(0.0) == limit


@pytest.mark.parametrize("map_", [translation_of_screw, translation_to_screw])
def test_the_translations_are_continuous_across_the_switch(map_):
    p = Vector3(0.3, -0.8, 0.5)
    below, above = (map_(p, Vector3(0.0, 0.0, math.sqrt(x))) for x in (BELOW, SWITCH))
    assert relative_error(vec(below), vec(above)) <= 1e-15


# rotations


@given(rotation_vectors)
def test_the_quaternion_of_a_rotation_vector_is_its_matrix_exponential(w):
    q = half_turn_quat(w)
    assert relative_error(sum(c * c for c in q), 1.0) < EXACT
    assert relative_error(mat3(Rotation.quat_xyzw(*q)), expm(skew(w))) < EXACT


@given(directions(), st.sampled_from(ANGLES))
def test_the_logarithm_gives_the_rotation_vector_back_to_its_last_digits(u, theta):
    w = u * theta
    error = np.abs(vec(quat_log(half_turn_quat(w))) - vec(w)).max()
    assert error <= 8 * EPS * theta  # relative to the angle, however small


@given(directions())
def test_half_a_turn_comes_back_up_to_its_sign(u):
    w = quat_log(half_turn_quat(u * math.pi))
    assert relative_error(math.sqrt(w.dot(w)), math.pi) < EXACT
    assert relative_error(abs(w.dot(u)), math.pi) < EXACT


def test_the_logarithm_of_an_exact_half_turn_has_length_pi():
    assert list(quat_log((0.0, 1.0, 0.0, 0.0))) == [0.0, math.pi, 0.0]


@given(unit_quats)
def test_a_quaternion_and_its_negative_have_the_same_logarithm(q):
    assume(q[3] > 0.0)  # at half a turn both signs are right
    assert quat_log([-c for c in q]) == quat_log(q)


@given(directions(), numbers(1e-6, math.pi - 1e-6))
def test_a_quaternion_with_negative_w_is_taken_the_short_way(u, short):
    q = half_turn_quat(u * (2.0 * math.pi - short))
    assert q[3] < 0.0
    assert relative_error(vec(quat_log(q)), vec(u * -short)) < EXACT


@given(unit_quats, numbers(1e-3, 1e3))
def test_the_logarithm_does_not_depend_on_the_length(q, scale):
    stretched = [c * scale for c in q]
    assert relative_error(vec(quat_log(stretched)), vec(quat_log(q))) < EXACT
    assert relative_error(quat_unit(stretched), q) < EXACT


@given(unit_quats, unit_quats)
def test_the_quaternion_product_is_the_product_of_the_rotations(p, q):
    product = mat3(Rotation.quat_xyzw(*quat_product(p, q)))
    expected = mat3(Rotation.quat_xyzw(*p)) @ mat3(Rotation.quat_xyzw(*q))
    assert relative_error(product, expected) < EXACT


# screws


@given(vectors(), rotation_vectors)
def test_a_screw_takes_the_origin_where_the_matrix_exponential_does(v, w):
    expected = expm(homogeneous(v, w))[:3, 3]
    assert relative_error(vec(translation_of_screw(v, w)), expected) < EXACT


@given(vectors(), rotation_vectors)
def test_the_screw_of_a_translation_comes_back(v, w):
    assert relative_error(vec(translation_to_screw(translation_of_screw(v, w), w)), vec(v)) < EXACT
    assert relative_error(vec(translation_of_screw(translation_to_screw(v, w), w)), vec(v)) < EXACT


@given(directions(), st.sampled_from([t for t in ANGLES if t < 3.1]), vectors())
def test_a_complex_step_through_exponential_and_logarithm_is_the_identity(u, theta, d):
    h = 1e-30
    w = u * theta
    moved = quat_log(half_turn_quat(w + d * complex(0.0, h)))
    assert relative_error([complex(c).imag / h for c in moved], vec(d)) < EXACT


# every scalar

# (linear, angular): the three signs and sizes of each batch fall on both sides of the switch
V, SMALL, LARGE = Vector3(0.3, -0.8, 0.5), Vector3(0.1, 0.2, -0.3), Vector3(0.6, -0.3, 0.2)
QUAT = (0.2, -0.5, 0.4, 0.7)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=kind) for kind in EVERY_SCALAR if kind != "fraction"]
)
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        (half_turn_quat, (LARGE * 2.0,)),
        (half_turn_quat, (SMALL,)),
        (quat_log, (QUAT,)),
        (quat_log, ((1e-3, 2e-3, -1e-3, 0.9),)),
        (lambda p: [quat_product(p, p[::-1]), quat_unit(p)], (QUAT,)),
        (translation_of_screw, (V, LARGE)),
        (translation_to_screw, (V, LARGE)),
        (translation_to_screw, (V, SMALL)),
    ],
    ids=["exp", "exp small", "log", "log small", "product", "to", "from", "from small"],
)
def test_the_exponential_agrees_on_every_scalar(kind, operation, arguments):
    actual, expected = run_on(kind, operation, *arguments)
    assert relative_error(actual, expected) < EXACT
