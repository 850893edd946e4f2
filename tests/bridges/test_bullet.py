"""Maximal coordinates in Bullet: torques out, states back, tracking that stays bounded."""

import importlib.util
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.spatial import Rotation, Transform, Vector3

pytest.importorskip("pybullet")
from kinetree.bridges.bullet import MaximalBodies

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def track():
    spec = importlib.util.spec_from_file_location(
        "maximal_coordinates", ROOT / "examples" / "maximal_coordinates.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.track


def sliding_robot():
    """A hinge that carries a slider along a slanted axis, their frames turned."""
    robot = kt.Assembly("sliding", "base")
    slim = (0.02, 0.03, 0.011)
    robot.add(
        "arm", "base", kt.joints.Revolute("y"), (0, 0, 0.1), slim, mass=1.0, com=(0.1, 0, 0.2)
    )
    place = np.eye(4)
    place[:3] = [[0, 0, 1, 0.1], [1, 0, 0, 0.0], [0, 1, 0, 0.4]]
    slider = kt.joints.Prismatic((1.0, 2.0, 0.5))
    robot.add("rod", "arm", slider, place, slim, mass=0.7, com=(0.1, 0.0, 0.1))
    return robot.robot()


def bent_slide(q):
    """A carriage on a parabola, which does not turn."""
    return Transform(Rotation.identity(), Vector3(q[0], q[0] * q[0], 0))


ROBOTS = {
    "arm": kt.robots.arm,
    "cart-pole": kt.robots.cart_pole,
    "sliding": sliding_robot,
    "human": lambda: kt.robots.human("fixed"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_tracking_stays_bounded_and_the_states_fit_the_joints(track, name):
    run = track(ROBOTS[name](), duration=0.3)
    assert run.error.max() < 2e-3  # the reference moves by 0.3
    assert run.residual.max() < 1e-4  # m: how far joints come apart


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arm", "human"])
def test_for_two_seconds_too(track, name):
    run = track(ROBOTS[name](), duration=2.0)
    assert run.error.max() < 5e-3
    assert run.residual.max() < 1e-4


def swung(robot, q, v, dt, time=0.3):
    """A robot that is let go in Bullet: its state at the end, and the largest residual."""
    residual = 0.0
    with MaximalBodies(robot, q, v, dt) as bodies:
        for _ in range(round(time / dt)):
            bodies.step(np.zeros(robot.nv))
            residual = max(residual, bodies.generalized().pose_residual.max())
        return bodies.generalized(), residual


def energy(robot, q, v):
    return float(robot.kinetic_energy(q, v) + robot.potential_energy(q))


def test_a_slider_on_a_moving_link_keeps_energy_and_converges():
    robot, q, v = sliding_robot(), np.array([0.3, 0.1]), np.array([1.0, 0.5])
    expected = robot.simulate(q, v, None, time=0.3, dt=1e-4, method="rk4").q[-1]
    begun, errors = energy(robot, q, v), []
    for dt in (2e-3, 1e-3, 5e-4):
        ended, residual = swung(robot, q, v, dt)
        errors.append(np.abs(ended.q - expected).max())
        assert abs(energy(robot, ended.q, ended.v) - begun) < 12.0 * dt  # of 6.2 J
        assert residual < 30.0 * dt**2
    assert errors[0] < 6e-3
    for coarse, fine in pairwise(errors):
        assert 1.8 < coarse / fine < 2.2  # of first order, as Bullet's steps are


def test_angles_go_on_past_half_a_turn():
    robot = kt.Assembly("wheel", "base", gravity=(0, 0, 0))
    robot.add("disc", "base", kt.joints.Revolute("z"), inertia=(0.1, 0.1, 0.1), mass=1.0)
    chart = kt.joints.euler("zyx")
    robot.add("top", "disc", chart, (0, 0, 0.2), inertia=(0.1, 0.1, 0.1), mass=1.0)
    wheel, dt = robot.robot(), 1e-2
    with MaximalBodies(wheel, [3.0, -3.0, 0, 0], [5.0, -10.0, 0, 0], dt) as bodies:
        seen = [bodies.generalized()]
        for _ in range(300):
            bodies.step(np.zeros(4))
            seen.append(bodies.generalized())
    q, v = np.array([x.q for x in seen]), np.array([x.v for x in seen])
    assert q[-1, 0] > 3.0 * np.pi
    assert np.abs(np.diff(q[:, 0])).max() < 0.1
    assert np.abs(np.diff(q, axis=0) / dt - v[1:]).max() < 0.05


def test_a_state_that_is_put_in_comes_back():
    robot = kt.robots.human()
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    with MaximalBodies(robot, q, v) as bodies:
        found = bodies.generalized()
    assert np.abs(robot.difference(q, found.q)).max() < 1e-9
    assert np.abs(found.v - v).max() < 1e-9
    assert found.pose_residual.max() < 1e-9


def test_a_step_gives_the_acceleration_that_the_joint_forces_are_for():
    robot = kt.robots.arm()
    rng = np.random.default_rng(1)
    q, a, dt = robot.random(rng), rng.standard_normal(7), 1e-3
    tau = robot.without("friction").inverse_dynamics(q, np.zeros(7), a)
    with MaximalBodies(robot, q, dt=dt, iterations=1000) as bodies:
        bodies.step(tau, q)
        found = bodies.generalized().v / dt
    assert np.abs(found - a).max() < 1e-4  # the iterations have converged


def test_joints_that_bullet_cannot_hold_are_refused_by_name():
    robot = kt.Assembly("screwed", "base")
    robot.add("nut", "base", kt.joints.Screw("z", 0.1), inertia=(0.1, 0.1, 0.1), mass=1.0)
    with pytest.raises(KinetreeError, match="joint 'nut_joint' cannot be a constraint"):
        MaximalBodies(robot.robot(), np.zeros(1))
    robot = kt.Assembly("bent", "base")
    rail = kt.joints.Custom(bent_slide, 1)
    robot.add("cart", "base", rail, inertia=(0.1, 0.1, 0.1), mass=1.0)
    with pytest.raises(KinetreeError, match="joint 'cart_joint' cannot be a constraint"):
        MaximalBodies(robot.robot(), np.zeros(1))
    robot = kt.Assembly("light", "base")
    robot.add("ghost", "base", kt.joints.Revolute("z"))
    robot.add("body", "ghost", kt.joints.Revolute("y"), inertia=(0.1, 0.1, 0.1), mass=1.0)
    with pytest.raises(KinetreeError, match="link 'ghost' has no mass or no inertia"):
        MaximalBodies(robot.robot(), np.zeros(2))
