"""Steps of time: their order, what they keep, and what the limits of joints do in them."""

import re
import sys

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import kinetree as kt
from kinetree.algorithms.steps import FREE
from kinetree.algorithms.steps.midpoint import midpoint
from kinetree.algorithms.steps.rk4 import rk4
from kinetree.algorithms.steps.variational import variational
from kinetree.model.configurations import neutral_configuration
from kinetree.quantities import QUANTITIES
from kinetree.robot import linearization
from kinetree.scalar.dual import Dual
from tests.random_models import regular_models
from tests.tolerances import EXACT, relative_error

METHODS = tuple(QUANTITIES["step"].methods)


def stated_order(method):
    """The order that an integrator's file states."""
    file = sys.modules[QUANTITIES["step"].methods[method].algorithm.step.__module__]
    return int(re.search(r"^Order (\d)", file.__doc__, re.MULTILINE)[1])


ORDERS = {method: stated_order(method) for method in METHODS}
BODY = {"mass": 1.0, "inertia": (0.01, 0.02, 0.025)}


def flyer(**drive):
    """A free body with another on a ball joint and one on a hinge."""
    assembly = kt.Assembly("flyer", "base", (0.05, 0.03, 0.04), mass=2.0)
    ball, hinge = kt.joints.Ball(), kt.joints.Revolute("x")
    assembly.add("arm", "base", ball, (0.1, 0.0, 0.1), com=(0.0, 0.1, 0.2), **BODY)
    assembly.add("flap", "base", hinge, (0.0, 0.2, 0.0), com=(0.0, 0.1, 0.0), **BODY, drive=drive)
    return assembly.robot("floating")


def simulated(robot, q, v, tau, time, steps, method, **more):
    for _ in range(steps):
        q, v = robot.step(q, v, tau, time / steps, method=method, **more)
    return q, v


def spinner():
    """A body on a ball joint, and one that slides on it against friction and a spring."""
    assembly = kt.Assembly("spinner", "base")
    drive = {"damping": 0.1, "stiffness": 2.0}
    assembly.add("top", "base", kt.joints.Ball(), com=(0.0, 0.1, 0.2), **BODY)
    assembly.add("bead", "top", kt.joints.Prismatic("x"), (0.0, 0.2, 0.0), **BODY, drive=drive)
    return assembly.robot()


FLYER, PENDULUM = flyer(damping=0.1, stiffness=2.0), kt.robots.double_pendulum()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("robot", [FLYER, PENDULUM], ids=lambda robot: robot.name)
def test_a_method_has_its_order(robot, method):
    rng = np.random.default_rng(2)
    q, v, tau = robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    exact = simulated(robot, q, v, tau, 0.2, 2000, "rk4")
    counts, errors = np.array([20, 40, 80, 160]), []
    for count in counts:
        found = simulated(robot, q, v, tau, 0.2, int(count), method)
        way = robot.difference(exact[0], found[0])
        errors.append(np.abs(np.r_[way, found[1] - exact[1]]).max())
    slope, _ = np.polyfit(np.log(counts), np.log(errors), 1)
    assert -slope == pytest.approx(ORDERS[method], abs=0.15)


@pytest.mark.parametrize("method", METHODS)
def test_quaternions_stay_of_length_one(method):
    rng = np.random.default_rng(3)
    q, v = FLYER.random(rng), 5.0 * rng.standard_normal(FLYER.nv)
    q, _ = simulated(FLYER, q, v, np.zeros(FLYER.nv), 1.0, 20, method)
    assert np.linalg.norm(q[3:7]) == pytest.approx(1.0, abs=EXACT)
    assert np.linalg.norm(q[7:11]) == pytest.approx(1.0, abs=EXACT)


@pytest.mark.parametrize("method", ["euler", "rk4", "variational"])
def test_a_long_integration_ends_where_scipys_does(method):
    rng = np.random.default_rng(4)
    q, v = rng.standard_normal((2, 2))
    tau = np.zeros(2)

    def rates(_, x):
        return np.r_[x[2:], PENDULUM.forward_dynamics(x[:2], x[2:], tau)]

    peer = solve_ivp(rates, (0, 1), np.r_[q, v], rtol=1e-12, atol=1e-12, method="DOP853").y[:, -1]
    count = {"euler": 20_000, "rk4": 1000, "variational": 5000}[method]
    bound = {"euler": 1e-3, "rk4": 1e-10, "variational": 1e-6}[method]
    found = np.r_[simulated(PENDULUM, q, v, tau, 1.0, count, method)]
    assert np.abs(found.ravel() - peer).max() < bound


