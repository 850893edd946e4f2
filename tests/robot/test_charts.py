"""Other charts and generalised speeds: the same motion, the same work, the paper's laws."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms import rechart
from kinetree.errors import KinetreeError
from kinetree.joints import EULER_SEQUENCES, Ball, Revolute
from kinetree.scalar import cos, sin
from tests.tolerances import relative_error

SAME = 1e-9


def small_robot():
    """A floating body with a ball and a hinge."""
    robot = kt.Assembly("small", "trunk", (0.1, 0.2, 0.15), mass=3.0)
    robot.add(
        "arm", "trunk", Ball(), (0.1, 0.0, 0.3), (0.02, 0.03, 0.01), mass=1.0, com=(0, 0, 0.2)
    )
    robot.add("hand", "arm", Revolute("y"), (0.0, 0.0, 0.4), (0.01,) * 3, mass=0.5, com=(0.1, 0, 0))
    return robot.robot("floating")


@pytest.fixture(scope="module")
def robot():
    return small_robot()


def gentle(robot, seed=1):
    """A state far from the singularities of every chart."""
    rng = np.random.default_rng(seed)
    q = robot.integrate(robot.neutral(), 0.4 * rng.uniform(0.5, 1.0, robot.nv))
    return q, *rng.standard_normal((3, robot.nv))


@pytest.mark.slow
@pytest.mark.parametrize("chart", ["exponential", "zyx"])
def test_a_state_in_another_chart_is_the_same_motion_and_does_the_same_work(robot, chart):
    other = robot.edit.rechart(chart)
    q, v, a, tau = gentle(robot)
    there, back = robot.charts.conversion(other), other.charts.conversion(robot)
    y, w, b = there.configuration(q), there.velocity(q, v), there.acceleration(q, v, a)
    assert relative_error(other.poses(y), robot.poses(q)) < SAME
    assert relative_error(other.velocities(y, w), robot.velocities(q, v)) < SAME
    for frame in robot.bodies:
        expected = robot.acceleration(q, v, a, frame)
        assert relative_error(other.acceleration(y, w, b, frame), expected) < SAME
    force = there.forces(q, tau)
    assert force @ w == pytest.approx(tau @ v)
    assert relative_error(other.forward_dynamics(y, w, force), there.acceleration(
        q, v, robot.forward_dynamics(q, v, tau))) < SAME  # fmt: skip
    assert relative_error(there.mass_matrix(q, robot.mass_matrix(q)), other.mass_matrix(y)) < SAME
    assert relative_error(robot.difference(q, back.configuration(y)), np.zeros(robot.nv)) < SAME
    assert relative_error(back.velocity(y, w), v) < SAME
    assert relative_error(back.acceleration(y, w, b), a) < SAME


@pytest.mark.slow
def test_coriolis_matrices_and_symbols_transform_as_theorem_1_says(robot):
    first, second = robot.edit.rechart("exponential"), robot.edit.rechart("zyx")
    q, v, _, _ = gentle(first)
    there = first.charts.conversion(second)
    y, w = there.configuration(q), there.velocity(q, v)
    M, C = first.mass_matrix(q), first.coriolis_matrix(q, v)
    assert relative_error(there.coriolis_matrix(q, v, M, C), second.coriolis_matrix(y, w)) < SAME
    symbols = there.christoffel_symbols(q, M, first.christoffel_symbols(q))
    assert relative_error(symbols, second.christoffel_symbols(y)) < SAME
    with pytest.raises(KinetreeError, match="has quaternions in one of them"):
        robot.charts.conversion(first).christoffel_symbols(robot.neutral(), M, symbols)


@pytest.mark.parametrize("sequence", EULER_SEQUENCES)
def test_every_euler_sequence_has_the_poses_and_velocities_of_quaternions(robot, sequence):
    other = robot.edit.rechart(sequence).model
    q, v, _, _ = (x.tolist() for x in gentle(robot))
    y = rechart.other_coordinates(robot.model, other, q)
    w = rechart.other_velocity(robot.model, other, q, y, v)
    for a, b in zip(
        algorithms.velocities(robot.model, q, v, "world"),
        algorithms.velocities(other, y, w, "world"),
        strict=True,
    ):
        assert relative_error(list(a), list(b)) < SAME
    for a, b in zip(algorithms.poses(robot.model, q), algorithms.poses(other, y), strict=True):
        assert relative_error(a.matrix(), b.matrix()) < SAME


def spinning(robot, turns):
    """Configurations of the ball as it turns more than once about a slanted axis."""
    angles = np.linspace(0.0, turns * 2 * np.pi, 200)
    axis = np.array([0.6, 0.0, 0.8])
    q = np.tile(robot.neutral(), (200, 1))
    q[:, 7:11] = np.c_[axis * np.sin(angles / 2)[:, None], np.cos(angles / 2)]
    return q


def test_a_trajectory_stays_without_jumps_in_every_chart(robot):
    q = spinning(robot, 1.4)
    flipped = q.copy()
    flipped[::3, 7:11] *= -1.0  # the same orientations
    smooth = robot.charts.continuous(flipped)
    assert np.abs(np.diff(smooth, axis=0)).max() < 0.1
    for chart in ("zyx", "xyz", "zxz"):
        other = robot.edit.rechart(chart)
        y = robot.charts.conversion(other).trajectory(flipped).q
        assert relative_error(other.poses(y), robot.poses(q)) < SAME
        assert np.abs(np.diff(y, axis=0)).max() < 1.2  # no whole or half turn
    other = robot.edit.rechart("exponential")
    y = robot.charts.conversion(other).trajectory(flipped).q
    assert relative_error(other.poses(y), robot.poses(q)) < SAME
    sizes = np.linalg.norm(y[:, 6:9], axis=1)
    assert np.pi < sizes.max() < 1.55 * np.pi  # past half a turn, and away from a full one
    jumps = np.linalg.norm(np.diff(y, axis=0), axis=1) > 1.0
    assert jumps.sum() == 1
    with pytest.raises(KinetreeError, match=r"\(times, 12\) is expected"):
        robot.charts.continuous(q[0])


@pytest.mark.parametrize("chart", ["exponential", "zyx"])
def test_velocities_along_a_trajectory_are_the_rates_of_its_coordinates(robot, chart):
    q = spinning(robot, 0.7)  # past half a turn, where other coordinates than the usual are taken
    times = np.linspace(0.0, 1.0, len(q))
    v = robot.charts.velocities_along(times, q, method="spline")
    other = robot.edit.rechart(chart)
    y, w, b = robot.charts.conversion(other).trajectory(q, v, np.zeros_like(v))
    rates = np.gradient(y, times, axis=0)
    assert np.abs(w - rates)[2:-2].max() < 0.02 * np.abs(rates).max()
    assert b.shape == w.shape


@pytest.mark.parametrize("chart", ["exponential", "zyx"])
def test_joints_that_do_not_change_their_chart_keep_their_coordinates(robot, chart):
    first = robot.edit.rechart("xyz")  # of the joints that change, the positions are the same
    q = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 3.2], [3.0] * 9 + [-9.5]])
    q = np.tile(q, (3, 1))
    there = first.charts.conversion(first.edit.rechart(chart))
    for y in (there.configuration(q), there.trajectory(q).q):
        assert (y[:, [0, 1, 2, 9]] == q[:, [0, 1, 2, 9]]).all()
    same = first.charts.conversion(first)
    assert (same.configuration(q) == q).all()
    assert (same.trajectory(q).q == q).all()
    scaled = 2.0 * robot.random(0)  # quaternions of another length, too
    assert (robot.charts.conversion(robot).configuration(scaled) == scaled).all()


def test_a_spring_that_is_wound_up_keeps_its_energy_in_other_charts():
    assembly = kt.Assembly("wound", "base", mass=1.0)
    assembly.add("ball", "base", kt.joints.Ball(), mass=1.0)
    assembly.add("wheel", "ball", kt.joints.Revolute("z"), mass=1.0, drive={"stiffness": 5.0})
    robot = assembly.robot("fixed").without("gravity")
    other = robot.edit.rechart("zyx")
    q = np.array([0.0, 0.0, 0.0, 1.0, 3.2])
    y = robot.charts.conversion(other).configuration(q)
    assert other.potential_energy(y) == robot.potential_energy(q) == pytest.approx(25.6)


def test_the_same_robot_in_other_charts_is_expected(robot):
    with pytest.raises(KinetreeError, match="have different joints"):
        robot.charts.conversion(kt.robots.arm())


def mixed(q):
    """Speeds of an arm that mix three joints, so that they are rates of no coordinates."""
    n = 7
    rows = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    rows[0][1], rows[1][2], rows[2][0] = sin(q[2]) * 0.5, cos(q[0]) * 0.3, q[1] * 0.4
    return rows


@pytest.mark.slow
def test_in_generalised_speeds_the_motion_is_the_same():
    arm = kt.robots.arm()
    rng = np.random.default_rng(3)
    q, nu, dnu, tau = arm.random(rng), *rng.standard_normal((3, 7))
    speeds = arm.charts.in_speeds(mixed, 7)
    A = speeds.matrix(q)
    assert relative_error(A, np.array(mixed(q.tolist()))) < SAME
    v, h = A @ nu, 1e-6
    ahead, behind = (speeds.matrix(arm.integrate(q, s * h * v)) for s in (1, -1))
    dA = (ahead - behind) / (2 * h)
    M = speeds.mass_matrix(q)
    assert relative_error(M, A.T @ arm.mass_matrix(q) @ A) < SAME
    assert relative_error(speeds.velocity(q, nu), v) < SAME
    expected = A.T @ arm.inverse_dynamics(q, v, A @ dnu + dA @ nu)
    assert relative_error(speeds.inverse_dynamics(q, nu, dnu), expected) < 1e-7
    found = speeds.forward_dynamics(q, nu, tau)
    assert relative_error(A @ found + dA @ nu, arm.forward_dynamics(q, v, tau)) < 1e-6
    bias = speeds.bias_forces(q, nu)
    assert relative_error(M @ found + bias, speeds.forces(q, tau)) < SAME
    rate = (
        speeds.mass_matrix(arm.integrate(q, h * v)) - speeds.mass_matrix(arm.integrate(q, -h * v))
    ) / (2 * h)
    for factorization in ("christoffel", "spatial"):  # Remark 4: admissible
        C = speeds.coriolis_matrix(q, nu, factorization=factorization)
        assert relative_error(C + C.T, rate) < 1e-7
        still = arm.without("damping", "friction", "springs")
        felt = A.T @ (still.inverse_dynamics(q, v, dA @ nu) - still.gravity_forces(q))
        assert relative_error(C @ nu, felt) < 1e-7


def test_quaternions_have_speeds_too(robot):
    q, v, _, tau = gentle(robot)

    def in_world(q):
        """The ball's angular velocity in its parent's axes instead of its body's."""
        R = Ball().transform(q[7:11]).rotation
        A = [[1.0 if i == j else 0.0 for j in range(10)] for i in range(10)]
        for i, row in enumerate(R.T.rows):
            A[6 + i][6:9] = list(row)
        return A

    speeds = robot.charts.in_speeds(in_world, 10)
    nu = np.linalg.solve(speeds.matrix(q), v)
    dnu = speeds.forward_dynamics(q, nu, tau)
    h = 1e-6
    a = robot.forward_dynamics(q, v, tau)
    ahead = np.linalg.solve(speeds.matrix(robot.integrate(q, h * v)), v + h * a)
    behind = np.linalg.solve(speeds.matrix(robot.integrate(q, -h * v)), v - h * a)
    assert relative_error(dnu, (ahead - behind) / (2 * h)) < 1e-6


