"""Tracking on every chart: the reference's rate is its rate, and Lyapunov functions fall."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.manifold import transported
from kinetree.model.joints import Joint
from kinetree.model.joints.composite import Composite
from tests.random_models import bent_rail
from tests.tolerances import relative_error

joints = kt.joints
CHARTS: dict[str, Joint] = {
    "revolute": joints.Revolute("y"),
    "screw": joints.Screw("z", 0.2),
    "universal": joints.universal("x", "y"),
    "planar": joints.planar(),
    "ball": joints.Ball(),
    "exponential ball": joints.ExponentialBall(),
    "euler ball": joints.euler("zyx"),
    "floating": joints.Floating(),
    "free motion of a ball": joints.free_motion(joints.Ball()),
    "free motion of Euler angles": joints.free_motion(joints.euler("zyx")),
    "reversed ball": joints.Ball().reversed(),
    "reversed floating": joints.Floating().reversed(),
    "ball in series": Composite((joints.Prismatic("x"), joints.Ball())),
    "custom": joints.Custom(bent_rail, 2),
}
BOX = (0.02, 0.03, 0.04)


def made(joint):
    """A chart between a fixed base and a body off its origin, which carries a ball and a hinge."""
    a = kt.Assembly("tracked")
    a.add("first", "base", joint, (0.1, 0.0, 0.3), BOX, mass=2.0, com=(0.1, -0.05, 0.2))
    a.add("second", "first", joints.Ball(), (0.0, 0.2, 0.1), BOX, mass=0.7, com=(0.0, 0.1, 0.1))
    a.add("third", "second", joints.Revolute("x"), (0.1, 0.0, 0.2), BOX, mass=0.4, com=(0, 0.1, 0))
    return a.robot()


@pytest.fixture(scope="module", params=CHARTS)
def moving(request):
    """A robot; q, v; a target q_d, v_d, a_d that is about half a radian away."""
    robot, rng = made(CHARTS[request.param]), np.random.default_rng(5)
    q = robot.integrate(robot.neutral(), 0.4 * rng.standard_normal(robot.nv))
    target = robot.integrate(q, 0.4 * rng.standard_normal(robot.nv))
    return robot, q, target, *rng.standard_normal((3, robot.nv))


def slope_at_zero(function, h=2e-3):
    """The derivative at 0, of sixth order in h: its error is rounding."""
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    return sum(w * (function(k * h) - function(-k * h)) for k, w in weights.items()) / h


def carried(robot, q, target, velocity):
    return np.array(transported(robot.model, *(x.tolist() for x in (q, target, velocity))), float)


def test_a_transported_velocity_keeps_the_difference(moving):
    robot, q, target, _, velocity, _ = moving
    along = carried(robot, q, target, velocity)

    def apart(t):
        there = robot.integrate(target, t * velocity)
        return robot.difference(robot.integrate(q, t * along), there)

    assert np.abs(slope_at_zero(apart)).max() < 1e-10


def lyapunov_rate(robot, law, state, slope, memory=None, adaptation=1.0):
    """V' along the closed loop by differences, and -s^T K s."""
    q, target, v, velocity, acceleration = state
    motion = {"target": target, "velocity": velocity, "acceleration": acceleration}
    true = 0.0 if memory is None else law.memory
    if memory is None:
        tau, learning = law.forces(q, v, **motion), 0.0
    else:
        tau, learning = law.kernel(0.0, q, v, law.pack(**motion), memory)
    a = robot.forward_dynamics(q, v, tau)

    def left(t):
        """s when every argument has moved for a time t."""
        there = robot.integrate(target, t * velocity)
        at = robot.integrate(q, t * v)
        along = carried(robot, at, there, velocity + t * acceleration)
        return along + slope * robot.difference(at, there) - (v + t * a), at

    def V(t):
        s, at = left(t)
        wrong = 0.0 if memory is None else memory + t * learning - true
        return 0.5 * s @ robot.mass_matrix(at) @ s + 0.5 * np.sum(wrong * wrong / adaptation)

    s, _ = left(0.0)
    return slope_at_zero(V), -s @ (law.inputs["gain"] * s)


def test_with_known_inertias_the_lyapunov_function_falls_as_it_should(moving):
    robot, *state = moving
    slope = np.random.default_rng(1).uniform(1.0, 5.0, robot.nv)
    law = kt.control.passivity(robot, gain=2.0, slope=slope)
    found, expected = lyapunov_rate(robot, law, state, slope)
    assert relative_error(found, expected) < 1e-10