def energy(robot, q, v):
    return robot.kinetic_energy(q, v) + robot.potential_energy(q)


@pytest.mark.slow
def test_the_energy_of_the_variational_step_does_not_drift_in_100000_steps():
    q, v, tau = np.array([[2.0, 1.0]]), np.zeros((1, 2)), np.zeros(2)
    start, found = energy(PENDULUM, q, v), []
    for k in range(100_000):
        q, v = PENDULUM.step(q, v, tau, 2e-3, method="variational")
        if k % 10 == 0:
            found.append(float((energy(PENDULUM, q, v) - start)[0]))
    thirds = np.array_split(np.array(found), 3)
    spans = [np.abs(part).max() for part in thirds]
    assert max(spans) < 0.02  # of some 20 J that go to and fro
    assert spans[2] < 1.3 * spans[0]
    assert abs(thirds[2].mean() - thirds[0].mean()) < 0.2 * spans[0]


@pytest.mark.slow
def test_the_human_keeps_its_momentum_in_free_flight():
    robot = kt.robots.human().without("damping", "friction", "gravity", "springs")
    assert robot.nv > robot.model.bodies[0].joint.nv == 6
    rng = np.random.default_rng(5)
    q, v, tau = robot.random(rng), rng.standard_normal(robot.nv), np.zeros(robot.nv)
    start = robot.momentum(q, v, about="world")
    for _ in range(1000):
        q, v = robot.step(q, v, tau, 1e-3, method="variational")
    assert np.abs(robot.momentum(q, v, about="world") - start).max() < 1e-12 * np.abs(start).max()


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(regular_models(max_bodies=3), st.integers(0, 99))
def test_on_any_robot_the_variational_step_agrees_with_the_midpoint_rule(model, seed):
    """Both are of second order: over a short step they differ by its cube."""
    model = kt.Robot(model).without("friction").model
    rng = np.random.default_rng(seed)
    robot = kt.Robot(model)
    q, v, tau = robot.random(rng), *rng.standard_normal((2, model.nv))
    try:
        robot.forward_dynamics(q, v, tau)
    except kt.errors.KinetreeError:
        return
    stiff = np.linalg.norm(robot.mass_matrix_inverse(q), 2)
    dt = 1e-3 / max(1.0, stiff) ** 0.5
    peer = rk4(model, list(q), list(v), list(tau), dt)
    for method in (variational, midpoint):
        q1, v1 = method(model, list(q), list(v), list(tau), dt)
        scale = 1.0 + np.abs(peer[1]).max() ** 3
        assert np.abs(np.subtract(v1, peer[1])).max() < 1e-4 * scale
        assert np.abs(robot.difference(np.array(peer[0]), np.array(q1))).max() < 1e-4 * scale


