"""Simulation by steps of equal length."""

import sys
import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.robot.memo import KEPT
from kinetree.scalar import cos, select
from tests.tolerances import EXACT, relative_error

ARM, PENDULUM = kt.robots.arm(), kt.robots.double_pendulum()
REST = np.zeros(2)


def wave(t, q, v, p):
    return [p[0] * cos(3.0 * t), -p[1] * v[1]]


def test_a_simulation_is_the_loop_over_steps():
    q, v = np.array([[0.3, 0.2], [0.1, -0.4]]), np.zeros((2, 2))
    p = np.array([[1.0, 0.1], [2.0, 0.2]])
    run = PENDULUM.simulate(q, v, wave, time=0.5, dt=0.01, p=p, method="rk4")
    assert run.q.shape == run.v.shape == run.tau.shape == (2, 51, 2)
    for k in range(50):
        tau = np.stack([p[:, 0] * np.cos(3.0 * run.times[k]), -p[:, 1] * v[:, 1]], axis=-1)
        assert relative_error(run.tau[:, k], tau) < EXACT
        q, v = PENDULUM.step(q, v, tau, 0.01, method="rk4")
        assert relative_error(run.q[:, k + 1], q) < 1e-11


def test_every_records_a_part_of_the_same_motion():
    whole = PENDULUM.simulate([1.0, 0.5], REST, time=0.2, dt=0.01)
    part = PENDULUM.simulate([1.0, 0.5], REST, time=0.2, dt=0.01, every=5)
    assert (part.q == whole.q[::5]).all()
    assert (part.times == whole.times[::5]).all()


def mean_speed(model, q, v, tau):
    return (v[0] + v[1]) * 0.5


def test_records_are_the_quantities_at_the_states():
    record = ["energy", "mass_matrix", ("pose", "lower"), ("velocity", "lower", "body"), mean_speed]
    run = PENDULUM.simulate([1.0, 0.5], REST, time=0.1, dt=0.01, record=record)
    assert relative_error(run["mass_matrix"], PENDULUM.mass_matrix(run.q)) < EXACT
    assert relative_error(run["pose_lower"], PENDULUM.pose(run.q, "lower")) < EXACT
    velocity = PENDULUM.velocity(run.q, run.v, "lower", axes="body")
    assert relative_error(run["velocity_lower_body"], velocity) < EXACT
    energy = PENDULUM.kinetic_energy(run.q, run.v) + PENDULUM.potential_energy(run.q)
    assert relative_error(run["energy"], energy) < EXACT
    assert relative_error(run["mean_speed"], run.v.mean(axis=-1)) < EXACT


