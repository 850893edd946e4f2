"""Transitions of least effort: derivatives, minima, constraints, batches, messages."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, MissingExtraError, ShapeError, UnknownNameError
from kinetree.motion.flat import Flat, states_of
from kinetree.motion.transition_problem import Problem
from kinetree.motion.transition_settings import Settings

POLE = kt.robots.double_pendulum()
ARM = kt.robots.arm()
START, GOAL = np.array([0.3, -0.4]), np.array([1.2, 0.5])


def ball_chain():
    """A free body that carries another on a ball joint."""
    chain = kt.Assembly("chain", "root", mass_like(2.0))
    chain.add("arm", "root", kt.joints.Ball(), (0.0, 0.0, 0.3), mass_like(1.0))
    return chain.robot("floating")


def mass_like(mass):
    from kinetree.spatial import Inertia, Symmetric3, Vector3

    return Inertia.about_center(
        mass, Vector3(0.05, 0.1, 0.2), Symmetric3(0.02, 0.03, 0.04, 0.001, 0.002, 0.003)
    )


def problem(robot, first, second, **settings):
    flat = Flat(robot)
    ends = states_of(robot, first, "first"), states_of(robot, second, "second")
    return Problem(flat, *ends, 0.7, Settings(coefficients=9, **settings))


def user_cost(t, q, v, a, tau, pose):
    return t * q[0] * q[0] * v[1] + 0.1 * a[0] * a[1] + q[1] * tau[0] * tau[0]


def of_pole(cost):
    return problem(POLE, START, GOAL, cost=cost)


def test_a_cost_of_a_list_is_the_sum_of_its_squares():
    def listed(t, q, v, a, tau, pose):
        return [3.0 * v, q[0] - 0.2]

    def summed(t, q, v, a, tau, pose):
        return 9.0 * (v @ v) + (q[0] - 0.2) ** 2

    values = [POLE.transition(START, GOAL, 0.7, cost=x).value for x in (listed, summed)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def of_ball_joints(weights):
    """Weights of the torques of both balls; a hold adds a part with a grid of its own."""
    robot, rng = ball_chain(), np.random.default_rng(1)
    ends = robot.random(rng), robot.random(rng)
    hold = (kt.Hold("arm", rows="position"),)
    given = problem(robot, *ends, root=1.0, weights=weights, hold=hold)
    given.prepare(np.full(1, 7.0), np.ones(1))
    return given


@pytest.mark.parametrize(
    ("exact", "make", "given"),
    [
        (True, of_pole, None),
        (False, of_pole, None),
        (True, of_pole, user_cost),
        (True, of_ball_joints, None),
        (True, of_ball_joints, [1.0] * 3 + [0.0] * 3 + [1.0, 2.0, 3.0]),
        (True, of_ball_joints, [1.0] * 3 + [0.0, 1.0, 1.0] + [1.0, 2.0, 3.0]),
    ],
)
def test_the_band_matrix_is_the_second_derivative(exact, make, given):
    p = make(given)
    rng = np.random.default_rng(0)
    c = p.start() + 0.1 * rng.standard_normal(p.start().shape)
    every, h = np.arange(1), 1e-5
    at = p.objective.expansion(c, every, exact)
    d = rng.standard_normal(c.shape)
    sides = [p.objective.expansion(c + k * h * d, every, True) for k in (1, -1)]
    slope = (sides[0].value - sides[1].value)[0] / (2 * h)
    assert slope == pytest.approx((at.gradient * d).sum(), rel=1e-7)
    value, gradient = p.objective.value_and_gradient(c, every)
    assert np.allclose(value, at.value)
    assert np.allclose(gradient, at.gradient)
    if exact:
        blocks, wide, n = at.bands.shape[1:4]
        H = np.zeros((blocks, n, blocks, n))
        for k in range(blocks):
            for j in range(min(wide, blocks - k)):
                H[k + j, :, k, :] = at.bands[0, k, j]
                H[k, :, k + j, :] = at.bands[0, k, j].T
        along = np.einsum("kilj,lj->ki", H, d[0])
        measured = (sides[0].gradient - sides[1].gradient)[0] / (2 * h)
        assert np.abs(along - measured).max() < 1e-7 * np.abs(measured).max()


def test_newton_finds_the_minimum_of_the_quasi_newton_method_in_fewer_evaluations():
    found = POLE.transition(START, GOAL, 0.7)
    slow = POLE.transition(START, GOAL, 0.7, method="l-bfgs", iterations=3000, tolerance=1e-7)
    assert found.converged
    assert found.optimality < 1e-8
    assert found.value == pytest.approx(slow.value, rel=1e-6)
    assert found.value < found.start_value
    assert 3 * found.evaluations < slow.evaluations


def test_ipopt_finds_the_same_minimum():
    pytest.importorskip("casadi")
    found = POLE.transition(START, GOAL, 0.7, coefficients=10)
    goals = np.stack([GOAL, GOAL + 0.1])
    other = POLE.transition(START, goals, 0.7, coefficients=10, method="ipopt")
    assert other.converged.all(), other.message
    assert other.value[0] == pytest.approx(float(found.value), rel=1e-9)
    assert (other.iterations < 60).all()


def test_what_ipopt_needs_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'kinetree\[tools\]'"):
        POLE.transition(START, GOAL, 0.7, method="ipopt")


def test_ipopt_takes_no_limits():
    pytest.importorskip("casadi")
    with pytest.raises(KinetreeError, match="takes no limits"):
        ARM.transition(np.zeros(7), np.ones(7), 0.7, method="ipopt")


def test_the_ends_have_the_states_that_were_given():
    rng = np.random.default_rng(1)
    first, second = (tuple(rng.standard_normal((3, 2))) for _ in range(2))
    found = POLE.transition(first, second, 0.5)
    motion = found.motion()
    for k, state in ((0, first), (-1, second)):
        for given, array in zip(state, (motion.q, motion.v, motion.a), strict=True):
            assert np.allclose(array[k], given, atol=1e-9)
    joined = POLE.transition((motion, 0.2), motion, 0.3, degree=5)
    assert np.allclose(joined.at([0.0]).v[0], motion.at(0.2).v)


def test_a_joint_that_turns_far_between_samples_ends_where_it_was_told_to():
    goal = START + np.array([0.0, 40.0])
    motion = POLE.transition(START, goal, 0.5, iterations=3).motion(rate=10.0)
    assert np.abs(np.diff(motion.q[:, 1])).max() > np.pi
    assert np.allclose(motion.q[-1], goal)


def test_limits_hold():
    free = POLE.transition(START, GOAL, 0.5).motion()
    lowest = free.v.min(axis=0) * 0.0 - 0.9 * np.abs(free.v).max(axis=0)
    strict = with_velocity_limits(POLE, -lowest)
    found = strict.transition(START, GOAL, 0.5, bounded=["v"])
    assert found.converged, found.message
    assert found.violation <= 1e-4
    assert (np.abs(found.motion(2000.0).v) < -lowest * (1.0 + 2e-4)).all()


def with_velocity_limits(robot, limits):
    from dataclasses import replace

    model = robot.model
    bodies = [
        replace(b, limits=replace(b.limits, velocity=float(x)))
        for b, x in zip(model.bodies, limits, strict=True)
    ]
    return kt.Robot(replace(model, bodies=tuple(bodies)))


def test_a_frame_is_led_where_it_is_wanted():
    arm = ARM
    q0, q1 = 0.2 * np.ones(7), np.array([0.6, 0.4, 0.0, -0.4, 0.3, 0.1, 0.0])
    there = arm.pose(0.5 * (q0 + q1), "tool")[:3, 3] + [0.05, 0.0, -0.03]
    hold = kt.Hold("tool", there, 0.4, 0.6, rows="position")
    found = arm.transition(q0, q1, 1.0, hold=[hold], coefficients=12)
    assert found.converged, found.message
    middle = arm.pose(found.at([0.5]).q[0], "tool")[:3, 3]
    assert np.abs(middle - there).max() < 1e-3


def test_the_effort_of_a_ball_joint_does_not_depend_on_the_chart():
    robot = ball_chain()
    rng = np.random.default_rng(0)
    q0, q1 = robot.random(rng), robot.random(rng)
    q0[:3] = q1[:3] = 0.0
    p = problem(robot, q0, q1, root=1.0)
    c, every = p.start(), np.arange(1)
    state = p.effort.state(p.objective.whole(c, every))
    tau = robot.inverse_dynamics(*p.flat.back(state.q, state.v, state.a))
    expected = ((tau**2).sum(axis=-1) * p.effort.weights).sum()
    assert p.objective.values(c, every)[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.slow
def test_a_free_body_flies_without_force_at_its_root():
    robot = ball_chain()

    def push(t, q, v, p):
        return [0.0] * 6 + [0.2, -0.1, 0.3]

    flight = robot.simulate(robot.neutral(), np.zeros(9), push, time=0.4, dt=1e-3, method="rk4")
    ends = [(flight.q[k], flight.v[k]) for k in (0, -1)]
    found = robot.transition(*ends, 0.4, coefficients=12)
    assert found.converged, found.message
    force = robot.inverse_dynamics(*found.at(np.linspace(0.02, 0.38, 7)))[:, :6]
    assert np.abs(force).max() < 0.05 * 9.81 * robot.total_mass


def hinges():
    """A free body that carries two links."""
    chain = kt.Assembly("hinges", "root", mass_like(2.0))
    chain.add("first", "root", kt.joints.Revolute("x"), (0.0, 0.0, 0.3), mass_like(1.0))
    chain.add("second", "first", kt.joints.Revolute("y"), (0.0, 0.0, 0.3), mass_like(1.0))
    return chain.robot("floating")


def flight(robot, seed, duration, size):
    """The ends of a free flight under constant joint forces, and P of that flight."""
    rng, joints = np.random.default_rng(seed), robot.nv - 6
    force = size * rng.standard_normal(joints)
    v0 = np.concatenate([0.5 * rng.standard_normal(6), 0.3 * rng.standard_normal(joints)])
    tau = [0.0] * 6 + force.tolist()
    done = robot.simulate(
        robot.neutral(), v0, lambda t, q, v, p: tau, time=duration, dt=1e-3, method="rk4"
    )
    return [(done.q[k], done.v[k]) for k in (0, -1)], float((force**2).sum() * duration)


HINGES = hinges()


@pytest.mark.parametrize(("seed", "size"), [(0, 0.2), (1, 0.2), (10, 0.02)])
def test_a_passive_flight_costs_no_more_than_one_that_is_known_with_any_coefficients(seed, size):
    ends, known = flight(HINGES, seed, 0.4, size)
    values = []
    for count in (12, 24, 40):
        found = HINGES.transition(*ends, 0.4, coefficients=count, method="gauss-newton")
        assert found.converged, found.message
        assert found.root_force < 0.02 * 9.81 * HINGES.total_mass
        values.append(float(found.value))
    assert values[0] < 1.01 * known
    assert values[1] < (1.0 + 1e-6) * values[0]
    assert values[2] < (1.0 + 1e-6) * values[1]


def test_states_that_no_free_fall_connects_are_said_to_need_a_force():
    q = HINGES.neutral()
    found = HINGES.transition(q, q, 0.4, coefficients=10, method="gauss-newton", iterations=60)
    assert not found.converged
    assert "a mean force of 39.2 N" in found.message


def random_limited_problem(seed):
    rng, limits = np.random.default_rng(seed), ARM.limits
    q0 = rng.uniform(0.8 * limits.lower, 0.8 * limits.upper)
    q1 = np.clip(q0 + rng.uniform(-1.0, 1.0, 7), 0.95 * limits.lower, 0.95 * limits.upper)
    slowest = np.max(np.abs(q1 - q0) / limits.velocity)
    return q0, q1, float(1.9 * slowest * rng.uniform(0.75, 1.1))


@pytest.mark.parametrize("seed", [1, 3, 7])
def test_limits_hold_between_samples(seed):
    q0, q1, duration = random_limited_problem(seed)
    found = ARM.transition(q0, q1, duration, bounded=["q", "v", "tau"])
    assert found.converged, found.message
    q, v, a = found.at(np.linspace(0.0, duration, 3000))
    span = ARM.limits.upper - ARM.limits.lower
    beyond = np.maximum(q - ARM.limits.upper, ARM.limits.lower - q) / span
    assert beyond.max() < 2e-4
    assert (np.abs(v) / ARM.limits.velocity).max() < 1.0 + 2e-4
    tau = ARM.inverse_dynamics(q, v, a)
    assert (np.abs(tau) / ARM.limits.effort).max() < 1.0 + 2e-4


def moved_about_its_tool(seed):
    """Two configurations with the tool at the same place."""
    rng = np.random.default_rng(seed)
    q0, way = rng.uniform(-0.8, 0.8, 7), rng.standard_normal(7)
    q, there = q0.copy(), ARM.pose(q0, "tool")[:3, 3]
    for _ in range(60):
        J = ARM.jacobian(q, "tool")[:3]
        free = way - np.linalg.pinv(J) @ (J @ way)
        q = q + 0.01 * free / np.linalg.norm(free)
        J = ARM.jacobian(q, "tool")[:3]
        q = q + np.linalg.pinv(J) @ (there - ARM.pose(q, "tool")[:3, 3])
    return q0, q, there


@pytest.mark.parametrize("seed", [0, 2, 6])
def test_a_position_that_can_be_held_is_held_between_samples(seed):
    q0, q1, there = moved_about_its_tool(seed)
    hold = kt.Hold("tool", rows="position")
    found = ARM.transition(q0, q1, 1.0, hold=[hold], coefficients=12)
    assert found.converged, found.message
    path = ARM.pose(found.at(np.linspace(0.0, 1.0, 1000)).q, "tool")[:, :3, 3]
    assert np.abs(path - there).max() < 1.05e-3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 6, 7])
def test_a_position_is_held_over_part_of_a_transition(seed):
    rng = np.random.default_rng(seed)
    q0, q1 = rng.uniform(-0.8, 0.8, (2, 7))
    first = rng.uniform(0.2, 0.5)
    last = first + rng.uniform(0.1, 0.3)
    there = ARM.pose(0.5 * (q0 + q1), "tool")[:3, 3]
    hold = kt.Hold("tool", there, first, last, rows="position")
    found = ARM.transition(q0, q1, 1.0, hold=[hold], coefficients=16)
    assert found.converged, found.message
    path = ARM.pose(found.at(np.linspace(first, last, 1000)).q, "tool")[:, :3, 3]
    assert np.abs(path - there).max() < 1.05e-3


def test_a_hold_out_of_reach_is_said_to_have_no_motion_near_that_meets_it():
    far = kt.Hold("tool", np.array([3.0, 0.0, 0.0]), 0.4, 0.6, rows="position")
    found = ARM.transition(np.zeros(7), 0.3 * np.ones(7), 1.0, hold=[far], coefficients=10)
    assert not found.converged
    assert "frame 'tool' strays by" in found.message
    assert "no motion near this one meets all constraints" in found.message


def test_a_search_that_its_iterations_end_says_so():
    q0, q1, _ = moved_about_its_tool(0)
    hold = kt.Hold("tool", rows="position")
    found = ARM.transition(q0, q1, 1.0, hold=[hold], coefficients=12, iterations=3)
    assert not found.converged
    assert "the search ended after" in found.message


def test_a_hold_that_the_second_state_breaks_is_named_with_its_frame_and_time():
    hold = kt.Hold("tool", rows="position")
    q0 = 0.2 * np.ones(7)
    found = ARM.transition(q0, q0 + 0.5, 1.0, hold=[hold], coefficients=9, iterations=30)
    assert not found.converged
    assert "frame 'tool' strays by" in found.message
    assert "at t = 1 s; the second state itself does not meet it" in found.message
    worst = found.violations()[0]
    assert worst.constraint == "frame 'tool'"
    assert worst.time == pytest.approx(1.0)
    assert worst.amount > 0.1


def test_positions_stay_within_limits_by_default():
    q0 = np.array([0.0, 1.9, 0.0, 0.0, 0.0, 0.0, 0.0])
    free = ARM.transition(q0, -q0, 1.0, bounded=())
    found = ARM.transition(q0, -q0, 1.0)
    assert (np.abs(free.motion().q) > ARM.limits.upper + 1e-2).any()
    assert found.converged, found.message
    span = ARM.limits.upper - ARM.limits.lower
    assert (np.abs(found.motion(2000.0).q) - ARM.limits.upper < 2e-4 * span).all()


def test_the_error_says_how_far_a_finer_quadrature_is():
    coarse = POLE.transition(START, GOAL, 0.7, samples=14)
    exact = POLE.transition(START, GOAL, 0.7)
    assert exact.error < 1e-4
    q, v, a = coarse.at(np.linspace(0.0, 0.7, 20001))
    P = np.trapezoid((POLE.inverse_dynamics(q, v, a) ** 2).sum(axis=1), dx=0.7 / 20000)
    assert abs(coarse.value / P - 1.0) == pytest.approx(float(coarse.error), rel=0.1)


def test_a_batch_is_solved_as_each_alone():
    goals = GOAL + 0.2 * np.random.default_rng(0).standard_normal((5, 2))
    batch = POLE.transition(START, goals, 0.7)
    assert batch.value.shape == (5,)
    assert batch.converged.all()
    alone = POLE.transition(START, goals[3], 0.7)
    assert batch.value[3] == pytest.approx(float(alone.value), rel=1e-9)
    assert batch.motion(index=3).robot is POLE


def test_the_best_of_several_starts_is_kept():
    many = POLE.transition(START, GOAL, 0.7, starts=6)
    assert many.value == many.values_of_starts[: len(many.values_of_starts)].min()
    assert many.value <= POLE.transition(START, GOAL, 0.7).value + 1e-9


def price_of_time(t, q, v, a, tau, pose):
    return 100.0 + 0.0 * q[0]


def test_the_best_duration_is_found():
    how = {"coefficients": 10, "cost": price_of_time}
    found = POLE.transition(START, GOAL, (0.3, 1.5), **how)
    nearby = [POLE.transition(START, GOAL, found.duration * k, **how) for k in (0.95, 1.05)]
    assert 0.4 < found.duration < 1.4
    assert all(found.value < other.value for other in nearby)


def test_an_interrupt_gives_the_best_so_far():
    seen = []

    def stop(value):
        seen.append(value)
        if len(seen) == 6:
            raise KeyboardInterrupt

    found = POLE.transition(START, GOAL, 0.7, progress=stop)
    assert not found.converged
    assert found.message == "interrupted: the best so far"
    assert found.value < found.start_value


def test_what_cannot_be_met_is_said():
    strict = with_velocity_limits(POLE, [0.1, 0.1])
    found = strict.transition(START, GOAL, 0.5, bounded=["v"], iterations=30, coefficients=8)
    assert not found.converged
    assert "velocity of" in found.message
    assert "at t = " in found.message
    few = POLE.transition(START, GOAL, 0.7, iterations=2)
    assert "iterations" in few.message


def test_bad_input_is_named():
    with pytest.raises(ShapeError, match="q of the second state has shape"):
        POLE.transition(START, [0.0, 0.0, 0.0], 1.0)
    with pytest.raises(KinetreeError, match="duration must be a positive number"):
        POLE.transition(START, GOAL, -1.0)
    with pytest.raises(UnknownNameError, match="method"):
        POLE.transition(START, GOAL, 1.0, method="simplex")
    with pytest.raises(KinetreeError, match="outside its limits"):
        ARM.transition(10.0 * np.ones(7), np.zeros(7), 1.0, bounded=["q"])
    other = kt.Motion(ARM, [0.0, 1.0], np.zeros((2, 7)))
    with pytest.raises(KinetreeError, match="which do not match"):
        POLE.transition((other, 0.5), GOAL, 1.0)
    with pytest.raises(KinetreeError, match="no sample of the transition"):
        ARM.transition(np.zeros(7), np.ones(7), 1.0, hold=[kt.Hold("tool", None, 5.0, 6.0)])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"samples": 0}, "samples must be a whole number"),
        ({"points": 0}, "points must be a whole number"),
        ({"coefficients": "many"}, "coefficients must be"),
        ({"iterations": -1}, "iterations must be"),
        ({"starts": 1.5}, "starts must be"),
        ({"tolerance": "small"}, "tolerance must be a positive number"),
        ({"spread": float("nan")}, "spread must be"),
        ({"weights": "heavy"}, "weights has dtype"),
        ({"duration": "long"}, "duration must be a positive number"),
        ({"duration": ("a", 2.0)}, "two positive times are expected"),
        ({"duration": (1.0, 2.0, 3.0)}, "two positive times are expected"),
        ({"hold": ["lower"]}, "a list of kinetree.Hold is expected"),
        ({"hold": [kt.Hold("lower", first="now")]}, "first must be a finite number"),
        ({"first": np.zeros((0, 2))}, "have no problem to solve"),
        ({"first": "start"}, "q of the first state has dtype"),
        ({"first": np.zeros((3, 2)), "second": np.zeros((2, 2))}, "do not broadcast"),
    ],
)
def test_settings_without_a_meaning_are_named(given, message):
    settings = {"first": START, "second": GOAL, "duration": 0.7} | given
    with pytest.raises(KinetreeError, match=message.replace("(", r"\(")):
        POLE.transition(**settings)


def test_a_transition_draws_itself(tmp_path):
    POLE.transition(START, GOAL, 0.7).plot(tmp_path / "found.png")
    assert (tmp_path / "found.png").exists()


def test_a_robot_with_constraints_is_refused_and_an_embedded_one_moves():
    robot = kt.robots.four_bar()
    still = robot.neutral(), np.zeros(3)
    with pytest.raises(KinetreeError, match="'four_bar' has constraints, which transitions do not"):
        robot.transition(still, still, 1.0)
    embedded = robot.constraints.embed(["crank_joint"], at=robot.neutral()).robot
    found = embedded.transition(([0.0], [0.0]), ([1.0], [0.0]), 1.0, coefficients=8)
    assert found.converged
