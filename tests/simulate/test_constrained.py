"""Simulation of robots with loops: on the constraints, with the energy, and with derivatives."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import joints as j
from kinetree.constraints import HeldFrame, KnifeEdge
from kinetree.errors import KinetreeError, SimulationWarning

METHODS = ["euler", "implicit-damping", "implicit-springs", "midpoint", "implicit-midpoint", "rk4"]
ORDER = {"midpoint": 2, "implicit-midpoint": 2, "rk4": 4}


@pytest.fixture(scope="module")
def linkage():
    robot = kt.robots.four_bar()
    q = robot.neutral()
    return robot, q, robot.constraints.project_velocity(q, [5.0, 0.0, 0.0])


@pytest.mark.parametrize("method", METHODS)
def test_projection_keeps_loops_closed_and_the_order_of_the_step(linkage, method):
    robot, q, v = linkage
    exact = robot.simulate_adaptive(q, v, time=0.2, tolerance=1e-12).q[-1]
    errors = []
    for dt in (2e-3, 1e-3):
        run = robot.simulate(
            q, v, time=0.2, dt=dt, method=method, record=["constraint_errors", "energy"]
        )
        assert np.abs(run["constraint_errors"]).max() < 1e-10
        J = robot.constraints.jacobian(run.q)
        assert np.abs(np.einsum("trk,tk->tr", J, run.v)).max() < 1e-9
        errors.append(np.abs(run.q[-1] - exact).max())
    order = ORDER.get(method, 1)
    assert 0.7 * 2**order < errors[0] / errors[1] < 1.4 * 2**order


def test_baumgarte_terms_bound_the_errors_where_nothing_else_does(linkage):
    robot, q, v = linkage
    drift = []
    for rate in (0.0, 50.0):
        run = robot.simulate(
            q,
            v,
            time=3.0,
            dt=2e-3,
            method="midpoint",
            stabilization=kt.Baumgarte(rate=rate),
            record=["constraint_errors"],
        )
        drift.append(np.abs(run["constraint_errors"][-1]).max())
    assert drift[1] < 0.02 * drift[0]


def test_projection_closes_a_loop_that_starts_open(linkage):
    robot, q, v = linkage
    open_loop = q + np.array([0.0, 0.02, -0.01])
    assert np.abs(robot.constraints.errors(open_loop)).max() > 1e-3
    q1, v1 = robot.step(open_loop, v, np.zeros(3), 1e-3, stabilization=kt.Projection(iterations=6))
    assert np.abs(robot.constraints.errors(q1)).max() < 1e-12
    assert np.abs(robot.constraints.jacobian(q1) @ v1).max() < 1e-12


def test_forces_of_constraints_are_recorded(linkage):
    robot, q, v = linkage
    run = robot.simulate(q, v, time=0.01, record=["constraint_forces"])
    _, forces, _ = robot.constraints.forward_dynamics(run.q, run.v, run.tau)
    np.testing.assert_allclose(run["constraint_forces"], forces, atol=1e-9)
    with pytest.raises(KinetreeError, match="has no constraints"):
        kt.robots.double_pendulum().simulate(
            np.zeros(2), np.zeros(2), time=0.01, record=["constraint_forces"]
        )


def test_gradients_of_a_rollout_equal_differences(linkage):
    robot, q, v = linkage
    rollout = robot.rollout(lambda t, q, v, p: list(p), 20, 5e-3, p_length=3, method="midpoint")
    p = np.array([0.1, 0.0, -0.05])
    rng = np.random.default_rng(0)
    weights = {"q": rng.standard_normal(3), "v": rng.standard_normal(3)}
    along = {name: rng.standard_normal(3) for name in ("q0", "v0", "p")}
    gradient = rollout.gradient(q, v, weights, p)
    rates = rollout.sensitivity(q, v, along, p)
    h = 1e-5
    ends = [
        rollout(q + s * h * along["q0"], v + s * h * along["v0"], p + s * h * along["p"])
        for s in (1.0, -1.0)
    ]
    for name, rate in zip(("q", "v"), rates, strict=True):
        difference = (ends[0][name] - ends[1][name]) / (2.0 * h)
        np.testing.assert_allclose(rate[1:], difference[1:], atol=1e-5 * np.abs(difference).max())
    total = sum(weights[name] @ rate[-1] for name, rate in zip(("q", "v"), rates, strict=True))
    by_gradient = sum(gradient[name] @ along[name] for name in along)
    assert by_gradient == pytest.approx(total, rel=1e-9)


def test_the_linearised_step_equals_differences(linkage):
    robot, q, v = linkage
    tau, dt, h = np.array([0.1, 0.0, -0.05]), 5e-3, 1e-5
    A, B = robot.linearize(q, v, tau, dt, method="midpoint")
    rng = np.random.default_rng(2)
    dq, dv, du = rng.standard_normal((3, 3))
    ends = [
        np.concatenate(
            robot.step(q + s * dq, v + s * dv, tau + s * du, dt, method="midpoint"), axis=-1
        )
        for s in (h, -h)
    ]
    wanted = (ends[0] - ends[1]) / (2.0 * h)
    found = A @ np.concatenate([dq, dv]) + B @ du
    np.testing.assert_allclose(found, wanted, atol=1e-6 * np.abs(wanted).max())


def test_velocities_of_a_floating_robot_change_by_the_constrained_acceleration():
    rod = (0.02, 0.03, 0.025)
    a = kt.Assembly("skater", inertia=rod, mass=2.0, com=(0.1, 0.0, 0.0))
    a.add("arm", "base", j.Revolute("y"), (0.2, 0.0, 0.1), rod, mass=1.0, com=(0.1, 0.1, 0.0))
    held = HeldFrame("hand", "arm", rows=("x", "rz"), anywhere=True, at_frame=(0.1, 0.2, 0.0))
    robot = a.robot("floating").constrain(held, KnifeEdge("blade", "base"))
    rng = np.random.default_rng(1)
    q = robot.random(rng)
    v = robot.constraints.project_velocity(q, 3.0 * rng.standard_normal(robot.nv))
    tau, h = rng.standard_normal(robot.nv), 1e-5
    a = robot.forward_dynamics(q, v, tau)
    for method in ("implicit-damping", "midpoint"):
        q1, v1 = robot.step(q, v, tau, h, method=method)
        assert np.abs(robot.constraints.jacobian(q1) @ v1).max() < 1e-12
        np.testing.assert_allclose((v1 - v) / h, a, atol=1e-3 * np.abs(a).max())


def test_clamped_stops_do_not_open_loops():
    robot = kt.robots.parallel_ankle()
    q = robot.neutral()
    v = robot.constraints.project_velocity(q, [0.0, -5.0, 0.0, 0.0, 0.0, 0.0])  # the knee is at 0
    stop = kt.Enforcement(stops="clamp")
    q1, v1 = robot.step(q, v, np.zeros(robot.nv), 1e-3, enforcement=stop)
    assert q1[1] > -1e-3
    assert np.abs(robot.constraints.errors(q1)).max() < 1e-12
    assert np.abs(robot.constraints.jacobian(q1) @ v1).max() < 1e-12


def test_steps_that_cannot_honour_constraints_say_so(linkage):
    robot, q, v = linkage
    with pytest.raises(KinetreeError, match="'variational' does not honour"):
        robot.step(q, v, np.zeros(3), 1e-3, method="variational")
    with pytest.raises(KinetreeError, match="needs fixed steps"):
        robot.simulate_adaptive(q, v, time=0.1, stabilization=kt.Projection())
    with pytest.raises(KinetreeError, match="a Projection or a Baumgarte is expected"):
        robot.simulate(q, v, time=0.1, stabilization=3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kt.Projection(iterations=-1), "a whole number from 0 to 20, got -1"),
        (lambda: kt.Projection(iterations=1.5), "a whole number from 0 to 20, got 1.5"),
        (lambda: kt.Baumgarte(rate=-1.0), "rate must be a finite number, zero or more, got -1.0"),
        (lambda: kt.Baumgarte(damping=np.inf), "damping must be a finite number"),
        (lambda: kt.Baumgarte(rate="20"), "rate must be a finite number"),
    ],
)
def test_what_cannot_stabilize_is_refused_when_it_is_made(make, message):
    with pytest.raises(KinetreeError, match=message):
        make()


def test_a_start_with_an_open_loop_is_a_warning_that_names_it(linkage):
    robot, q, _ = linkage
    starts = np.array([q, q + np.array([0.5, 0.0, 0.0])])
    with pytest.warns(SimulationWarning, match=r"start of environment 1 loop\.z is off by 0\.21"):
        robot.simulate(starts, np.zeros(3), time=1e-2)
    soft = kt.Baumgarte(rate=100.0)  # which lets errors decay
    run = robot.simulate(starts, np.zeros(3), time=0.2, stabilization=soft)
    # what is left are errors of the steps, as of the environment that starts closed
    assert np.abs(robot.constraints.errors(run.q[:, -1])).max() < 1e-3
