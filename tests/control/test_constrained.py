"""Controllers and inverse kinematics of robots with loops."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError


@pytest.fixture(scope="module")
def linkage():
    robot = kt.robots.four_bar()
    q = robot.neutral()
    return robot, q, robot.constraints.assemble(q + np.array([0.8, 0.0, 0.0]), held="crank_joint")


@pytest.mark.parametrize("make", [kt.control.pd, kt.control.computed_torque])
def test_a_closed_linkage_is_led_to_its_target(linkage, make):
    robot, q, target = linkage
    assert np.abs(target - q).max() > 0.5
    run = robot.simulate(q, np.zeros(3), make(robot, target=target), time=4.0, dt=2e-3)
    assert np.abs(run.q[-1] - target).max() < 1e-6
    assert np.abs(robot.constraints.errors(run.q)).max() < 1e-10


def test_one_motor_leads_a_linkage_whose_other_joints_are_passive(linkage):
    robot, q, target = linkage
    motor = ["crank_joint"]
    moving = robot.constraints.project_velocity(q, [1.0, 0.0, 0.0])
    weights = {"Q": [100.0] * 3 + [1.0] * 3, "R": 0.1}
    laws = [
        kt.control.pd(robot, target=target, actuated=motor),
        kt.control.computed_torque(robot, target=target, actuated=motor),
        kt.control.lqr(robot, target, actuated=[True, False, False], **weights),
    ]
    for law in laws:
        run = robot.simulate(q, moving, law, time=4.0, dt=2e-3)
        assert np.abs(run.q[-1] - target).max() < 1e-6
        assert np.abs(run.tau[:, 1:]).max() == 0.0


def test_motors_that_cannot_hold_a_target_are_refused_by_name():
    leg = kt.robots.parallel_ankle()
    bent = leg.constraints.assemble([-0.5, 1.0, 0.0, 0.0, -0.6, -0.3])
    with pytest.raises(KinetreeError, match="motors at 'left_motor' and the constraints do not"):
        kt.control.lqr(leg, bent, actuated=np.array(leg.labels.v) == "left_motor")
    with pytest.raises(KinetreeError, match="'arm' has no constraints, and without them joints"):
        kt.control.computed_torque(kt.robots.arm(), actuated=["joint1"])
    with pytest.raises(KinetreeError, match="no moving joint 'toe'"):
        kt.control.pd(leg, actuated=["toe"])


def test_inverse_kinematics_closes_the_loops():
    robot = kt.robots.parallel_ankle()
    rng = np.random.default_rng(0)
    start = 0.3 * rng.standard_normal((20, robot.nq)) * [0.5, 0.0, 1.0, 1.0, 1.0, 1.0]
    start[:, 1] = rng.uniform(0.2, 1.0, 20)
    q = robot.constraints.assemble(start)
    targets = robot.pose(q, "foot")
    found = kt.control.InverseKinematics(robot, "foot").solve(targets)
    assert found.success.all()
    assert np.abs(robot.pose(found.q, "foot") - targets).max() < 1e-7
    assert np.abs(robot.constraints.errors(found.q)).max() < 1e-7


def test_dependent_rows_do_not_stop_inverse_kinematics(linkage):
    robot, q, target = linkage
    solver = kt.control.InverseKinematics(robot, "coupler", orientation=False)
    goal = robot.pose(target, "coupler")[:3, 3]
    found = solver.solve(goal, start=q)
    assert found.success
    assert np.abs(robot.constraints.errors(found.q)).max() < 1e-8
    out_of_reach = solver.solve(goal + np.array([0.0, 0.0, 0.05]), start=q, restarts=2)
    assert not out_of_reach.success