def test_a_diverging_environment_is_named_and_does_not_disturb_the_others():
    q = np.array([[0.3, 0.2], [0.1, -0.4], [0.5, 0.5]])
    p = np.array([[1.0, 0.1], [1.0, -1e6], [2.0, 0.1]])
    speeds = np.full((3, 2), 0.1)
    with pytest.warns(kt.errors.SimulationWarning, match="environment 1 at t = 0"):
        run = PENDULUM.simulate(q, speeds, wave, time=0.5, dt=0.01, p=p)
    assert np.isnan(run.diverged).tolist() == [True, False, True]
    assert np.isnan(run.q[1, -1]).all()
    assert np.isfinite(run.q[1][run.times < run.diverged[1] - 1e-9]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = PENDULUM.simulate(q[::2], speeds[::2], wave, time=0.5, dt=0.01, p=p[::2])
    assert (run.q[::2] == alone.q).all()


def test_environments_that_diverge_cost_no_calls_of_their_own():
    def calls(environments):
        count = 0

        def seen(frame, event, arg):
            nonlocal count
            count += event in ("call", "c_call")

        q, v = np.full((2, environments, 2), 0.1)
        p = np.column_stack([np.ones(environments), np.linspace(-1e6, -2e6, environments)])
        sys.setprofile(seen)
        try:
            with pytest.warns(kt.errors.SimulationWarning, match="more"):
                run = PENDULUM.simulate(q, v, wave, time=0.5, dt=0.01, p=p)
        finally:
            sys.setprofile(None)
        assert not np.isnan(run.diverged).any()
        late = run.times > run.diverged[:, None] - 0.005
        assert (np.isnan(run.q).all(axis=-1) == late).all()
        return count

    calls(40)  # what is compiled is compiled now
    assert abs(calls(200) - calls(40)) < 20  # a finalizer may run in between


def branching(t, q, v, p):
    return [1.0, 0.0] if q[0] > 0.0 else [0.0, 0.0]


def choosing(t, q, v, p):
    return [select(q[0] > 0.0, 1.0, -1.0), 0.0]


def test_a_branch_on_a_traced_value_says_what_to_write_instead():
    with pytest.raises(kt.errors.TraceError, match=r"kinetree\.scalar\.select\(a < b, x, y\)"):
        PENDULUM.simulate(REST, REST, branching, time=0.1, dt=0.01)
    run = PENDULUM.simulate([0.1, 0.0], REST, choosing, time=0.1, dt=0.01)
    assert run.tau[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dt": 0.0}, "dt must be positive"),
        ({"dt": -0.1}, "dt must be positive"),
        ({"dt": float("nan")}, "dt=nan: a finite number of seconds"),
        ({"time": -1.0}, "time must not be negative"),
        ({"time": 0.105}, r"is 10\.5 steps of dt=0\.01: a whole number is expected"),
        ({"record": ["energie"]}, "simulate has no record 'energie': did you mean 'energy'"),
        ({"record": ["inverse_dynamics"]}, "has no record 'inverse_dynamics'"),
        ({"record": "energy"}, "a list is expected"),
        ({"every": 3}, "divides the 10 steps"),
        ({"q0": [float("nan"), 0.0]}, "q0 is not finite"),
        ({"v0": [[0.0, 0.0], [0.0, float("inf")]]}, "v0 of environment 1 is not finite"),
        ({"q0": [0.0]}, "the last axis must be 2"),
        ({"method": "eulr"}, "did you mean 'euler'"),
        ({"controller": lambda t, q, v, p: [0.0]}, "returns 1 joint forces"),
        ({"series": True}, r"p has shape \(0,\); with series=True, \(\.\.\., 10, np\) is expected"),
        ({"p": np.zeros((3, 2)), "series": True}, r"\(\.\.\., 10, np\) is expected"),
        ({"p": np.zeros((3, 2)), "q0": np.zeros((2, 2))}, "do not broadcast"),
    ],
)
def test_bad_input_is_a_sentence(changes, message):
    given = {"q0": REST, "v0": REST, "time": 0.1, "dt": 0.01} | changes
    with pytest.raises(kt.errors.KinetreeError, match=message):
        PENDULUM.simulate(given.pop("q0"), given.pop("v0"), **given)


def test_the_same_controller_is_traced_once():
    calls = []

    def counted(t, q, v, p):
        calls.append(t)
        return [0.0, 0.0]

    counts = []
    for _ in range(2):
        record = ["energy", ("pose", "lower"), "momentum"]
        PENDULUM.simulate(REST, REST, counted, time=0.1, dt=0.01, record=record)
        counts.append(len(calls))
    assert counts[0] == counts[1]


def test_controllers_made_anew_do_not_fill_the_memory():
    robot = kt.robots.double_pendulum()
    for _ in range(KEPT + 1):
        robot.simulate(REST, REST, lambda t, q, v, p: [0.0, 0.0], time=0.01, dt=0.01)
    assert len(robot._closed_loops) == KEPT