def test_with_wrong_inertias_the_adaptive_law_s_lyapunov_function_falls_as_it_should(moving):
    robot, *state = moving
    slope = np.random.default_rng(1).uniform(1.0, 5.0, robot.nv)
    adaptation = np.tile([0.5, *[1e-2] * 3, *[1e-3] * 6], 2)
    bodies = ["first", "second"]
    law = kt.control.adaptive(robot, bodies, gain=2.0, slope=slope, adaptation=adaptation)
    memory = law.memory * np.random.default_rng(2).uniform(0.8, 1.2, len(law.memory))
    found, expected = lyapunov_rate(robot, law, state, slope, memory, adaptation)
    assert relative_error(found, expected) < 1e-9


def test_computed_torque_gives_the_closed_loop_of_its_page(moving):
    robot, q, target, v, velocity, acceleration = moving
    law = kt.control.computed_torque(robot, kp=64.0, kd=16.0)
    motion = {"target": target, "velocity": velocity, "acceleration": acceleration}
    a = robot.forward_dynamics(q, v, law.forces(q, v, **motion))

    def off(t):
        """u when every argument has moved for a time t."""
        ends = robot.integrate(q, t * v), robot.integrate(target, t * velocity)
        return carried(robot, *ends, velocity + t * acceleration) - (v + t * a)

    expected = -16.0 * off(0.0) - 64.0 * robot.difference(q, target)
    assert relative_error(slope_at_zero(off), expected) < 1e-9


@pytest.mark.parametrize("name", ["ball", "floating"])
@pytest.mark.parametrize("kind", ["passivity", "computed_torque"])
def test_a_turning_target_is_approached_at_the_rate_that_was_asked_for(name, kind):
    a = kt.Assembly("tracked")
    a.add("body", "base", CHARTS[name], inertia=BOX, mass=2.0, com=(0.1, -0.05, 0.2))
    robot, dt, steps = a.robot(), 1e-3, 2000
    strong = 20.0 * np.diag(robot.mass_matrix(robot.neutral()))
    law = {
        "passivity": lambda: kt.control.passivity(robot, gain=strong, slope=5.0),
        "computed_torque": lambda: kt.control.computed_torque(robot, kp=100.0, kd=20.0),
    }[kind]()
    turn = np.r_[np.zeros(robot.nv - 3), 6.0, -3.0, 4.5]
    times = dt * np.arange(steps + 1)[:, None]
    target = robot.integrate(np.tile(robot.neutral(), (steps + 1, 1)), times * turn)
    p = law.pack(target=target[:-1], velocity=turn)
    start = robot.integrate(robot.neutral(), np.full(robot.nv, 1.0))
    run = robot.simulate(start, np.zeros(robot.nv), law, time=steps * dt, dt=dt, p=p, series=True)
    left = np.abs(robot.difference(run.q[-1], target[-1])).max()
    slope = {"passivity": 5.0, "computed_torque": 8.0}[kind]  # 1/s; of 10, with its factor t
    assert left < 3.0 * np.exp(-slope * steps * dt)


BALLS = ("ball", "exponential ball", "euler ball", "reversed ball")


def moving_target(robot, times):
    """A ball joint's target that turns, or where q and v are of one kind swings; q, v and a."""
    t = times[:, None]
    if robot.nq != robot.nv:
        turn = np.broadcast_to([10.0, -5.0, 8.0], (len(t), 3))
        return robot.integrate(np.tile(robot.neutral(), (len(t), 1)), t * turn), turn, 0.0 * turn
    size, rate = np.array([1.0, 0.8, 0.6]), np.array([3.0, 4.0, 5.0])
    swing = size * np.sin(rate * t), size * rate * np.cos(rate * t)
    return *swing, -(rate**2) * swing[0]


@pytest.mark.parametrize("name", BALLS)
@pytest.mark.parametrize("kind", ["passivity", "adaptive"])
def test_after_three_seconds_one_ball_is_where_its_moving_target_is(name, kind):
    a = kt.Assembly("tracked")
    a.add("body", "base", CHARTS[name], inertia=BOX, mass=2.0, com=(0.1, -0.05, 0.2))
    robot, dt, steps = a.robot(), 1e-3, 3000
    if kind == "passivity":
        law = kt.control.passivity(robot)
    else:
        law = kt.control.adaptive(robot, ["body"], adaptation=1e-4)
    target, velocity, acceleration = moving_target(robot, dt * np.arange(steps + 1))
    p = law.pack(target=target[:-1], velocity=velocity[:-1], acceleration=acceleration[:-1])
    start = robot.integrate(robot.neutral(), np.array([0.5, -0.6, 0.4]))
    run = robot.simulate(start, np.zeros(3), law, time=steps * dt, dt=dt, p=p, series=True)
    left = np.abs(robot.difference(run.q[-1], target[-1])).max()
    # a_r = a_d + L (v_d - v) leaves 0.28 and 0.14 rad on a ball
    assert left < {"passivity": 2e-3, "adaptive": 1e-2}[kind]
