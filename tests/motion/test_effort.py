"""The effort of a trajectory and its gradient, and the motion near a state."""

import numpy as np
import pytest
from scipy.interpolate import BSpline, CubicSpline, PPoly

import kinetree as kt
from kinetree.errors import KinetreeError, ShapeError, UnknownNameError
from tests.tolerances import EXACT, relative_error


def spline(robot, degree=5, count=8, seed=0):
    knots = np.r_[[0.0] * degree, np.linspace(0.0, 1.0, count - degree + 1), [1.0] * degree]
    c = 0.3 * np.random.default_rng(seed).standard_normal((count, robot.nv))
    return BSpline(knots, c, degree)


def cubic(robot, seed=0):
    values = 0.3 * np.random.default_rng(seed).standard_normal((5, robot.nv))
    return CubicSpline(np.array([0.0, 0.2, 0.5, 0.8, 1.0]), values)


def difference(P, c, direction, h=1e-4):
    """The derivative along a direction, by the five-point rule."""
    values = [P.value(c + k * h * direction) for k in (1, -1, 2, -2)]
    return (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * h)


HUMAN = kt.robots.human().edit.rechart("exponential")
ARM = kt.robots.arm()


@pytest.mark.slow
@pytest.mark.parametrize("robot", [ARM, HUMAN], ids=lambda robot: robot.name)
@pytest.mark.parametrize("make", [spline, cubic])
def test_the_gradient_is_the_slope_in_every_direction(robot, make):
    P = kt.motion.Effort(robot, make(robot))
    c, rng = P.coefficients, np.random.default_rng(1)
    value, gradient = P.value_and_gradient()
    assert value == P.value(c)
    for _ in range(4):
        direction = rng.standard_normal(c.shape)
        direction /= np.linalg.norm(direction)
        slope = (gradient * direction).sum()
        assert abs(difference(P, c, direction) - slope) < 1e-6 * np.linalg.norm(gradient)


@pytest.mark.parametrize("make", [spline, cubic])
def test_the_chain_rule_and_the_reverse_sweep_agree(make):
    P = kt.motion.Effort(ARM, make(ARM))
    assert relative_error(P.gradient(method="chain"), P.gradient()) < EXACT


def test_the_motion_is_the_trajectorys():
    trajectory = spline(ARM)
    P = kt.motion.Effort(ARM, trajectory)
    for ours, rate in zip(P.motion(), (0, 1, 2), strict=True):
        assert relative_error(ours, trajectory(P.times, rate)) < EXACT


def test_the_integral_is_exact_for_polynomials():
    # a pendulum-like joint without gravity, moved by t^2: tau is constant
    robot = kt.robots.chain(1).without("gravity")
    P = kt.motion.Effort(
        robot, PPoly(np.array([[[1.0]], [[0.0]], [[0.0]]]), np.array([0.0, 2.0])), points=1
    )
    M = robot.mass_matrix(np.zeros(1))[0, 0]
    assert P.value() == pytest.approx(2.0 * (2.0 * M) ** 2, rel=1e-12)


def test_samples_lie_between_all_knots_and_weigh_the_whole_time():
    P = kt.motion.Effort(ARM, cubic(ARM), points=3)
    assert len(P.times) == 12
    assert P._samples.weights.sum() == pytest.approx(1.0)


def test_many_trajectories_at_once():
    P = kt.motion.Effort(ARM, spline(ARM))
    many = P.coefficients + np.linspace(0.0, 0.1, 3)[:, None, None]
    assert P.value(many).shape == (3,)
    assert P.gradient(many).shape == many.shape
    assert relative_error(P.gradient(many)[1], P.gradient(many[1])) < EXACT
    assert P.value(many)[2] == pytest.approx(P.value(many[2]), rel=1e-14)


@pytest.mark.slow
def test_weights_leave_out_a_free_base():
    robot = kt.robots.quadruped().edit.rechart("exponential")
    weights = np.r_[np.zeros(6), np.ones(robot.nv - 6)]
    P, Q = (
        kt.motion.Effort(robot, spline(robot), weights=weights),
        kt.motion.Effort(robot, spline(robot)),
    )
    tau = robot.inverse_dynamics(*P.motion())
    expected = (tau[:, 6:] ** 2).sum(axis=1) @ P._samples.weights
    assert P.value() == pytest.approx(expected, rel=1e-12)
    assert P.value() < Q.value()
    assert relative_error(P.gradient(method="chain"), P.gradient()) < EXACT


# how many samples