MJCF = """<mujoco><option timestep="0.001" integrator="{integrator}"><flag contact="disable"
  constraint="disable"/></option><worldbody>
  <body name="a"><joint name="j1" axis="0 1 0" damping="{damping}" armature="0.02"/>
    <geom size="0.05" pos="0 0 -0.3" mass="1"/>
    <body name="b" pos="0 0 -0.6"><joint name="j2" axis="1 0.5 0" stiffness="3" springref="10"
      damping="{damping}"/><geom type="box" size="0.05 0.1 0.2" pos="0.1 0 -0.2" mass="2"/>
      <body name="c" pos="0.1 0 -0.4"><joint name="j3" type="slide" axis="1 0 0"/>
        <geom size="0.08" mass="0.5" pos="0 0.1 0"/></body></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("integrator", "damping", "method"),
    [("Euler", 0.0, "euler"), ("Euler", 0.7, "implicit-damping"), ("RK4", 0.7, "rk4")],
)
def test_a_second_ends_where_mujocos_does(tmp_path, integrator, damping, method):
    text = MJCF.format(integrator=integrator, damping=damping)
    (tmp_path / "robot.xml").write_text(text)
    robot = kt.load(tmp_path / "robot.xml")
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = [0.3, -0.5, 0.1], [1.0, -2.0, 0.5]
    tau = np.array([0.3, -0.2, 0.1])
    d.qfrc_applied[:] = tau
    q, v = simulated(robot, d.qpos.copy(), d.qvel.copy(), tau, 1.0, 1000, method)
    for _ in range(1000):
        mujoco.mj_step(m, d)
    assert np.abs(q - d.qpos).max() < 1e-9
    assert np.abs(v - d.qvel).max() < 1e-9


def test_a_stiff_spring_and_damper_need_the_implicit_step():
    assembly = kt.Assembly("slider", "rail")
    drive = {"stiffness": 1e6, "damping": 1e5}
    assembly.add("cart", "rail", kt.joints.Prismatic("x"), mass=1.0, drive=drive)
    robot = assembly.robot()
    q, v = simulated(robot, [1.0], [0.0], [0.0], 1.0, 100, "implicit-springs")
    assert abs(q[0]) < 1e-3
    assert abs(v[0]) < 1e-2
    with np.errstate(all="ignore"):
        q, _ = simulated(robot, [1.0], [0.0], [0.0], 1.0, 100, "euler")
    assert not abs(q[0]) < 1e3


# derivatives


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_linearised_step_predicts_the_step_of_a_neighbour(method):
    robot, dt, h = spinner(), 0.01, 1e-6
    n = robot.nv
    rng = np.random.default_rng(6)
    q, v, tau = robot.random(rng), rng.standard_normal(n), rng.standard_normal(n)
    A, B = robot.linearize(q, v, tau, dt, method=method)
    q1, v1 = robot.step(q, v, tau, dt, method=method)
    x, u = h * rng.standard_normal(2 * n), h * rng.standard_normal(n)

    def after(sign):
        moved = robot.integrate(q, sign * x[:n]), v + sign * x[n:], tau + sign * u
        q2, v2 = robot.step(*moved, dt, method=method)
        return np.r_[robot.difference(q1, q2), v2 - v1]

    expected = A @ x + B @ u
    assert relative_error((after(1.0) - after(-1.0)) / (2 * h), expected / h) < 1e-6


def test_row_by_row_the_linearised_step_is_the_same(monkeypatch):
    robot, rng = spinner(), np.random.default_rng(10)
    q, (v, tau) = robot.random(rng, 3), rng.standard_normal((2, 3, robot.nv))
    push = {"bead": rng.standard_normal((3, 6))}
    given = {"external": push, "method": "euler"}
    found = robot.linearize(q, v, tau, 0.01, **given)
    monkeypatch.setattr(linearization, "COMPILED_JACOBIAN", 0)
    for one, other in zip(robot.linearize(q, v, tau, 0.01, **given), found, strict=True):
        assert relative_error(one, other) < EXACT


def test_a_step_has_second_derivatives():
    kernel = PENDULUM.kernel("step", "rk4")
    rng = np.random.default_rng(7)
    q, v, tau = rng.standard_normal((3, 2))
    second = kernel.hessian(("q", "dt"))(q, v, tau, 0.01)
    first = kernel.jacobian(("q", "dt"))
    h = 1e-6
    rows = [first(q + e, v, tau, 0.01)[0] - first(q - e, v, tau, 0.01)[0] for e in h * np.eye(2)]
    assert relative_error(second[0], np.stack(rows, axis=-1) / (2 * h)) < 1e-8


def test_a_step_takes_parameters():
    robot = kt.robots.arm()
    p = robot.parametric([kt.Payload("tool")])
    rng = np.random.default_rng(8)
    q, v, tau = robot.random(rng), *rng.standard_normal((2, 7))
    load = np.array([2.0, 0, 0, 0.2, 0.03, 0.03, 0.01, 0, 0, 0])
    heavy = kt.Robot(p.with_numbers(load))
    found = p.kernel("step", "euler")(q, v, tau, 1e-3, load)
    for one, other in zip(found, heavy.step(q, v, tau, 1e-3), strict=True):
        assert relative_error(one, other) < EXACT
    by_p = p.kernel("step", "euler").jacobian("p")(q, v, tau, 1e-3, load)
    assert by_p[1].shape == (7, 10)


def test_dt_broadcasts_as_states_do():
    rng = np.random.default_rng(9)
    q, v, tau = rng.standard_normal((3, 5, 2))
    dts = np.linspace(1e-3, 1e-2, 5)
    q1, v1 = PENDULUM.step(q, v, tau, dts)
    assert q1.shape == v1.shape == (5, 2)
    for k in range(5):
        assert (PENDULUM.step(q[k], v[k], tau[k], dts[k])[0] == q1[k]).all()


def test_a_step_runs_on_dual_numbers():
    model = PENDULUM.model
    moving = [Dual(x, 1.0) for x in neutral_configuration(model)]
    q, _ = variational(model, moving, [0.1, 0.2], [0.0, 0.0], 1e-3)
    assert q[0].rate == pytest.approx(1.0, abs=1e-3)


# limits


def slider(enforcement, friction=0.0, method="euler"):
    assembly = kt.Assembly("slider", "rail")
    assembly.add(
        "cart",
        "rail",
        kt.joints.Prismatic("x"),
        mass=1.0,
        limits=kt.Limits(-1.0, 1.0, effort=5.0),
        drive={"friction": friction},
    )
    robot = assembly.robot()

    def run(q, v, tau, steps, dt=1e-3):
        path = [np.array([q, v])]
        for _ in range(steps):
            found = robot.step(
                [path[-1][0]], [path[-1][1]], [tau], dt, enforcement=enforcement, method=method
            )
            path.append(np.concatenate(found))
        return np.array(path)

    return run


@pytest.mark.parametrize("method", METHODS)
def test_a_clamped_joint_stops_at_its_limit_and_leaves_it_freely(method):
    run = slider(kt.Enforcement(stops="clamp"), method=method)
    path = run(0.9, 1.0, 0.0, 300)
    assert path[:, 0].max() == 1.0
    assert (path[-1] == [1.0, 0.0]).all()
    assert run(1.0, 0.0, -1.0, 100)[-1, 0] < 1.0
    assert run(-0.9, -1.0, 0.0, 300)[-1].tolist() == [-1.0, 0.0]


@pytest.mark.parametrize("method", METHODS)
def test_a_spring_stop_throws_back_with_loss_and_never_pulls(method):
    run = slider(kt.Enforcement(stops="spring", stiffness=1e4, damping=20.0), method=method)
    path = run(0.9, 1.0, 0.0, 400)
    deepest = path[:, 0].max() - 1.0
    assert 0.005 < deepest < 0.01  # v sqrt(m / k) = 0.01 without damping
    assert -1.0 < path[-1, 1] < -0.5
    pulls = (np.diff(path[:, 1]) > 1e-12).sum()
    assert pulls <= (method == "implicit-springs")  # which may, in the step that leaves the stop
    free = path[path[:, 0] < 1.0]
    assert len(set(np.round(free[:, 1], 9))) <= 3  # at most one step on the way out


@pytest.mark.parametrize("method", METHODS)
def test_forces_are_cut_off_at_the_effort(method):
    run = slider(kt.Enforcement(saturate=True), method=method)
    strong, most = run(0.0, 0.0, 50.0, 10), run(0.0, 0.0, 5.0, 10)
    assert (strong == most).all()
    assert (run(0.0, 0.0, -50.0, 10) == -most).all()
    assert slider(FREE, method=method)(0.0, 0.0, 50.0, 10)[-1, 1] == pytest.approx(0.5)


@pytest.mark.parametrize("method", ["implicit-damping", "implicit-springs"])
def test_implicit_dry_friction_brings_to_rest_without_chatter(method):
    run = slider(kt.Enforcement(friction_speed=1e-4), friction=2.0, method=method)
    path = run(0.0, 0.5, 0.0, 400)
    assert (path[:, 1] >= 0.0).all()
    assert (np.diff(path[:, 1]) <= 0.0).all()
    assert path[-1, 1] < 1e-9
    assert path[-1, 0] == pytest.approx(0.5**2 / (2 * 2.0), rel=0.02)  # v^2 m / 2 F
    held = run(0.0, 0.0, 1.5, 400)  # a force below F moves it by creep alone
    assert abs(held[-1, 1]) < 2e-4


def test_friction_as_the_model_has_it_chatters_and_smoothed_it_does_not():
    chatter = slider(FREE, friction=2.0)(0.0, 0.5, 0.0, 400)
    assert (chatter[-20:, 1] != 0.0).any()
    smooth = slider(kt.Enforcement(friction_speed=0.02), friction=2.0)(0.0, 0.5, 0.0, 600)
    assert (np.diff(smooth[:, 1]) <= 0.0).all()
    assert abs(smooth[-1, 1]) < 1e-3


@pytest.mark.parametrize(
    ("enforcement", "message"),
    [
        ("spring", "an Enforcement is expected"),
        (kt.Enforcement(stops="wall"), "has no kind of stops 'wall'"),
        (kt.Enforcement(stiffness=-1.0), "stiffness must be a finite number, zero or more"),
        (kt.Enforcement(friction_speed=float("nan")), "friction_speed must be a finite"),
    ],
)
def test_an_enforcement_that_makes_no_sense_is_refused(enforcement, message):
    with pytest.raises(kt.errors.KinetreeError, match=message):
        PENDULUM.step([0, 0], [0, 0], [0, 0], 1e-3, enforcement=enforcement)
