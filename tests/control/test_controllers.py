"""Controllers: each does in closed loop what its theory says, over numbers and compiled."""

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.control.pose import quaternions
from tests.tolerances import EXACT, relative_error

ARM = kt.robots.arm()
GOAL = np.array([0.3, 0.5, -0.4, 0.8, 0.2, -0.6, 0.1])
POSE = ARM.pose(GOAL, "tool")
LEARNT = [0.5, *[1e-3] * 3, *[1e-5] * 6]


def made():
    return {
        "pd": kt.control.pd(ARM, target=GOAL),
        "computed_torque": kt.control.computed_torque(ARM, target=GOAL),
        "passivity": kt.control.passivity(ARM, target=GOAL),
        "operational_space": kt.control.operational_space(ARM, "tool", target=POSE),
        "impedance": kt.control.impedance(ARM, "tool", target=POSE, joint_damping=0.05),
        "lqr": kt.control.lqr(ARM, GOAL, Q=np.r_[[100.0] * 7, [1.0] * 7], R=0.1),
    }


@pytest.fixture(scope="module")
def controllers():
    return made()


NAMES = ("pd", "computed_torque", "passivity", "operational_space", "impedance", "lqr")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_law_on_numbers_is_the_law_compiled(controllers, name):
    controller, rng = controllers[name], np.random.default_rng(0)
    q, v = ARM.random(rng), rng.standard_normal(7)
    plain = controller(0.0, q, v)
    assert relative_error(controller.forces(q, v), np.array(plain, float)) < EXACT
    assert controller.forces(ARM.random(rng, 3), v).shape == (3, 7)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_controller_leads_to_its_target_and_rests_there(controllers, name):
    start = GOAL + 0.1 * np.array([1, -1, 1, -1, 1, -1, 1])
    record = [("pose", "tool")]
    run = ARM.simulate(start, np.zeros(7), controllers[name], time=3.0, every=100, record=record)
    begun, ended = np.abs(run["pose_tool"][[0, -1]] - POSE).max(axis=(-2, -1))
    assert ended < 0.05 * begun
    held = ARM.gravity_forces(GOAL)
    if name not in ("impedance", "operational_space"):
        assert relative_error(run.q[-1], GOAL) < 0.01
        still = controllers[name].forces(GOAL, np.zeros(7))
        assert relative_error(still, held) < 100 * EXACT


def test_computed_torque_gives_linear_errors(controllers):
    controller, rng = controllers["computed_torque"], np.random.default_rng(1)
    q, v = ARM.random(rng), rng.standard_normal(7)
    a = ARM.forward_dynamics(q, v, controller.forces(q, v, kp=64.0, kd=16.0))
    assert relative_error(a, 64.0 * (GOAL - q) - 16.0 * v) < 1e-9


def test_operational_space_control_decouples_the_task_from_the_posture(controllers):
    controller, rng = controllers["operational_space"], np.random.default_rng(2)
    q, v = ARM.random(rng), rng.standard_normal(7)
    accelerations = []
    for posture in (np.zeros(7), np.ones(7)):
        a = ARM.forward_dynamics(q, v, controller.forces(q, v, posture=posture))
        accelerations.append(ARM.acceleration(q, v, a, "tool"))
    assert np.abs(np.subtract(*accelerations)).max() < 1e-3


def test_impedance_yields_as_a_spring(controllers):
    """At rest under a force, the frame has moved by force over stiffness."""
    soft = kt.control.impedance(ARM, "tool", target=POSE, stiffness=[200.0] * 3 + [50.0] * 3)
    q = ARM.integrate(GOAL, np.full(7, 1e-4))
    tau = soft.forces(q, np.zeros(7)) - ARM.gravity_forces(q)
    J = ARM.jacobian(q, "tool")
    shift = POSE[:3, 3] - ARM.pose(q, "tool")[:3, 3]
    wrench = np.linalg.lstsq(J.T, tau, rcond=None)[0]
    assert relative_error(wrench[:3], 200.0 * shift) < 1e-6


def test_the_adaptive_law_learns_a_payload():
    robot = ARM.edit.attach_payload("tool", mass=0.5)
    controller = kt.control.adaptive(ARM, ["link7"], target=GOAL, adaptation=LEARNT)
    known = kt.control.passivity(ARM, target=GOAL)
    ends = [
        robot.simulate(GOAL, np.zeros(7), law, time=15.0, every=15000).q[-1]
        for law in (known, controller)
    ]
    sagged, learnt = (np.abs(end - GOAL).max() for end in ends)
    assert sagged > 0.01
    assert learnt < 0.1 * sagged