@pytest.fixture(scope="module")
def long_way():
    """From one configuration to another within a second: the example of docs/derivatives.md."""
    degree, count = 5, 12
    knots = np.r_[[0.0] * degree, np.linspace(0.0, 1.0, count - degree + 1), [1.0] * degree]
    start, goal = ARM.random(1), ARM.random(2)
    c = start + np.linspace(0.0, 1.0, count)[:, None] * (goal - start)
    c[:3], c[-3:] = start, goal
    return BSpline(knots, c, degree)


@pytest.fixture(scope="module")
def truth(long_way):
    return kt.motion.Effort(ARM, long_way, points=200).value()


def test_by_default_the_error_is_within_its_tolerance(long_way, truth):
    P = kt.motion.Effort(ARM, long_way)
    assert P.error <= 1e-8
    assert abs(P.value() / truth - 1.0) < 1e-8


@pytest.mark.parametrize("points", [2, 4, 5, 6, 7, 8, 10])
def test_the_estimated_error_is_the_true_one(points, long_way, truth):
    P = kt.motion.Effort(ARM, long_way, points=points)
    assert P.points == points
    assert P.error == pytest.approx(abs(P.value() / truth - 1.0), rel=0.1)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6, 1e-12])
def test_a_tolerance_is_met_with_no_more_points_than_it_needs(tolerance, long_way, truth):
    P = kt.motion.Effort(ARM, long_way, tolerance=tolerance)
    assert abs(P.value() / truth - 1.0) < 2 * tolerance
    fewer = {6: 4, 9: 6, 13: 9, 19: 13}.get(P.points)
    assert fewer is None or kt.motion.Effort(ARM, long_way, points=fewer).error > tolerance


def test_samples_stay_when_coefficients_change(long_way):
    P = kt.motion.Effort(ARM, long_way, tolerance=1e-3)
    times = P.times.copy()
    c = P.coefficients + 0.5 * np.random.default_rng(0).standard_normal(P.coefficients.shape)
    value, gradient = P.value_and_gradient(c)
    assert (P.times == times).all()
    direction = np.random.default_rng(1).standard_normal(c.shape)
    slope = (gradient * direction).sum()
    assert difference(P, c, direction) == pytest.approx(slope, rel=1e-6)
    assert value == P.value(c)


def test_where_no_number_of_points_is_enough_the_error_says_so():
    # dry friction: the force jumps where the joint turns back
    text = (
        "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='j' type='continuous'>"
        "<parent link='a'/><child link='b'/><axis xyz='0 0 1'/><dynamics friction='1'/>"
        "</joint></robot>"
    )
    there_and_back = PPoly(np.array([[[1.0]], [[-1.0]], [[0.0]]]), np.array([0.0, 1.3]))
    P = kt.motion.Effort(kt.load(text), there_and_back)
    assert P.points == 63
    assert 1e-8 < P.error < 0.1


def test_no_effort_has_no_error():
    robot = kt.robots.chain(1).without("gravity")
    P = kt.motion.Effort(robot, PPoly(np.zeros((3, 1, 1)), np.array([0.0, 1.0])))
    assert P.value() == P.error == 0.0


@pytest.mark.parametrize("wrong", [None, 3, "spline", np.zeros((3, 7)), [1, 2], object()])
def test_what_is_no_trajectory_is_named(wrong):
    with pytest.raises(KinetreeError, match=r"is not a trajectory; expected a BSpline or PPoly"):
        kt.motion.Effort(ARM, wrong)


@pytest.mark.parametrize("points", [0, -1, 2.5, "4", True, [4]])
def test_a_wrong_number_of_points_is_named(points):
    with pytest.raises(KinetreeError, match="expected the number of samples between two knots"):
        kt.motion.Effort(ARM, spline(ARM), points=points)


@pytest.mark.parametrize("tolerance", [0.0, -1e-8, np.nan, np.inf, "small", [1e-8]])
def test_a_wrong_tolerance_is_named(tolerance):
    with pytest.raises(KinetreeError, match="tolerance"):
        kt.motion.Effort(ARM, spline(ARM), tolerance=tolerance)


@pytest.mark.parametrize("weights", ["heavy", [1j] * 7, [np.nan] * 7, 3.0, None])
def test_wrong_weights_are_named(weights):
    if weights is None:
        kt.motion.Effort(ARM, spline(ARM), weights=None)
        return
    with pytest.raises(KinetreeError, match="weights"):
        kt.motion.Effort(ARM, spline(ARM), weights=weights)


def test_a_spline_of_numbers_is_no_motion():
    # as many coefficients as the robot has coordinates
    t = np.r_[[0.0] * 3, np.linspace(0.0, 1.0, 5), [1.0] * 3]
    with pytest.raises(ShapeError, match="2 axes are expected"):
        kt.motion.Effort(ARM, BSpline(t, np.ones(7), 3))
    with pytest.raises(ShapeError, match="3 axes are expected"):
        kt.motion.Effort(ARM, PPoly(np.ones((4, 7)), np.linspace(0.0, 1.0, 8)))