def test_fewer_speeds_hold_the_robot_to_what_they_allow():
    # a double pendulum whose second angle is held to twice the first: one speed
    robot = kt.robots.double_pendulum()
    speeds = robot.charts.in_speeds(lambda q: [[1.0], [2.0]], 1)
    q, nu, tau = robot.random(0), np.array([0.3]), np.array([0.1, -0.2])
    A = np.array([[1.0], [2.0]])
    M, bias = robot.mass_matrix(q), robot.bias_forces(q, A @ nu)
    expected = np.linalg.solve(A.T @ M @ A, A.T @ (tau - bias))
    assert relative_error(speeds.forward_dynamics(q, nu, tau), expected) < SAME


def test_wrong_speeds_are_refused():
    arm = kt.robots.arm()
    with pytest.raises(KinetreeError, match=r"matrix of shape \(7, 7\); \(7, 3\)"):
        arm.charts.in_speeds(mixed, 3)
    with pytest.raises(KinetreeError, match="count must be a whole number of at least 1, got 0"):
        arm.charts.in_speeds(mixed, 0)
    with pytest.raises(kt.errors.UnknownNameError, match="factorization"):
        arm.charts.in_speeds(mixed, 7).coriolis_matrix(
            arm.neutral(), np.zeros(7), factorization="other"
        )