def test_the_adaptive_law_starts_as_the_law_with_known_inertias():
    rng = np.random.default_rng(3)
    q, v = ARM.random(rng), rng.standard_normal(7)
    controller = kt.control.adaptive(ARM, ["link3", "link7"], target=GOAL)
    known = kt.control.passivity(ARM, target=GOAL)
    assert relative_error(controller.forces(q, v), known.forces(q, v)) < EXACT


def test_the_momentum_observer_follows_a_push():
    observer, dt = kt.control.MomentumObserver(ARM, gain=100.0), 1e-3
    q, v, push = GOAL.copy(), np.zeros(7), {"tool": np.array([10.0, 0, 0, 0, 0, 0])}
    for _ in range(150):
        tau = ARM.gravity_forces(q) - 0.5 * v
        residual = observer.update(q, v, tau, dt)
        q, v = ARM.step(q, v, tau, dt, external=push)
    expected = ARM.jacobian(q, "tool", axes="body").T @ push["tool"]
    assert relative_error(residual, expected) < 0.05


def test_what_the_model_lacks_is_cancelled_by_the_observer():
    robot = ARM.edit.attach_payload("tool", mass=0.5)
    plain = kt.control.pd(ARM, target=GOAL)
    laws = (plain, kt.control.compensated(plain, gain=5.0))
    runs = [robot.simulate(GOAL, np.zeros(7), law, time=5.0, every=5000) for law in laws]
    sagged, held = (np.abs(run.q[-1] - GOAL).max() for run in runs)
    assert held < 0.05 * sagged
    with pytest.raises(kt.errors.KinetreeError, match="has a memory"):
        kt.control.compensated(laws[1])


def test_the_tracking_regulator_brings_back_to_a_motion():
    robot, dt, T = kt.robots.double_pendulum(), 0.01, 300
    q, v, tau = np.zeros((T, 2)), np.zeros((T, 2)), np.zeros((T, 2))
    tau[:, 0] = 5.0 * np.sin(np.arange(T) * 0.05)
    for k in range(T - 1):
        q[k + 1], v[k + 1] = robot.step(q[k], v[k], tau[k], dt)
    regulator = kt.control.tracking_lqr(robot, q, v, tau, dt, Q=[100, 100, 1, 1], R=0.1)
    assert regulator.gains.shape == (T, 2, 4)
    off = q[0] + [0.2, -0.1], v[0]
    run = robot.simulate(*off, regulator.controller, time=T * dt, dt=dt, p=regulator.p, series=True)
    assert np.abs(run.q[-2] - q[-1]).max() < 0.01
    free = robot.simulate(*off, lambda t, q, v, p: list(p), time=T * dt, dt=dt, p=tau, series=True)
    assert np.abs(free.q[-2] - q[-1]).max() > 0.05


def test_the_regulator_of_the_cart_pole_uses_the_cart_alone():
    robot = kt.robots.cart_pole()
    controller = kt.control.lqr(robot, [0.0, 0.0], R=0.1, dt=0.01, actuated=[True, False])
    run = robot.simulate([0.2, 0.2], [0, 0], controller, time=10.0, dt=0.01)
    assert not run.tau[:, 1].any()
    assert np.abs(run.q[-1]).max() < 1e-3


def test_inputs_differ_by_environment():
    controller = kt.control.pd(ARM)
    targets = ARM.random(4, batch=5)
    p = controller.pack(target=targets, kp=30.0)
    assert p.shape == (5, len(controller.p))
    q, v = np.zeros(7), np.zeros(7)
    together = controller.forces(q, v, target=targets, kp=30.0)
    for k in range(5):
        alone = controller.forces(q, v, target=targets[k], kp=30.0)
        assert (together[k] == alone).all()


def test_quaternions_of_matrices_turn_as_those_do():
    R = ARM.pose(ARM.random(5, batch=50), "tool")[:, :3, :3]
    x, y, z, w = quaternions(R).T
    found = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=-1)
    assert relative_error(found, R[:, :, 0]) < EXACT


