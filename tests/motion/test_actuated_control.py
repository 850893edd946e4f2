"""Optimal control of a robot's actuators: their controls instead of joint forces."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, ShapeError

ARM = """<mujoco><option timestep="0.01"/><worldbody>
<body><joint name="shoulder" axis="0 1 0" damping="0.1"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><site name="a" pos="0.1 0 0.05"/>
<body pos="0.3 0 0"><joint name="elbow" axis="0 1 0" damping="0.1"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0"/><site name="b" pos="0.1 0 0.05"/>
</body></body></worldbody>
<tendon><spatial name="muscle"><site site="a"/><site site="b"/></spatial></tendon>
<actuator>{}</actuator></mujoco>"""
MOTORS = (
    """<motor name="m0" joint="shoulder" gear="4"/><motor name="m1" joint="elbow" gear="-2"/>"""
)
SERVOS = """<position name="p0" joint="shoulder" kp="30" kv="2" ctrlrange="-2 2"/>
<velocity name="p1" tendon="muscle" kv="4" gear="3"/>"""
GOAL = np.array([0.4, -0.7])


def arm(actuators):
    pytest.importorskip("mujoco")
    return kt.load(ARM.format(actuators)).without("contacts")


def cost(t, q, v, tau, pose):
    return 5.0 * (q - GOAL) @ (q - GOAL) + 0.1 * v @ v + 1e-2 * tau @ tau


def final(q, v, pose):
    return 50.0 * (q - GOAL) @ (q - GOAL) + 5.0 * v @ v


def test_motors_with_gears_move_the_robot_as_their_joint_forces_do():
    robot = arm(MOTORS)
    how = {"steps": 40, "dt": 0.01, "lower": -np.inf, "upper": np.inf}
    forces = robot.optimal_control(cost, final, **how).solve(np.zeros(2), np.zeros(2))
    found = robot.optimal_control(cost, final, actuated="actuators", **how)
    found = found.solve(np.zeros(2), np.zeros(2))
    assert found.converged, found.message
    assert found.value == pytest.approx(forces.value, rel=1e-9)
    np.testing.assert_allclose(found.u * [4.0, -2.0], forces.u, atol=1e-4)


def test_the_linear_model_is_that_of_differences():
    robot = arm(SERVOS)
    problem = robot.optimal_control(cost, final, steps=1, dt=0.01, actuated="actuators")
    rng = np.random.default_rng(0)
    x, u = 0.5 * rng.standard_normal((2, 2)), 0.3 * rng.standard_normal(2)

    def after(z):
        q, v = problem.roll(z[:2], z[2:4], z[None, 4:])
        return np.concatenate([q[1], v[1]])

    z, h = np.concatenate([*x, u]), 1e-6
    W = np.stack([(after(z + h * e) - after(z - h * e)) / (2 * h) for e in np.eye(6)], axis=-1)
    q, v = problem.roll(*x, u[None])
    np.testing.assert_allclose(problem.linearized(q, v, u[None])[0], W, atol=1e-8)


def test_no_change_of_servos_controls_lowers_the_cost_at_the_optimum():
    robot = arm(SERVOS)
    problem = robot.optimal_control(cost, final, steps=40, dt=0.01, actuated="actuators")
    found = problem.solve(np.zeros(2), np.zeros(2))
    assert found.converged, found.message
    assert np.abs(found.u[:, 0]).max() <= 2.0  # the range of the first servo's control
    np.testing.assert_allclose(
        problem.forces(found.q[:-1], found.v[:-1], found.u),
        robot.actuation.forces(found.q[:-1], found.v[:-1], None, found.u),
    )
    rng = np.random.default_rng(1)
    for _ in range(20):
        u = np.clip(
            found.u + 1e-3 * rng.standard_normal(found.u.shape), problem.lower, problem.upper
        )
        q, v = problem.roll(np.zeros(2), np.zeros(2), u)
        assert problem.costs(q, v, u) >= found.value


def test_the_motion_is_that_of_steps_under_the_same_controls():
    robot = arm(SERVOS)
    problem = robot.optimal_control(cost, final, steps=40, dt=0.01, actuated="actuators")
    found = problem.solve(np.zeros(2), np.zeros(2))
    q, v = np.zeros((2, 2))
    for k, u in enumerate(found.u):
        tau = robot.actuation.forces(q, v, None, u)
        q, v = robot.step(q, v, tau, 0.01, method="euler")
        np.testing.assert_allclose(q, found.q[k + 1], atol=1e-10)


@pytest.mark.parametrize("method", ["ilqr", "mppi"])
def test_model_predictive_control_plans_controls_of_servos(method):
    robot = arm(SERVOS)
    problem = robot.optimal_control(cost, final, steps=25, dt=0.02, actuated="actuators")
    options = {} if method == "ilqr" else {"samples": 64, "noise": 0.3}
    run = problem.mpc(method=method, **options).run(np.zeros(2), np.zeros(2), 1.0)
    assert np.abs(run.q[-1] - GOAL).max() < (0.1 if method == "ilqr" else 0.3)


def test_a_robot_that_stands_plans_its_servos():
    pytest.importorskip("mujoco")
    legs = kt.load(
        """<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 0.5">
        <joint name="up" type="slide" axis="0 0 1"/><geom size="0.1" mass="4"/>
        <body pos="0 0 -0.3"><joint name="leg" type="slide" axis="0 0 1" damping="5"/>
        <geom size="0.1" mass="1"/></body></body></worldbody>
        <actuator><position name="servo" joint="leg" kp="800"/></actuator></mujoco>"""
    )
    problem = legs.optimal_control(
        lambda t, q, v, tau, pose, force: [3.0 * (q[0] - 0.05), 1e-3 * tau[1]],
        steps=30,
        dt=0.01,
        actuated="actuators",
    )
    found = problem.solve([-0.1, 0.0], [0.0, 0.0])
    assert found.converged, found.message
    assert abs(found.q[-1, 0] - 0.05) < 0.03
    load = sum(found.forces().values())[:, 2]
    assert load.max() > 49.0  # the ground carries the weight, and pushes


@pytest.mark.parametrize(
    ("robot", "actuated", "message"),
    [
        (lambda: kt.robots.arm(), "actuators", "has none"),
        (lambda: arm(MOTORS), "motors", "'actuators' are expected"),
        (lambda: arm("<intvelocity joint='elbow' actrange='-1 1'/>"), "actuators", "an activation"),
    ],
)
def test_what_cannot_be_planned_is_said(robot, actuated, message):
    with pytest.raises(KinetreeError, match=message):
        robot().optimal_control(cost, final, steps=10, dt=0.01, actuated=actuated)


def test_bounds_belong_to_controls():
    robot = arm(MOTORS)
    with pytest.raises(ShapeError, match=r"\(2,\) is expected"):
        robot.optimal_control(
            cost, final, steps=10, dt=0.01, actuated="actuators", lower=np.zeros(3)
        )


def test_the_linear_model_of_a_floating_robot_is_that_of_differences():
    pytest.importorskip("mujoco")
    robot = kt.load(
        """<mujoco><worldbody><body><freejoint/><geom size="0.1" mass="2"/><body pos="0.1 0 0">
        <joint name="j" axis="0 1 0"/><geom size="0.05" pos="0.2 0 0" mass="1"/></body></body>
        </worldbody><actuator><position joint="j" kp="20" kv="1"/></actuator></mujoco>"""
    ).without("contacts")
    problem = robot.optimal_control(
        lambda t, q, v, tau, pose: tau @ tau, steps=1, dt=0.01, actuated="actuators"
    )
    q0, v0 = robot.random(0), np.random.default_rng(1).standard_normal(7)
    u0, h = np.array([0.4]), 1e-6
    end = problem.roll(q0, v0, u0[None])

    def after(z):
        q, v = problem.roll(robot.integrate(q0, z[:7]), v0 + z[7:14], u0[None] + z[14:])
        return np.concatenate([robot.difference(end[0][1], q[1]), v[1]])

    W = np.stack([(after(h * e) - after(-h * e)) / (2 * h) for e in np.eye(15)], axis=-1)
    np.testing.assert_allclose(problem.linearized(*end, u0[None])[0], W, atol=1e-7)
