"""Regressors times parameters give what the recursions give, for every joint type."""

import numpy as np
import pytest

import kinetree as kt
from tests.mixed_robots import ROBOTS
from tests.tolerances import EXACT, relative_error


def states(robot, count=4, vectors=4):
    rng = np.random.default_rng(1)
    return robot.random(rng, count), *rng.standard_normal((vectors, count, robot.nv))


@pytest.fixture(params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]()


def test_joint_forces_are_regressors_times_parameters(robot):
    q, v, a, _, _ = states(robot)
    bare = robot.without("armature", "damping", "friction", "springs")
    Y = robot.regressor(q, v, a)
    assert Y.shape == (4, robot.nv, 10 * len(robot.bodies))
    assert relative_error(Y @ robot.regressors.parameters, bare.inverse_dynamics(q, v, a)) < EXACT


def test_the_law_of_slotine_and_li_is_linear_in_the_parameters(robot):
    q, v, _, vr, ar = states(robot)
    bare = robot.without("armature", "damping", "friction", "springs")
    found = robot.regressors.passivity(q, v, vr, ar) @ robot.regressors.parameters
    assert relative_error(found, bare.coriolis.passivity_forces(q, v, vr, ar)) < EXACT


def test_energy_is_linear_in_the_parameters(robot):
    q, v, *_ = states(robot)
    bare = robot.without("armature", "springs")
    energy = bare.kinetic_energy(q, v) + bare.potential_energy(q)
    assert (
        relative_error(robot.regressors.energy(q, v) @ robot.regressors.parameters, energy) < EXACT
    )


def test_momentum_and_its_rate_are_linear_in_the_parameters(robot):
    q, v, *_ = states(robot)
    bare = robot.without("armature", "springs")
    expected = bare.coriolis.momentum_observer(q, v, 0 * v, 0 * v)
    for Y, value in zip(robot.regressors.momentum(q, v), expected, strict=True):
        assert relative_error(Y @ robot.regressors.parameters, value) < EXACT


@pytest.mark.slow
def test_the_base_carries_the_change_of_momentum_and_the_weight(robot):
    q, v, a, _, _ = states(robot)
    weight = robot.total_mass * robot.gravity
    com = robot.center_of_mass(q)
    pull = np.concatenate([np.broadcast_to(weight, com.shape), np.cross(com, weight)], axis=-1)
    expected = robot.centroidal.momentum_rate(q, v, a, about="world") - pull
    found = robot.regressors.base_wrench(q, v, a) @ robot.regressors.parameters
    assert relative_error(found, expected) < EXACT


def test_drives_have_columns_of_their_own():
    drive = kt.Drive(armature=0.3, damping=0.5, friction=0.2, stiffness=2.0, rest=(0.4,))
    assembly = kt.Assembly("slider")
    assembly.add("cart", "base", kt.joints.Prismatic("x"), mass=2.0, drive=drive)
    robot = assembly.robot()
    q, v, a = np.array([[0.7], [-0.2]]), np.array([[1.5], [-0.5]]), np.array([[2.0], [1.0]])
    numbers = [drive.armature, drive.damping, drive.friction, drive.stiffness, 0.0]
    own = robot.inverse_dynamics(q, v, a) - robot.regressor(q, v, a) @ robot.regressors.parameters
    assert np.allclose(robot.regressors.drive(q, v, a)[:, 0] @ numbers, own[:, 0], rtol=1e-13)


def test_a_single_state_gives_a_matrix():
    robot = kt.robots.arm()
    assert robot.regressor(*np.zeros((3, 7))).shape == (7, 70)
    assert robot.regressors.names[9] == "link1.Iyz"
