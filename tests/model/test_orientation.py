"""Orientations read off their matrices, near singular ones too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.model.joints import EULER_SEQUENCES, Ball, euler
from kinetree.model.orientation import euler_angles, quaternion
from kinetree.spatial import Rotation
from tests.random_models import rotations
from tests.spatial.dense import leaves
from tests.tolerances import EXACT, relative_error

SMALL = st.sampled_from([0.0, 1e-16, -1e-15, 1e-14, 1e-12, 1e-9, -1e-7, 1e-4])


def same(joint, q, R):
    return relative_error(leaves(joint.transform(q).rotation), leaves(R)) < EXACT


@given(rotations(), rotations(), SMALL)
def test_a_quaternion_gives_the_rotation_back(one, other, small):
    for R in (one, one @ other, Rotation.rpy(small, 0.0, 3.14159265 + small)):
        q = quaternion(R)
        assert abs(sum(x * x for x in q) - 1.0) < EXACT
        assert same(Ball(), q, R)


@pytest.mark.parametrize("sequence", EULER_SEQUENCES)
@given(rotations(), rotations(), SMALL)
def test_euler_angles_give_the_rotation_back(sequence, one, other, small):
    joint = euler(sequence)
    middle = 0.0 if sequence[0] == sequence[2] else 1.5707963267948966
    singular = joint.transform([0.4, middle + small, -0.7]).rotation
    for R in (one, one @ other, singular):
        assert same(joint, euler_angles(R, sequence), R)


@pytest.mark.parametrize("sequence", EULER_SEQUENCES)
def test_where_two_angles_are_one_turn_it_is_the_first(sequence):
    middle = 0.0 if sequence[0] == sequence[2] else 1.5707963267948966
    R = euler(sequence).transform([0.4, middle, -0.7]).rotation
    assert euler_angles(R, sequence)[2] == 0.0


@pytest.mark.parametrize("sequence", EULER_SEQUENCES)
def test_angles_within_their_ranges_are_given_back(sequence):
    angles = (2.5, 1.2, -2.8)
    R = euler(sequence).transform(angles).rotation
    assert relative_error(euler_angles(R, sequence), angles) < EXACT