@pytest.mark.slow
def test_a_floating_robot_falls_and_its_quaternions_stay_of_length_one():
    robot = kt.robots.quadruped()
    run = robot.simulate(robot.neutral(), np.zeros(robot.nv), time=0.5, dt=0.01, method="rk4")
    assert run.q[-1, 2] == pytest.approx(-0.5 * 9.81 * 0.25)
    assert np.linalg.norm(run.q[:, 3:7], axis=-1) == pytest.approx(1.0)


@pytest.mark.slow
def test_robots_of_a_batch_may_differ():
    loads = np.zeros((3, 10))
    loads[:, 0] = [0.0, 0.5, 1.0]
    law, start = kt.control.pd(ARM, target=np.full(7, 0.3)), (np.full(7, 0.2), np.zeros(7))
    tool, record = kt.Payload("tool"), ["energy"]
    run = ARM.simulate(*start, law, time=0.1, every=100, parameters={tool: loads}, record=record)
    for k in range(3):
        heavy = kt.Robot(ARM.parametric([tool]).with_numbers(loads[k]))
        alone = heavy.simulate(*start, law, time=0.1, every=100, record=record)
        assert relative_error(run.q[k], alone.q) < 1e-10
        assert relative_error(run["energy"][k], alone["energy"]) < 1e-10
    with pytest.raises(kt.errors.KinetreeError, match="is not a parameter"):
        ARM.simulate(*start, time=0.1, parameters={"tool": loads})


def test_inputs_of_another_length_than_the_controllers_are_refused():
    law = kt.control.pd(ARM)
    with pytest.raises(kt.errors.ShapeError, match="pack"):
        ARM.simulate(np.zeros(7), np.zeros(7), law, time=0.1, p=np.zeros(7))


def test_progress_is_told():
    told = []
    PENDULUM.simulate(REST, REST, time=0.1, dt=0.01, progress=told.append)
    assert told[0] == 0.0
    assert told[-1] == 1.0
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        (lambda t: [0.0] * 7, r"is called with \(t, q, v, p\): too many positional arguments"),
        (lambda t, q, v, p: np.arctan2(q, v), r"a NumPy function .*'arctan2'"),
        (lambda t, q, v, p: np.sin(q), r"a NumPy function .*kinetree\.scalar\.sin\(q\)"),
        (lambda t, q, v, p, x: 7 * [0.0], r"is called with \(t, q, v, p\): missing .*'x'"),
    ],
)
def test_a_controller_that_cannot_be_traced_hears_what_to_write(controller, message):
    arm = kt.robots.arm()
    with pytest.raises(kt.errors.KinetreeError, match=message):
        arm.rollout(controller, 10)(arm.neutral(), np.zeros(7))


@pytest.mark.parametrize(("package", "function"), [("torch", "as_tensor"), ("jax.numpy", "sin")])
def test_a_controller_that_calls_torch_or_jax_hears_what_to_write(package, function):
    foreign = getattr(pytest.importorskip(package), function)
    with pytest.raises(kt.errors.TraceError, match=r"PyTorch or JAX .*kinetree\.scalar\.sin\(q\)"):
        PENDULUM.simulate(REST, REST, lambda t, q, v: foreign(q), time=0.1)


def test_a_controller_without_inputs_may_leave_out_p():
    damper = [lambda t, q, v: -v, lambda t, q, v, p: -v]
    short, long = (PENDULUM.simulate(REST, REST + 1.0, x, time=0.1, dt=0.01) for x in damper)
    assert (short.q == long.q).all()
    ends = [PENDULUM.rollout(x, 10, 0.01)(REST, REST + 1.0).q for x in damper]
    assert (ends[0] == ends[1]).all()
    adaptive = PENDULUM.simulate_adaptive(REST, REST + 1.0, damper[0], time=0.1)
    assert adaptive.q[-1] == pytest.approx(short.q[-1], abs=0.02)
    with pytest.raises(kt.errors.KinetreeError, match=r"takes \(t, q, v\), .* p have 1 number:"):
        PENDULUM.simulate(REST, REST, damper[0], p=[1.0], time=0.1)
