"""Errors, Jacobians and biases of every kind of constraint, against differences and definitions."""

import numpy as np
import pytest

from tests.constrained_robots import EVERY, HOLONOMIC, two_arms

STEP = 1e-6


def state(robot, seed):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.standard_normal(robot.nv)


@pytest.mark.parametrize("name", EVERY)
def test_a_constraint_has_the_rows_that_it_forbids(name):
    constraint, rows = EVERY[name]
    robot = two_arms().constrain(constraint)
    q, _ = state(robot, 0)
    assert len(robot.constraints.rows) == rows
    assert robot.constraints.jacobian(q).shape == (rows, robot.nv)
    assert np.linalg.matrix_rank(robot.constraints.jacobian(q)) == rows


@pytest.mark.parametrize("name", HOLONOMIC)
def test_the_jacobian_is_the_derivative_of_the_errors_where_they_are_zero(name):
    robot = two_arms().constrain(HOLONOMIC[name][0])
    q = robot.constraints.assemble(state(robot, 1)[0])
    errors = robot.constraints.errors
    assert np.abs(errors(q)).max() < 1e-12
    steps = STEP * np.eye(robot.nv)
    slopes = (errors(robot.integrate(q, steps)) - errors(robot.integrate(q, -steps))) / (2 * STEP)
    np.testing.assert_allclose(robot.constraints.jacobian(q), slopes.T, atol=2e-9)


@pytest.mark.parametrize("name", EVERY)
def test_the_bias_is_the_rate_of_the_jacobian_times_the_velocity(name):
    robot = two_arms().constrain(EVERY[name][0])
    q, v = state(robot, 2)
    rate = robot.constraints.jacobian_rate(q, v)
    np.testing.assert_allclose(robot.constraints.bias(q, v), rate @ v, atol=1e-12)
    ends = [robot.constraints.jacobian(robot.integrate(q, h * v)) for h in (STEP, -STEP)]
    np.testing.assert_allclose(rate, (ends[0] - ends[1]) / (2 * STEP), atol=1e-7)


def test_joints_that_carry_both_frames_have_no_entries():
    robot = two_arms().constrain(HOLONOMIC["hinge"][0])
    q, _ = state(robot, 3)
    assert not robot.constraints.jacobian(q)[:, :6].any()


def test_a_free_axis_keeps_its_direction_when_the_other_two_are_held():
    robot = two_arms().constrain(HOLONOMIC["sole"][0])
    q = robot.constraints.assemble(state(robot, 4)[0])
    pose = robot.pose(q, "left3")
    np.testing.assert_allclose(pose[:3, 2], [0, 0, 1], atol=1e-12)
    assert pose[2, 3] == pytest.approx(-0.4, abs=1e-12)
