"""Kinematics on random trees of every joint type: what must hold between poses and their rates."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kinetree import algorithms
from kinetree.algorithms import AXES
from tests.algorithms.test_identities import SEEDS, state
from tests.random_models import models
from tests.tolerances import EXACT, relative_error

axes_of = st.sampled_from(AXES)
STEP = 1e-30


def along(model, q, v):
    """q moved along v by a complex step, whose imaginary part is then a derivative."""
    return algorithms.integrate(model, q, [complex(0.0, STEP * x) for x in v])


def imaginary(values):
    return np.array(values, dtype=complex).imag / STEP


def skew_vector(W):
    return np.array([W[2, 1], W[0, 2], W[1, 0]])


@given(models(), SEEDS)
def test_a_frames_velocity_is_the_rate_of_its_pose(model, seed):
    q, v, _ = state(model, seed)
    for frame in model.frames:
        here = np.array(algorithms.frame_pose(model, q, frame.name).matrix(), dtype=float)
        rate = imaginary(algorithms.frame_pose(model, along(model, q, v), frame.name).matrix())
        expected = [*rate[:3, 3], *skew_vector(rate[:3, :3] @ here[:3, :3].T)]
        got = list(algorithms.frame_velocity(model, q, v, frame.name, "origin"))
        assert relative_error(got, expected) < EXACT


@given(models(), SEEDS, axes_of)
def test_a_jacobian_times_v_is_the_velocity(model, seed, axes):
    q, v, _ = state(model, seed)
    for frame in model.frames:
        J = np.array(algorithms.jacobian(model, q, frame.name, axes))
        got = list(algorithms.frame_velocity(model, q, v, frame.name, axes))
        assert relative_error(J @ v, got) < EXACT
    all_of_them = np.array(algorithms.jacobians(model, q, axes))
    bodies = [list(m) for m in algorithms.velocities(model, q, v, axes)]
    assert relative_error(all_of_them @ v, bodies) < EXACT


@settings(max_examples=40)
@given(models(max_bodies=4), SEEDS, axes_of)
def test_the_rate_of_a_jacobian_is_its_derivative_along_the_motion(model, seed, axes):
    q, v, _ = state(model, seed)
    name = model.frames[-1].name
    expected = imaginary(algorithms.jacobian(model, along(model, q, v), name, axes))
    got = algorithms.rate(algorithms.jacobian, model, q, v, name, axes)
    assert relative_error(got, expected) < EXACT * 10


@settings(max_examples=40)
@given(models(max_bodies=4), SEEDS, axes_of)
def test_an_acceleration_is_the_jacobian_and_its_rate(model, seed, axes):
    # in fixed axes at a moving point J a + J' v is the classical acceleration, else the spatial
    q, v, a = state(model, seed)
    name = model.frames[-1].name
    J = np.array(algorithms.jacobian(model, q, name, axes))
    rate = np.array(algorithms.rate(algorithms.jacobian, model, q, v, name, axes))
    kind = "classical" if axes == "origin" else "spatial"
    got = list(algorithms.frame_acceleration(model, q, v, a, name, axes, kind))
    assert relative_error(got, J @ a + rate @ v) < EXACT * 10


@given(models(), SEEDS)
def test_a_classical_acceleration_differs_by_the_turning_of_the_velocity(model, seed):
    q, v, a = state(model, seed)
    name = model.frames[-1].name
    for axes in AXES:
        V = list(algorithms.frame_velocity(model, q, v, name, axes))
        spatial = list(algorithms.frame_acceleration(model, q, v, a, name, axes, "spatial"))
        classical = list(algorithms.frame_acceleration(model, q, v, a, name, axes, "classical"))
        difference = np.concatenate([np.cross(V[3:], V[:3]), np.zeros(3)])
        assert relative_error(np.array(classical) - spatial, difference) < EXACT * 10


@given(models(), SEEDS)
def test_the_center_of_mass_is_the_mean_of_the_bodies_and_moves_as_it_should(model, seed):
    q, v, a = state(model, seed)
    m = algorithms.total_mass(model)
    assume(m > 0.0)
    total = np.zeros(3)
    for body, X in zip(model.bodies, algorithms.poses(model, q), strict=True):
        center, _ = body.inertia.center_and_rotational()
        total += body.inertia.mass * np.array(list(X.point(center)))
    assert relative_error(algorithms.center_of_mass(model, q), total / m) < EXACT
    velocity = imaginary(algorithms.center_of_mass(model, along(model, q, v)))
    assert relative_error(algorithms.center_of_mass_velocity(model, q, v), velocity) < EXACT
    J = np.array(algorithms.center_of_mass_jacobian(model, q))
    assert relative_error(J @ v, velocity) < EXACT
    rate = np.array(algorithms.rate(algorithms.center_of_mass_jacobian, model, q, v))
    got = algorithms.center_of_mass_acceleration(model, q, v, a)
    assert relative_error(got, J @ a + rate @ v) < EXACT * 10


@given(models(), SEEDS)
def test_the_rate_of_coordinates_is_where_a_small_velocity_leads(model, seed):
    q, v, _ = state(model, seed)
    expected = imaginary(along(model, q, v))
    assert relative_error(algorithms.coordinate_rates(model, q, v), expected) < EXACT


@pytest.mark.parametrize("axes", AXES)
def test_a_frame_of_the_world_does_not_move(axes):
    import kinetree as kt

    arm = kt.robots.arm()
    q, v, a = np.ones((3, 7))
    assert not arm.velocity(q, v, "base", axes=axes).any()
    assert not arm.acceleration(q, v, a, "base", axes=axes).any()
    assert not arm.jacobian(q, "base", axes=axes).any()