def test_controllers_pickle_before_and_after_use():
    plain = made()
    more = {
        "adaptive": kt.control.adaptive(ARM, ["link7"], target=GOAL),
        "compensated": kt.control.compensated(plain["pd"]),
    }
    q, v = GOAL + 0.1, np.full(7, 0.2)
    for name, controller in (plain | more).items():
        fresh = pickle.loads(pickle.dumps(controller))
        expected = controller.forces(q, v)
        used = pickle.loads(pickle.dumps(controller))
        assert repr(fresh) == repr(used) == repr(controller), name
        for copy in (fresh, used):
            assert relative_error(copy.forces(q, v), expected) < EXACT, name
            assert (copy.memory == controller.memory).all()


def test_a_rollout_under_a_controller_pickles_after_use():
    rollout = ARM.rollout(kt.control.pd(ARM, target=GOAL), 3, 1e-3)
    run = rollout(GOAL, np.ones(7))
    again = pickle.loads(pickle.dumps(rollout))(GOAL, np.ones(7))
    assert relative_error(again.q, run.q) < EXACT


def test_wrong_inputs_are_named():
    controller = kt.control.pd(ARM)
    with pytest.raises(kt.errors.UnknownNameError, match="has no input 'kpp'"):
        controller.pack(kpp=1.0)
    with pytest.raises(kt.errors.ShapeError, match="target has shape"):
        controller.pack(target=np.zeros(6))
    with pytest.raises(kt.errors.ShapeError, match="kp has 3 numbers; 7 are expected"):
        kt.control.pd(ARM, kp=[1, 2, 3])
    with pytest.raises(kt.errors.UnknownNameError, match="tol"):
        kt.control.impedance(ARM, "tol")


@pytest.mark.parametrize("odd", ["text", object(), 1j, [[1], [1, 2]], np.array([None])])
def test_a_gain_that_is_no_number_is_refused_by_an_error_of_ours(odd):
    for make in (kt.control.pd, kt.control.computed_torque):
        with pytest.raises(kt.errors.KinetreeError):
            make(kt.robots.arm(), kp=odd)


def test_a_law_without_inputs_may_have_arguments_with_defaults():
    rest, start = np.zeros(7), np.full(7, 0.1)
    plain = ARM.simulate(start, rest, lambda t, q, v: -5.0 * q, time=0.01)
    given = ARM.simulate(start, rest, lambda t, q, v, k=5.0: -k * q, time=0.01)
    assert np.array_equal(plain.q, given.q)


def test_what_a_law_of_a_user_lacks_is_said():
    short = {"time": 0.01, "dt": 1e-3}
    rest = np.zeros(7)
    for law, said in (
        (kt.control.pd(kt.robots.cart_pole()), "made for robot 'cart_pole' with nq=2"),
        (lambda t, q, v, p: p * q, "takes inputs p, and none are given"),
        (lambda t, q, v, p: -p[0] * q, "takes inputs p, and none are given"),
        (lambda t, q, v: None, "returns None"),
        (lambda t, q, v: np.linalg.solve(ARM.mass_matrix(q), v), "of np.linalg"),
        (lambda t, q, v: v[8], "index 8"),
    ):
        with pytest.raises((kt.errors.KinetreeError, IndexError), match=said):
            ARM.simulate(rest, rest, law, **short)
    with pytest.raises(kt.errors.KinetreeError, match=r"called with \(model, t, q, v, goal\)"):
        kt.control.Controller(ARM, "mine", lambda t, q, v: -q, {"goal": GOAL}).forces(rest, rest)
    for law, said in (
        (lambda model, t, q, v, memory: -q, "returns two values"),
        (lambda model, t, q, v, memory: (-q, q[:2]), "rates of 2 entries of its memory"),
    ):
        controller = kt.control.Controller(ARM, "mine", law, {}, memory=rest)
        for use in (
            lambda c=controller: c.forces(rest, rest),
            lambda c=controller: ARM.simulate(rest, rest, c, **short),
        ):
            with pytest.raises(kt.errors.KinetreeError, match=said):
                use()


@pytest.mark.parametrize("entry", [(0, 0, 2.0), (0, 0, np.nan), (1, 3, np.inf)])
@pytest.mark.parametrize("make", [kt.control.operational_space, kt.control.impedance])
def test_a_target_that_is_no_pose_is_refused(make, entry):
    wrong = np.eye(4)
    wrong[entry[:2]] = entry[2]
    with pytest.raises(kt.errors.StateError, match="target is not a pose"):
        make(ARM, "tool", target=wrong)
