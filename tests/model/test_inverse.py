"""A joint's coordinates from its transform: there and back, for every joint."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.model.joints import (
    EULER_SEQUENCES,
    Ball,
    Composite,
    ExponentialBall,
    Prismatic,
    Revolute,
    Screw,
    euler,
    free_motion,
    universal,
)
from kinetree.model.joints.inverse import nearest_coordinates
from kinetree.spatial import Rotation, Transform, Vector3
from tests.random_models import JOINTS, coordinates, directions, rotations

SAME = 1e-10


def gap(X, Y):
    return np.abs(np.array(X.matrix(), float) - np.array(Y.matrix(), float)).max()


@pytest.mark.parametrize("kind", JOINTS)
@given(data=st.data())
def test_the_transform_of_the_coordinates_of_a_transform_is_that_transform(kind, data):
    joint = data.draw(JOINTS[kind])
    X = joint.transform(data.draw(coordinates(joint)))
    found = joint.coordinates_at(X)
    assert len(found) == joint.nq
    assert gap(joint.transform(found), X) < SAME


@pytest.mark.parametrize("sequence", EULER_SEQUENCES)
def test_euler_angles_come_back_within_their_ranges_and_exist_at_singular_states(sequence):
    joint = euler(sequence)
    low = 0.0 if sequence[0] == sequence[2] else -math.pi / 2
    rng = np.random.default_rng(1)
    for _ in range(20):
        q = rng.uniform((-math.pi, low, -math.pi), (math.pi, low + math.pi, math.pi))
        assert joint.coordinates_at(joint.transform(q)) == pytest.approx(q, abs=1e-9)
    for middle in (low, low + math.pi):
        X = joint.transform([0.3, middle, -1.1])
        assert gap(joint.transform(joint.coordinates_at(X)), X) < SAME


def test_a_free_motion_in_euler_angles_needs_no_iteration(monkeypatch):
    monkeypatch.delattr("kinetree.model.joints.composite.nearest_coordinates")
    q = [1.0, -2.0, 300.0, 3.0, 1.2, -3.0]
    joint = free_motion(euler("zyx"))
    assert joint.coordinates_at(joint.transform(q)) == pytest.approx(q, rel=1e-12)


def test_a_screw_counts_its_turns():
    joint = Screw("z", 0.01)
    assert joint.coordinates_at(joint.transform([40.0])) == pytest.approx([40.0])
    assert Screw("z", 0.0).coordinates_at(joint.transform([0.4])) == pytest.approx([0.4])


@given(R=rotations(), axis=directions())
def test_of_a_rotation_that_no_angle_gives_the_nearest_is_found(R, axis):
    joint = Revolute(axis)

    def distance(angle):
        pairs = zip(joint.transform([angle]).rotation.rows, R.rows, strict=True)
        return sum((a - b).dot(a - b) for a, b in pairs)

    (best,) = joint.coordinates_at(Transform(R, Vector3.zero()))
    assert all(distance(best) <= distance(best + step) + 1e-12 for step in (-0.1, 0.1, 1.0, 3.0))


def test_by_least_squares_the_nearest_is_found_where_no_coordinates_fit():
    X = Transform(Rotation.about(Vector3(0, 0, 1), 0.7), Vector3(0.2, 0.0, 0.0))
    assert nearest_coordinates(Revolute("z"), X) == pytest.approx([0.7], abs=1e-8)
    slanted = Composite((Prismatic("x"), Prismatic((1, 1, 0)), Screw("z", 0.2)))
    Y = slanted.transform([0.3, -0.4, 0.5])
    assert slanted.coordinates_at(Y) == pytest.approx([0.3, -0.4, 0.5], abs=1e-8)


def test_axes_that_are_not_at_right_angles_are_found():
    joint = universal("x", (1.0, 1.0, 0.0))
    assert joint.coordinates_at(joint.transform([2.0, -2.5])) == pytest.approx([2.0, -2.5])


def test_quaternions_and_rotation_vectors_of_half_turns():
    for axis in ("x", "y", "z"):
        X = Revolute(axis).transform([math.pi])
        for joint in (Ball(), ExponentialBall()):
            assert gap(joint.transform(joint.coordinates_at(X)), X) < SAME
