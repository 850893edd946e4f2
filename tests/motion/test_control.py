"""Optimal control: the regulator, bounds, batches, sampling, closed loops."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, ShapeError, UnknownNameError
from kinetree.motion.costs import quadratic_cost
from kinetree.scalar import cos

POLE = kt.robots.double_pendulum()
CART = kt.robots.cart_pole()
GOAL = np.array([0.5, -0.3])


@pytest.fixture(scope="module")
def reach():
    running, final = quadratic_cost(POLE, GOAL, 10.0, 0.1, 1e-3)
    return POLE.optimal_control(running, final, steps=30, dt=0.02)


def test_no_small_change_of_the_controls_lowers_the_cost(reach):
    found = reach.solve([0.0, 0.0], [0.0, 0.0], tolerance=1e-13)
    assert found.converged, found.message
    assert (np.diff(found.history) <= 0.0).all()
    rng, h = np.random.default_rng(0), 1e-4
    for _ in range(3):
        d = rng.standard_normal(found.u.shape)
        sides = []
        for k in (1, -1):
            u = found.u + k * h * d
            q, v = reach.roll(np.zeros(2), np.zeros(2), u)
            sides.append(reach.costs(q, v, u))
        assert abs(sides[0] - sides[1]) / (2 * h) < 1e-5 * found.value
        assert sides[0] + sides[1] > 2 * found.value


def test_a_batch_is_solved_as_each_alone(reach):
    starts = 0.3 * np.random.default_rng(0).standard_normal((4, 2))
    batch = reach.solve(starts, np.zeros(2))
    alone = reach.solve(starts[2], np.zeros(2))
    assert batch.value[2] == pytest.approx(float(alone.value), rel=1e-8)
    assert batch.motion(2).duration == pytest.approx(0.6)


@pytest.mark.slow
def test_controls_stay_within_their_bounds():
    running, final = quadratic_cost(POLE, GOAL, 10.0, 0.1, 1e-3)
    free = POLE.optimal_control(running, final, steps=30, dt=0.02).solve([0.0, 0.0], [0.0, 0.0])
    bound = 0.5 * np.abs(free.u).max()
    strict = POLE.optimal_control(running, final, steps=30, dt=0.02, lower=-bound, upper=bound)
    found = strict.solve([0.0, 0.0], [0.0, 0.0])
    assert found.converged, found.message
    assert np.abs(found.u).max() <= bound * (1 + 1e-12)
    assert found.value > free.value


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("bound", [np.inf, 0.5])
def test_the_compiled_backward_pass_is_the_one_of_arrays(bound, gaps):
    from kinetree.motion.backward import backward

    costs = quadratic_cost(POLE, GOAL, 10.0, 0.1, 1e-3)
    reach = POLE.optimal_control(*costs, steps=30, dt=0.02, lower=-bound, upper=bound)
    rng = np.random.default_rng(0)
    u = rng.standard_normal((3, 30, 2))
    q, v = reach.roll(np.zeros((3, 2)), np.zeros((3, 2)), u)
    at = reach.passes.expansion(q, v, u)
    low, up = np.full(u.shape, -0.4 * bound), np.full(u.shape, 0.6 * bound)
    between = 0.1 * rng.standard_normal((3, 30, 4)) if gaps else None
    given = (at, np.full(3, 1e-3), low, up, between)
    for ours, plain in zip(reach.passes.backward(*given), backward(*given), strict=True):
        assert np.allclose(ours, plain, rtol=1e-7, atol=1e-9)


def test_the_compiled_backward_pass_takes_matrices_of_any_size():
    from kinetree.compiler.runtime.cpu.riccati import riccati
    from kinetree.motion.backward import backward
    from kinetree.motion.passes import Expansion

    rng = np.random.default_rng(0)
    for nx, nu in ((1, 1), (5, 3), (16, 8), (21, 9)):
        nz = nx + nu
        H = rng.standard_normal((2, 7, nz, nz))
        H = H @ H.swapaxes(-1, -2)
        S = rng.standard_normal((2, nx, nx))
        W = 0.3 * rng.standard_normal((2, 7, nx, nz))
        gradients = rng.standard_normal((2, 7, nz)), rng.standard_normal((2, nx))
        at = Expansion(W, H, gradients[0], S @ S.swapaxes(-1, -2), gradients[1])
        bounds = np.full((2, 7, nu), -0.2), np.full((2, 7, nu), 0.1)
        k, K, sums = riccati(*at, np.full(2, 1e-3), *bounds, 4)
        plain = backward(at, np.full(2, 1e-3), *bounds)
        assert np.allclose(k, plain.k, rtol=1e-8, atol=1e-10)
        assert np.allclose(K, plain.K, rtol=1e-8, atol=1e-10)
        assert np.allclose(sums[:, :2].T, [plain.slope, plain.bend], rtol=1e-8)


@pytest.mark.parametrize("problems", [2, 9])
@pytest.mark.parametrize(
    ("n", "nu", "head"), [(1, 1, 0), (7, 7, 0), (8, 3, 6), (11, 5, 3), (6, 2, 6)]
)
def test_the_backward_pass_of_an_euler_step_is_that_of_any_step(problems, n, nu, head):
    from kinetree.compiler.runtime.cpu.riccati import riccati

    rng, h, nx, nz = np.random.default_rng(n), 0.1, 2 * n, 2 * n + nu
    below = rng.standard_normal((problems, 6, n, nz)) / np.sqrt(nz)
    above = h * below
    above[..., np.arange(n), np.arange(n)] += 1.0
    above[..., :head, :] = rng.standard_normal((problems, 6, head, nz)) / np.sqrt(nz)
    W = np.concatenate([above, below], axis=-2)
    H = rng.standard_normal((problems, 6, nz, nz))
    H, S = H @ H.swapaxes(-1, -2), rng.standard_normal((problems, nx, nx))
    given = W, H, rng.standard_normal((problems, 6, nz)), S @ S.swapaxes(-1, -2)
    rest = rng.standard_normal((problems, nx)), np.full(problems, 1e-3)
    bound = np.full((problems, 6, nu), 1e3)
    gaps = 0.1 * rng.standard_normal((problems, 6, nx))
    any_step = riccati(*given, *rest, -bound, bound, 4, gaps)
    euler = riccati(*given, *rest, -bound, bound, 4, gaps, (h, head))
    for one, other in zip(euler, any_step, strict=True):
        assert np.abs(one - other).max() < 1e-9 * max(np.abs(other).max(), 1.0)


def test_costs_that_curve_downwards_are_reported_by_the_backward_pass(reach):
    q, v = reach.roll(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 30, 2)))
    at = reach.passes.expansion(q, v, np.zeros((1, 30, 2)))
    far = np.full((1, 30, 2), np.inf)
    found = reach.passes.backward(at._replace(H=-1e6 + 0.0 * at.H), np.zeros(1), -far, far)
    assert found.fault.all()


@pytest.mark.parametrize("fused", [True, False])
def test_the_expansion_of_a_motion_is_its_derivatives(fused):
    running, final = quadratic_cost(CART, np.array([0.1, 0.2]), 10.0, 0.1, 1e-3)
    problem = CART.optimal_control(
        lambda t, q, v, tau, pose: running(t, q, v, tau, pose) + t * q[0] * v[1] * tau[0],
        final, steps=5, dt=0.02, actuated=[True, False],
    )  # fmt: skip
    rng = np.random.default_rng(0)
    q, v = rng.standard_normal((2, 1, 6, 2))
    u = rng.standard_normal((1, 5, 1))
    problem.passes._fused = fused
    at = problem.passes.expansion(q, v, u, start=0.7)
    A, B = CART.linearize(
        q[:, :-1], v[:, :-1], problem.forces(q[:, :-1], v[:, :-1], u), 0.02, method="euler"
    )
    assert np.allclose(at.W, np.concatenate([A, B[..., :1]], axis=-1), atol=1e-12)
    h, t = 1e-6, problem.times + 0.7

    def cost(dz):
        state = q[:, :-1] + dz[:2], v[:, :-1] + dz[2:4]
        tau = problem.forces(*state, u + dz[4:])
        return 0.02 * problem.running_cost(t, *state, tau)

    slopes = [(cost(h * d) - cost(-h * d)) / (2 * h) for d in np.eye(5)]
    assert np.allclose(at.g, np.stack(slopes, axis=-1), atol=1e-7)
    assert np.allclose(at.H[..., 0, 3], 0.02 * t * u[..., 0], atol=1e-12)


def test_the_linearisation_of_a_step_is_the_librarys():
    for robot in (POLE, free_chain()):
        costs = quadratic_cost(robot, robot.neutral())
        problem = robot.optimal_control(*costs, steps=3, dt=0.02)
        rng = np.random.default_rng(0)
        q = robot.random(rng, 4)
        v, u = rng.standard_normal((4, robot.nv)), rng.standard_normal((3, robot.nv))
        A, B = robot.linearize(q[:-1], v[:-1], u, 0.02, method="euler")
        assert np.allclose(problem.linearized(q, v, u), np.concatenate([A, B], axis=-1), atol=1e-9)


def free_chain():
    """A free body that carries another on a ball joint."""
    from kinetree.spatial import Inertia, Symmetric3, Vector3

    mass = Inertia.about_center(
        1.0, Vector3(0.05, 0.1, 0.2), Symmetric3(0.02, 0.03, 0.04, 0.001, 0.002, 0.003)
    )
    chain = kt.Assembly("chain", "root", mass)
    chain.add("arm", "root", kt.joints.Ball(), (0.0, 0.0, 0.3), mass)
    return chain.robot("floating")


def swing_up():
    def cost(t, q, v, tau, pose):
        return 0.1 * (1.0 - cos(q[1])) + 0.01 * q[0] * q[0] + 0.005 * tau[0] * tau[0]

    def final(q, v, pose):
        return 200.0 * (1.0 - cos(q[1])) + 20.0 * q[0] ** 2 + 5.0 * (v[0] ** 2 + v[1] ** 2)

    how = {"actuated": [True, False], "lower": -20.0, "upper": 20.0}
    return CART.optimal_control(cost, final, steps=100, dt=0.02, **how)


def test_states_that_no_motion_connects_lead_the_pole_upright():
    problem, idle = swing_up(), np.zeros((100, 1))
    hanging, still = [0.0, np.pi], [0.0, 0.0]
    stuck = problem.solve(hanging, still, idle)  # without force the pole hangs still: a saddle
    u = np.linspace(0.0, 1.0, 101)[:, None]
    q = np.concatenate([0.0 * u, np.pi * (1.0 - u)], axis=1)
    v = np.concatenate([0.0 * u, 0.0 * u - np.pi / 2.0], axis=1)
    found = problem.solve(hanging, still, idle, iterations=300, states=(q, v))
    assert found.converged, found.message
    assert found.gap == 0.0
    assert found.value < 0.01 * stuck.value
    assert np.cos(found.q[-1, 1]) > 0.999
    rolled, _ = problem.roll(np.array(hanging), np.array(still), found.u)
    assert np.allclose(rolled, found.q, atol=1e-9)


def test_gaps_that_are_left_are_reported():
    problem = swing_up()
    q, v = np.zeros((2, 101, 2))
    found = problem.solve([0.0, np.pi], [0.0, 0.0], iterations=0, states=(q, v))
    assert not found.converged
    assert found.gap == pytest.approx(np.pi, abs=0.1)
    assert "gaps" in found.message


def test_states_of_another_length_are_refused(reach):
    with pytest.raises(ShapeError, match="q of states has shape"):
        reach.solve([0.0, 0.0], [0.0, 0.0], states=(np.zeros((5, 2)), np.zeros((5, 2))))


def test_a_start_from_the_states_of_a_motion_is_that_from_its_controls(reach):
    u = 0.1 * np.random.default_rng(0).standard_normal((30, 2))
    q, v = reach.roll(np.zeros(2), np.zeros(2), u)
    found = reach.solve(np.zeros(2), np.zeros(2), u, states=(q, v))
    assert found.value == pytest.approx(float(reach.solve(np.zeros(2), np.zeros(2), u).value))


def test_a_frame_reaches_a_point():
    from kinetree.motion import reach_cost

    there = POLE.pose(GOAL, POLE.frames[-1])[:3, 3]
    costs = reach_cost(POLE.frames[-1], there, position=100.0, v=0.5, tau=1e-4)
    found = POLE.optimal_control(*costs, steps=30, dt=0.02).solve([0.2, 0.1], [0.0, 0.0])
    away = np.abs(POLE.pose(found.q[:, :], POLE.frames[-1])[:, :3, 3] - there).max(axis=1)
    assert away[-1] < 0.2 * away[0] + 1e-3


def test_a_start_that_diverges_is_named(reach):
    with pytest.raises(KinetreeError, match="diverges"):
        reach.solve([0.0, 0.0], [0.0, 1e200])


def test_bounds_in_reverse_order_are_named():
    running, final = quadratic_cost(POLE, GOAL)
    with pytest.raises(KinetreeError, match="is above the upper one"):
        POLE.optimal_control(running, final, steps=3, dt=0.02, lower=1.0, upper=-1.0)


@pytest.mark.parametrize("method", ["ilqr", "mppi", "predictive"])
def test_the_pole_is_kept_upright(method):
    def cost(t, q, v, tau, pose):
        return 5.0 * (1.0 - cos(q[1])) + q[0] * q[0] + 0.1 * (v[0] * v[0] + v[1] * v[1])

    problem = CART.optimal_control(
        lambda t, q, v, tau, pose: cost(t, q, v, tau, pose) + 1e-3 * tau[0] * tau[0],
        lambda q, v, pose: 10.0 * cost(0.0, q, v, None, pose),
        steps=25,
        dt=0.02,
        actuated=[True, False],
        lower=-20.0,
        upper=20.0,
    )
    options = {} if method == "ilqr" else {"samples": 64}
    control = problem.mpc(method=method, **options)
    run = control.run([0.0, 0.3], [0.0, 0.0], 1.0)
    assert np.cos(run.q[-1, 1]) > 0.95
    assert run.percentile() > 0.0
    assert run.motion().duration == pytest.approx(1.0)


def test_an_unknown_method_is_named(reach):
    with pytest.raises(UnknownNameError, match="mppi"):
        reach.mpc(method="magic")


def test_a_cost_without_derivatives_is_refused_with_the_time_or_the_last_state():
    def running(t, q, v, tau, pose):
        return kt.scalar.sqrt(v @ v) + q @ q + tau @ tau

    def smooth(t, q, v, tau, pose):
        return q @ q + tau @ tau

    def last(q, v, pose):
        return kt.scalar.sqrt(v @ v)

    floating = POLE.edit.with_gravity((0.0, 0.0, 0.0))
    rest = np.zeros(2)
    with pytest.raises(KinetreeError, match=r"costs at t = 0 s are not finite: a square root"):
        floating.optimal_control(running, steps=4, dt=0.05).solve(rest, rest)
    with pytest.raises(KinetreeError, match="costs at the last state are not finite"):
        floating.optimal_control(smooth, last, steps=4, dt=0.05).solve(rest, rest)


def test_sampling_where_every_motion_diverges_says_so():
    running, _ = quadratic_cost(POLE, GOAL)
    problem = POLE.optimal_control(running, steps=20, dt=0.1)
    control = problem.mpc(method="mppi", samples=4, noise=1e200)
    control.problem.lower[:] = 1e199  # no sample is the motion without forces
    with pytest.raises(KinetreeError, match="all 4 motions that were tried diverge"):
        control.run([0.0, 0.0], [0.0, 0.0], 0.3)


def test_a_run_that_diverges_says_when():
    running, _ = quadratic_cost(POLE, GOAL)
    control = POLE.optimal_control(running, steps=2, dt=0.1).mpc(method="predictive", samples=2)
    control.reset(np.full((2, 2), 1e308))
    with pytest.raises(KinetreeError, match=r"the motion diverged at t = 0\.\d s: a smaller dt"):
        control.run([0.0, 0.0], [0.0, 0.0], 0.5)


def test_a_sample_that_diverges_has_no_weight():
    running, _ = quadratic_cost(POLE, GOAL)
    problem = POLE.optimal_control(running, steps=20, dt=0.1)
    u = problem.mpc(method="mppi", samples=8, noise=1e200).control([0.0, 0.0], [0.0, 0.0])
    assert (u == 0.0).all()  # all but the given controls diverge


def test_a_cost_may_subtract_an_array_from_a_translation():
    tip, rest = np.array([0.3, 0.0, -0.5]), np.zeros(2)

    def by_arrays(t, q, v, tau, pose):
        return [tip - pose("lower").translation, 0.1 * tau]

    def by_numbers(t, q, v, tau, pose):
        return [*(a - b for a, b in zip(pose("lower").translation, tip, strict=True)), *(0.1 * tau)]

    found = [
        POLE.optimal_control(x, steps=3, dt=0.02).solve(rest, rest) for x in (by_arrays, by_numbers)
    ]
    assert found[0].value == pytest.approx(found[1].value, rel=1e-12)


def test_a_cost_that_returns_nothing_is_named():
    def cost(t, q, v, tau, pose):
        q @ q

    with pytest.raises(KinetreeError, match="a cost returns nothing: does 'cost' lack a return"):
        POLE.optimal_control(cost, steps=3, dt=0.02).solve(np.zeros(2), np.zeros(2))


def test_costs_may_return_lists_of_arrays_and_say_what_they_are_called_with():
    robot, rest = kt.robots.double_pendulum(), np.zeros(2)
    solve = {"steps": 3, "dt": 0.01}

    def listed(t, q, v, tau, pose):
        return [*(q - 0.1), *(0.1 * tau), 0.1 * v[0]]

    def nested(t, q, v, tau, pose):
        return [q - 0.1, 0.1 * tau, 0.1 * v[0]]

    runs = [robot.optimal_control(cost, **solve).solve(rest, rest) for cost in (listed, nested)]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert np.abs(runs[0].u).max() > 1e-3
    with pytest.raises(kt.errors.KinetreeError, match=r"called with \(t, q, v, tau, pose\)"):
        robot.optimal_control(lambda t, q, v: [q[0]], **solve).solve(rest, rest)
    with pytest.raises(kt.errors.KinetreeError, match=r"called with \(q, v, pose\)"):
        robot.optimal_control(listed, final=lambda q: [q[0]], **solve).solve(rest, rest)
