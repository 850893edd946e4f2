"""The order of parameters, other libraries' orders, and robots made from them."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, UnknownNameError
from kinetree.identify.parameters import (
    Parameters,
    from_order,
    from_pseudo_inertia,
    pseudo_inertia,
    to_order,
)
from tests.mixed_robots import ROBOTS

ARM = kt.robots.arm()


@pytest.mark.parametrize("order", ["kinetree", "pinocchio", "mujoco"])
def test_orders_are_there_and_back(order):
    phi = ARM.regressors.parameters
    assert np.allclose(from_order(to_order(phi, order), order), phi, rtol=1e-13, atol=1e-15)


def test_pinocchios_order_is_pinocchios():
    pin = pytest.importorskip("pinocchio")
    mass, c, I = 2.0, np.array([0.1, 0.2, 0.3]), np.diag([0.1, 0.2, 0.25]) + 0.01
    theirs = pin.Inertia(mass, c, I).toDynamicParameters()
    fixed = ARM.edit.replace_inertia("link7", mass, c, I).regressors.parameters[-10:]
    assert np.allclose(to_order(fixed, "pinocchio"), theirs, rtol=1e-13)


def test_mujocos_order_is_that_of_its_element_inertial():
    mujoco = pytest.importorskip("mujoco")
    phi = from_order([2.0, 0.1, 0.2, 0.3, 0.1, 0.2, 0.25, 0.01, 0.02, 0.03], "mujoco")
    xml = """<mujoco><worldbody><body><freejoint/><inertial mass="2" pos="0.1 0.2 0.3"
      fullinertia="0.1 0.2 0.25 0.01 0.02 0.03"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    M = np.zeros((6, 6))
    mujoco.mj_fullM(model, data, M)
    I = phi[4:][[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
    assert np.allclose(M[3:, 3:], I, rtol=1e-9)


def test_other_orders_and_sizes_are_refused():
    with pytest.raises(UnknownNameError, match="valid are 'kinetree', 'pinocchio', 'mujoco'"):
        to_order(ARM.regressors.parameters, "drake")
    with pytest.raises(KinetreeError, match="ten inertial parameters for each body"):
        to_order(np.zeros(7), "pinocchio")


def test_pseudo_inertias_are_there_and_back_and_positive_for_bodies():
    P = pseudo_inertia(ARM.regressors.parameters.reshape(-1, 10))
    assert (np.linalg.eigvalsh(P) > -1e-12).all()
    assert np.allclose(from_pseudo_inertia(P).ravel(), ARM.regressors.parameters, atol=1e-15)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("drives", [(), ("damping", "friction"), ("armature", "stiffness")])
def test_forces_are_blocks_times_parameters_and_what_is_known(name, drives):
    robot = ROBOTS[name]()
    parameters = Parameters(robot, drives)
    rng = np.random.default_rng(0)
    q = robot.random(rng, 6)
    v, a = rng.standard_normal((2, 6, robot.nv))
    theta = parameters.nominal
    pairs = zip(parameters.support, parameters.blocks(q, v, a), strict=True)
    found = np.stack([Y @ theta[places] for places, Y in pairs], axis=-1)
    found += parameters.known_forces(q, v, a)
    assert np.allclose(found, robot.inverse_dynamics(q, v, a), atol=1e-10)


def test_a_robot_of_its_own_parameters_is_the_same_robot():
    robot = ROBOTS["gripper"]()
    drives = ("armature", "damping", "friction")
    parameters = Parameters(robot, drives)
    other = parameters.applied(parameters.nominal)
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng), *rng.standard_normal((2, robot.nv))
    expected = robot.inverse_dynamics(q, v, a)
    assert np.allclose(other.inverse_dynamics(q, v, a), expected, rtol=1e-12)


def test_an_offset_moves_where_a_spring_is_relaxed():
    robot = kt.robots.double_pendulum()
    parameters = Parameters(robot, ("stiffness", "offset"))
    theta = parameters.nominal
    theta[-4:] = [2.0, 0.5, 4.0, -1.0]
    q = np.array([0.3, -0.2])
    springs = parameters.applied(theta).gravity_forces(q) - robot.gravity_forces(q)
    assert np.allclose(springs, [2.0 * 0.3 + 0.5, 4.0 * -0.2 - 1.0], rtol=1e-12)


def test_a_floating_base_has_no_drive_and_a_ball_has_one():
    rider, turret = ROBOTS["rider"](), ROBOTS["turret"]()
    assert Parameters(rider, ("damping",)).names[20:] == ("hand_joint.damping",)
    parameters = Parameters(turret, ("damping", "offset"))
    assert parameters.names[20:] == (
        "ring_joint.damping",
        "ring_joint.offset",
        "gun_joint.damping",
        "gun_joint.offset",
    )
    assert parameters.drive_of == {0: 0, 1: 0, 2: 0, 3: 1}


def test_an_offset_of_a_joint_whose_spring_is_known_does_not_move_the_spring():
    robot = ROBOTS["gripper"]()
    parameters = Parameters(robot, ("offset",))
    theta = parameters.nominal
    theta[-4:] = 1.0
    q = robot.random(0)
    assert np.allclose(parameters.applied(theta).gravity_forces(q), robot.gravity_forces(q))


@pytest.mark.parametrize("name", ["double_pendulum", "arm"])
def test_packed_rows_are_those_columns_of_the_regressor(name):
    robot = getattr(kt.robots, name)()
    parameters = Parameters(robot, ("damping", "offset"))
    base = robot.base_parameters(drives=parameters.drives)
    places = parameters.wanted(base.pivots)
    rng = np.random.default_rng(0)
    q, v, a, last = rng.standard_normal((4, 33, robot.nv))
    plain = parameters.block_function(places)(q, v, a, last)
    packed = parameters.block_function(places, packed=True)(q, v, a, last)
    for k, (x, y) in enumerate(zip(plain, packed, strict=True)):
        assert x.shape == (33, len(places[k]) + 1)
        assert (x[:, -1] == last[:, k]).all()
        assert np.allclose(x, y, rtol=1e-13, atol=1e-13)