def test_coefficients_that_are_no_numbers_are_named():
    with pytest.raises(KinetreeError, match="every number must be finite"):
        kt.motion.Effort(ARM, BSpline([0, 0, 0, 1, 1, 1], np.full((3, 7), np.nan), 2))
    with pytest.raises(KinetreeError, match="coefficients: an array of real numbers is expected"):
        kt.motion.Effort(ARM, spline(ARM)).value("none")


def test_what_is_no_trajectory_is_an_error():
    with pytest.raises(KinetreeError, match="BSpline or PPoly"):
        kt.motion.Effort(ARM, Odd())
    with pytest.raises(ShapeError, match="the last axis must be 7"):
        kt.motion.Effort(ARM, spline(kt.robots.chain(3)))
    with pytest.raises(KinetreeError, match=r"rechart\('exponential'\)"):
        kt.motion.Effort(kt.robots.quadruped(), spline(ARM))
    P = kt.motion.Effort(ARM, spline(ARM))
    with pytest.raises(ShapeError, match="its last 2 axes must be"):
        P.value(P.coefficients[:-1])
    with pytest.raises(UnknownNameError, match="valid are 'vjp', 'chain'"):
        P.gradient(method="guess")
    with pytest.raises(ShapeError, match="weights has shape"):
        kt.motion.Effort(ARM, spline(ARM), weights=np.ones(3))


class Odd:
    """Has coefficients, and is no trajectory."""

    c = np.ones((3, 7))


# the motion near a state


def step(robot, q, v, tau, dt):
    """A step in time by the midpoint rule."""
    between = robot.integrate(q, v * dt / 2), v + robot.forward_dynamics(q, v, tau) * dt / 2
    return robot.integrate(q, between[1] * dt), v + robot.forward_dynamics(*between, tau) * dt


def test_with_rates_of_coordinates_the_upper_rows_are_trivial():
    robot = ARM
    q, (v, tau) = robot.random(0), np.random.default_rng(0).standard_normal((2, 7))
    A, B = robot.linearize(q, v, tau)
    dq, dv, dtau = robot.forward_dynamics_derivatives(q, v, tau)
    assert (A[:7] == np.eye(7, 14, 7)).all()
    assert (B[:7] == 0.0).all()
    assert (A[7:] == np.hstack((dq, dv))).all()
    assert (B[7:] == dtau).all()


def test_a_free_body_carries_displacements_by_the_adjoint_of_its_velocity():
    robot = kt.robots.quadruped()
    q, (v, tau) = robot.random(0), np.random.default_rng(0).standard_normal((2, robot.nv))
    A, _ = robot.linearize(q, v, tau)

    def cross(x):
        return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])

    expected = np.zeros((6, 6))
    expected[:3, :3] = expected[3:, 3:] = -cross(v[3:6])
    expected[:3, 3:] = -cross(v[:3])
    assert relative_error(A[:6, :6], expected) < EXACT
    assert not A[6 : robot.nv, : robot.nv].any()


@pytest.mark.slow
@pytest.mark.parametrize("robot", [ARM, kt.robots.quadruped()], ids=lambda robot: robot.name)
def test_a_step_in_time_moves_displacements_as_the_robot_moves(robot):
    n, dt, h = robot.nv, 1e-4, 1e-5
    rng = np.random.default_rng(3)
    q, (v, tau) = robot.random(rng), rng.standard_normal((2, n))
    A, B = robot.linearize(q, v, tau, dt=dt)
    q1, v1 = step(robot, q, v, tau, dt)

    def after(x, u):
        moved_q, moved_v = step(robot, robot.integrate(q, x[:n]), v + x[n:], tau + u, dt)
        return np.r_[robot.difference(q1, moved_q), moved_v - v1]

    for _ in range(5):
        x, u = h * rng.standard_normal(2 * n), h * rng.standard_normal(n)
        found = (after(x, u) - after(-x, -u)) / 2
        assert relative_error(found / h, (A @ x + B @ u) / h) < 1e-5


@pytest.mark.slow
def test_batches_and_external_wrenches():
    rng = np.random.default_rng(4)
    q, (v, tau) = ARM.random(rng, 3), rng.standard_normal((2, 3, 7))
    load = {"tool": rng.standard_normal(6)}
    A, B = ARM.linearize(q, v, tau, external=load)
    assert A.shape == (3, 14, 14)
    one, _ = ARM.linearize(q[1], v[1], tau[1], external=load)
    assert relative_error(A[1], one) < EXACT
    A, B = ARM.linearize(q, v, tau, dt=0.0)
    assert relative_error(A, np.broadcast_to(np.eye(14), A.shape)) < EXACT
    assert not B.any()
