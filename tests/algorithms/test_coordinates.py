"""Other coordinates: the laws of transformation, against the definition of the symbols."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms import coordinates
from kinetree.errors import KinetreeError
from kinetree.scalar import cos, sin, sqrt
from tests.tolerances import EXACT, relative_error

STEP = 1e-30
FEW = EXACT * 100


def bent(y):
    """Coordinates that mix three joints, and the others as they are."""
    a, b, c, *rest = y
    return [a + sin(b) * 0.3, b + 0.2 * a * c, c + cos(a) * 0.1, *rest]


def slopes(function, y):
    """The derivatives of an array by each coordinate, by complex steps; the last axis is theirs."""
    columns = []
    for k in range(len(y)):
        moved = [complex(x, STEP if i == k else 0.0) for i, x in enumerate(y)]
        columns.append(np.array(function(moved), dtype=complex).imag / STEP)
    return np.stack(columns, axis=-1)


@pytest.fixture(scope="module")
def arm():
    return kt.robots.arm()


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(3).uniform(-1.0, 1.0, 7)


def test_the_derivative_is_that_of_the_function(arm, y):
    A = arm.charts.in_coordinates(bent, 7).derivative(y)
    assert relative_error(A, slopes(bent, y)) < EXACT
    assert arm.charts.in_coordinates(bent, 7).coordinates(y) == pytest.approx(bent(y.tolist()))


def test_masses_forces_and_gravity_transform(arm, y):
    other = arm.charts.in_coordinates(bent, 7)
    q, A = other.coordinates(y), other.derivative(y)
    assert relative_error(other.mass_matrix(y), A.T @ arm.mass_matrix(q) @ A) < EXACT
    assert relative_error(other.gravity_forces(y), A.T @ arm.gravity_forces(q)) < EXACT
    tau = np.arange(7.0)
    assert relative_error(other.forces(y, tau), A.T @ tau) < EXACT


def test_the_symbols_in_other_coordinates_are_those_of_the_definition(arm, y):
    other = arm.charts.in_coordinates(bent, 7)
    d = slopes(lambda x: coordinates.mass_in(bent, arm.model, x), y)
    expected = 0.5 * (d + d.swapaxes(1, 2) - d.transpose(2, 0, 1))
    Gamma = other.christoffel_symbols(y)
    assert relative_error(Gamma, expected) < FEW
    dy = np.random.default_rng(1).standard_normal(7)
    C = other.coriolis_matrix(y, dy)  # Theorem 1
    assert relative_error(C, expected @ dy) < FEW
    assert relative_error(C + C.T, d @ dy) < FEW


def test_the_motion_is_the_same(arm, y):
    other = arm.charts.in_coordinates(bent, 7)
    rng = np.random.default_rng(2)
    dy, ddy = rng.standard_normal((2, 7))
    q, A = other.coordinates(y), other.derivative(y)
    dA = np.array(coordinates.derivative_rate(bent, y.tolist(), dy.tolist()), dtype=float)
    tau = arm.inverse_dynamics(q, A @ dy, A @ ddy + dA @ dy)
    drives = arm.without("damping", "friction").inverse_dynamics(q, A @ dy, A @ ddy + dA @ dy)
    felt = other.mass_matrix(y) @ ddy + other.coriolis_matrix(y, dy) @ dy + other.gravity_forces(y)
    assert relative_error(felt, A.T @ drives) < FEW
    assert tau.shape == drives.shape


def test_inverse_and_forward_dynamics_are_those_of_the_joints(arm, y):
    other, rng = arm.charts.in_coordinates(bent, 7), np.random.default_rng(8)
    dy, ddy = rng.standard_normal((2, 7))
    q, A = other.coordinates(y), other.derivative(y)
    rate = np.array(coordinates.derivative_rate(bent, y.tolist(), dy.tolist()), float)
    tau = arm.inverse_dynamics(q, A @ dy, A @ ddy + rate @ dy)
    force = other.inverse_dynamics(y, dy, ddy)
    assert relative_error(force, A.T @ tau) < FEW
    assert relative_error(force, other.forces(y, tau)) < FEW
    assert relative_error(other.forward_dynamics(y, dy, force), ddy) < 1e-9
    assert other.forward_dynamics(np.tile(y, (3, 1)), dy, force).shape == (3, 7)


def test_fewer_coordinates_than_joints_are_a_constrained_robot():
    """Two joints that are led by one coordinate, against the energy of that motion."""
    robot = kt.robots.double_pendulum().without("damping", "friction")
    led = robot.charts.in_coordinates(lambda y: [y[0], -2.0 * y[0] + 0.1 * sin(y[0])], 1)
    y, dy, h = np.array([0.4]), np.array([1.3]), 1e-4

    def energy(s):
        """After a time s, to second order in it."""
        there, rate = y + s * dy + 0.5 * s * s * a, dy + s * a
        q, v = led.coordinates(there), led.derivative(there) @ rate
        return robot.kinetic_energy(q, v) + robot.potential_energy(q)

    a = led.forward_dynamics(y, dy, [0.0])
    assert abs(energy(h) - energy(-h)) / (2 * h) < 1e-6


def test_a_batch_of_states(arm):
    other = arm.charts.in_coordinates(bent, 7)
    y = np.random.default_rng(5).uniform(-1.0, 1.0, (6, 7))
    M = other.mass_matrix(y)
    assert relative_error(M, [other.mass_matrix(x) for x in y]) < EXACT


def test_with_the_center_of_mass_as_coordinates_a_free_robot_comes_apart():
    # Remark 5, eq. 42: no symbol has an index of the centre of mass
    robot = kt.robots.legged(2, 2, base="floating").edit.rechart("zyx")
    model = robot.model

    def chart(y):
        """From (centre of mass, the rest) to (position of the base, the rest)."""
        offset = algorithms.center_of_mass(model, [0.0, 0.0, 0.0, *y[3:]])
        return [p - o for p, o in zip(y[:3], offset, strict=True)] + list(y[3:])

    other = robot.charts.in_coordinates(chart, robot.nv)
    rng = np.random.default_rng(8)
    y, dy = rng.uniform(-1.0, 1.0, robot.nv), rng.standard_normal(robot.nv)
    M = other.mass_matrix(y)
    assert relative_error(M[:3, :3], robot.total_mass * np.eye(3)) < FEW
    assert np.abs(M[:3, 3:]).max() < FEW * robot.total_mass
    C = other.coriolis_matrix(y, dy)
    scale = np.abs(C).max()
    assert np.abs(C[:3]).max() < FEW * scale
    assert np.abs(C[:, :3]).max() < FEW * scale
    gravity = other.gravity_forces(y)
    assert gravity[:3] == pytest.approx([0.0, 0.0, 9.81 * robot.total_mass])
    assert np.abs(gravity[3:]).max() < FEW * np.abs(gravity).max()


def test_quaternions_and_wrong_counts_are_refused(arm):
    with pytest.raises(kt.errors.KinetreeError, match=r"rechart\('exponential'\)"):
        kt.robots.human().charts.in_coordinates(lambda y: y, 44)
    with pytest.raises(kt.errors.KinetreeError, match="gives 3 coordinates; robot 'arm' has 7"):
        arm.charts.in_coordinates(lambda y: y, 3)


def test_a_function_may_be_undefined_at_zero(arm):
    def inverse(y):
        return [1 / y[0], *(sqrt(x) for x in y[1:])]

    y = np.linspace(0.5, 2.0, 7)
    assert arm.charts.in_coordinates(inverse, 7).coordinates(y) == pytest.approx(
        inverse(y.tolist())
    )
    with pytest.raises(KinetreeError, match="gives 6 coordinates; robot 'arm' has 7"):
        arm.charts.in_coordinates(lambda y: [1 / x for x in y], 6)
    for count in (0, 2.5, "7"):
        with pytest.raises(KinetreeError, match="count must be a whole number"):
            arm.charts.in_coordinates(inverse, count)
