"""Rollouts: the loop over time in machine code, and derivatives through time."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.scalar import cos
from tests.tolerances import relative_error

PENDULUM, ARM = kt.robots.double_pendulum(), kt.robots.arm()
HUMAN = kt.robots.quadruped()


def wave(t, q, v, p):
    return [p[0] * cos(3.0 * t) - p[1] * v[0], -p[1] * v[1]]


def given(t, q, v, p):
    return list(p)


def start(robot, batch, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng, batch), 0.3 * rng.standard_normal((*np.atleast_1d(batch), robot.nv))


def test_a_rollout_is_the_simulation():
    q, v = start(PENDULUM, (3, 4))
    p = np.random.default_rng(1).uniform(0.1, 1.0, (4, 2))
    rollout = PENDULUM.rollout(wave, 40, 0.01, p_length=2, record=["energy"], every=4)
    assert repr(rollout) == "<Rollout of 'double_pendulum' under wave: 40 steps of 0.01 s>"
    run = rollout(q, v, p)
    other = PENDULUM.simulate(q, v, wave, time=0.4, dt=0.01, p=p, record=["energy"], every=4)
    assert run.q.shape == (3, 4, 11, 2)
    for name in other:
        assert (run[name] == other[name]).all(), name


def weighted(run, weights):
    return sum((run[name] * w).sum() for name, w in weights.items())


def random_weights(robot, batch, steps, seed=3):
    rng = np.random.default_rng(seed)
    return {
        "q": rng.standard_normal((*batch, steps + 1, robot.nq)),
        "v": rng.standard_normal((*batch, steps + 1, robot.nv)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("method", ["euler", "rk4"])
@pytest.mark.parametrize("name", ["arm", "quadruped"])
def test_the_gradient_by_every_force_is_that_of_differences(name, method):
    robot = getattr(kt.robots, name)()
    q, v = start(robot, 2)
    steps, h = 6, 1e-6
    u = np.random.default_rng(2).standard_normal((2, steps, robot.nv))
    rollout = robot.rollout(given, steps, 0.01, p_length=robot.nv, series=True, method=method)
    weights = random_weights(robot, (2,), steps)
    gradient = rollout.gradient(q, v, weights, u)
    assert gradient["p"].shape == u.shape
    for _ in range(3):
        du = np.random.default_rng(5).standard_normal(u.shape)
        dq, dv = np.random.default_rng(6).standard_normal((2, 2, robot.nv))
        ends = [
            weighted(rollout(robot.integrate(q, s * dq), v + s * dv, u + s * du), weights)
            for s in (h, -h)
        ]
        expected = (gradient["p"] * du).sum() + (gradient["q0"] * dq).sum()
        expected += (gradient["v0"] * dv).sum()
        assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(expected, rel=1e-6)


def test_the_gradient_by_gains_and_parameters_sums_over_time():
    payload = kt.Inertial("lower")
    q, v = start(PENDULUM, 5)
    p = np.array([1.0, 0.2])
    numbers = np.asarray(payload.nominal(PENDULUM.model), float)
    rollout = PENDULUM.rollout(wave, 30, 0.01, p_length=2, parameters=[payload])
    weights = random_weights(PENDULUM, (5,), 30)
    found = rollout.gradient(q, v, weights, p, {payload: numbers})
    assert found["p"].shape == (5, 2)
    assert found["parameters"].shape == (5, len(numbers))
    h = 1e-6
    for name, base in (("p", p), ("parameters", numbers)):
        for k in range(len(base)):
            unit = h * np.eye(len(base))[k]
            ends = []
            for s in (1, -1):
                gains = p + s * unit if name == "p" else p
                mass = numbers + s * unit if name == "parameters" else numbers
                run = rollout(q, v, gains, {payload: mass})
                ends.append(sum((run[n] * w).sum(axis=(-1, -2)) for n, w in weights.items()))
            assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(found[name][:, k], rel=1e-5)


def test_checkpoints_change_nothing(monkeypatch):
    q, v = start(PENDULUM, 3)
    rollout = PENDULUM.rollout(wave, 37, 0.01, p_length=2)
    weights = random_weights(PENDULUM, (3,), 37)
    whole = rollout.gradient(q, v, weights, [1.0, 0.1])
    monkeypatch.setattr("kinetree.simulate.rollout_derivatives.STORED", 0)
    parts = rollout.gradient(q, v, weights, [1.0, 0.1])
    for name in whole:
        assert relative_error(parts[name], whole[name]) < 1e-13


def test_weights_at_the_end_alone():
    q, v = start(PENDULUM, ())
    rollout = PENDULUM.rollout(None, 10, 0.01)
    last = np.array([1.0, 2.0])
    everywhere = np.zeros((11, 2))
    everywhere[-1] = last
    a = rollout.gradient(q, v[0] if v.ndim > 1 else v, {"q": last})
    b = rollout.gradient(q, v[0] if v.ndim > 1 else v, {"q": everywhere})
    assert (a["q0"] == b["q0"]).all()
    assert a["q0"].shape == (2,)


@pytest.mark.slow
def test_sensitivities_are_the_gradient_seen_from_the_other_end():
    q, v = start(HUMAN, 2)
    controller = kt.control.pd(HUMAN, kp=1.0, kd=0.1)
    rollout = HUMAN.rollout(controller, 8, 0.002)
    rng = np.random.default_rng(9)
    along = {"q0": rng.standard_normal((2, HUMAN.nv)), "v0": rng.standard_normal((2, HUMAN.nv))}
    along["p"] = rng.standard_normal((2, len(controller.p)))
    dq, dv = rollout.sensitivity(q, v, along)
    weights = random_weights(HUMAN, (2,), 8)
    gradient = rollout.gradient(q, v, weights)
    a = (dq * weights["q"]).sum(axis=(-1, -2)) + (dv * weights["v"]).sum(axis=(-1, -2))
    b = sum((gradient[name] * along[name]).sum(axis=-1) for name in along)
    assert a == pytest.approx(b, rel=1e-9)


def test_a_controller_with_memory_is_carried_along():
    controller = kt.control.adaptive(PENDULUM, ["lower"], target=[0.1, 0.2])
    q, v = start(PENDULUM, 2)
    rollout = PENDULUM.rollout(controller, 5, 0.01)
    weights = random_weights(PENDULUM, (2,), 5)
    gradient = rollout.gradient(q, v, weights)
    h, dv = 1e-6, np.array([1.0, -0.5])
    ends = [weighted(rollout(q, v + s * dv), weights) for s in (h, -h)]
    assert (ends[0] - ends[1]) / (2 * h) == pytest.approx((gradient["v0"] * dv).sum(), rel=1e-6)


@pytest.mark.parametrize("every", [1, 5])
def test_what_a_controller_learns_is_recorded(every):
    controller = kt.control.adaptive(PENDULUM, ["lower"], target=[0.1, 0.2], adaptation=1e-3)
    q, v = start(PENDULUM, 2)
    run = PENDULUM.rollout(controller, 10, 0.01, record=["memory", "energy"], every=every)(q, v)
    assert run["memory"].shape == (2, 10 // every + 1, 10)
    expected = np.tile(controller.memory, (2, 1))
    plain = PENDULUM.rollout(controller, 10, 0.01)(q, v)
    for k in range(10):
        if k % every == 0:
            assert np.abs(run["memory"][:, k // every] - expected).max() < 1e-12
        state = 0.01 * k, plain.q[:, k], plain.v[:, k]
        expected = expected + 0.01 * controller.kernel(*state, controller.p, expected)[1]
    assert np.abs(run["memory"][:, -1] - expected).max() < 1e-12
    assert (run["memory"][:, -1] != controller.memory).any()


def test_a_controller_without_memory_has_none_to_record():
    with pytest.raises(kt.errors.KinetreeError, match=r"'memory': the controller .* has no memory"):
        PENDULUM.rollout(kt.control.pd(PENDULUM), 5, 0.01, record=["memory"])


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        (
            "q",
            np.zeros((2, 4, 2)),
            r"weights of 'q' have shape \(2, 4, 2\); \(2, 6, 2\) is expected",
        ),
        ("v", np.zeros(3), r"weights of 'v' have shape \(3,\)"),
        ("v", 1.0, r"weights of 'v' have shape \(\)"),
        ("v", np.zeros((3, 2)), r"or \(2, 2\) at the end alone"),
        ("q", "text", "weights of 'q' has dtype"),
    ],
)
def test_wrong_weights_are_named(name, array, message):
    rollout, (q, v) = PENDULUM.rollout(None, 5, 0.01), start(PENDULUM, 2)
    with pytest.raises(kt.errors.KinetreeError, match=message):
        rollout.gradient(q, v, {name: array})


@pytest.mark.parametrize(
    ("along", "message"),
    [
        ({"q0": np.zeros(3)}, r"along 'q0' has shape \(3,\); \(2, 2\) is expected"),
        ({"v0": np.zeros((3, 2))}, r"along 'v0' has shape \(3, 2\)"),
        ({"p": np.zeros(2)}, "along has no entry 'p'"),
        ({"qq": np.zeros(2)}, "along has no entry 'qq'"),
        (np.zeros(2), "along is a ndarray; arrays by name are expected"),
    ],
)
def test_wrong_directions_are_named(along, message):
    rollout, (q, v) = PENDULUM.rollout(None, 5, 0.01), start(PENDULUM, 2)
    with pytest.raises(kt.errors.KinetreeError, match=message):
        rollout.sensitivity(q, v, along)


@pytest.mark.parametrize("given", ["text", 1.0, [[1.0], [1.0, 2.0]], None])
def test_a_wrong_start_or_input_is_named(given):
    rollout, (q, v) = PENDULUM.rollout(wave, 5, 0.01, p_length=2), start(PENDULUM, 2)
    with pytest.raises(kt.errors.KinetreeError, match="q0"):
        rollout(given, v, [1.0, 0.1])
    if given is not None:
        with pytest.raises(kt.errors.KinetreeError, match=r"^p "):
            rollout(q, v, given)


def test_progress_is_told_and_changes_nothing():
    q, v = start(PENDULUM, 2)
    shares = []
    rollout = PENDULUM.rollout(wave, 300, 0.001, p_length=2)
    a = rollout(q, v, [1.0, 0.1], progress=shares.append)
    assert shares[-1] == 1.0
    assert len(shares) == 101
    assert (a.q == rollout(q, v, [1.0, 0.1]).q).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-3, 0.01), "steps must be a whole number of at least 0, got -3"),
        ((10, -0.01), r"dt must be a positive number, got -0\.01"),
        ((10, 0.01, 3), "every=3"),
    ],
)
def test_wrong_lengths_are_refused(arguments, message):
    steps, dt, *every = arguments
    with pytest.raises(kt.errors.KinetreeError, match=message):
        PENDULUM.rollout(None, steps, dt, every=every[0] if every else 1)


def test_wrong_weights_are_named():
    rollout = PENDULUM.rollout(None, 4, 0.01)
    with pytest.raises(kt.errors.KinetreeError, match="weights has no entry 'tau'"):
        rollout.gradient(np.zeros(2), np.zeros(2), {"tau": np.zeros(2)})
