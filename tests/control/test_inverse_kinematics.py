"""Inverse kinematics of batches."""

import sys

import numpy as np
import pytest

import kinetree as kt

ARM = kt.robots.arm()


def test_reachable_targets_are_reached_within_the_limits():
    solver = kt.control.InverseKinematics(ARM, "tool")
    targets = ARM.pose(ARM.random(1, batch=2000), "tool")
    found = solver.solve(targets)
    assert found.success.mean() > 0.995
    q = found.q[found.success]
    assert np.abs(ARM.pose(q, "tool") - targets[found.success]).max() < 3e-8
    assert (q >= ARM.limits.lower).all()
    assert (q <= ARM.limits.upper).all()


@pytest.mark.skipif(sys.platform == "win32", reason="example-robot-data is not there")
def test_panda_reaches_ten_thousand_targets():
    from tests.peers.pinocchio_oracle import ROBOTS

    fingers = dict.fromkeys(("panda_finger_joint1", "panda_finger_joint2"), 0.0)
    panda = kt.load(ROBOTS / "panda_description/urdf/panda.urdf", locked=fingers)
    targets = panda.pose(panda.random(1, batch=10_000), "panda_hand")
    found = kt.control.InverseKinematics(panda, "panda_hand").solve(targets)
    assert found.success.mean() > 0.995
    assert found.error[found.success].max() <= 1e-8


def test_the_null_space_leads_to_the_posture():
    goal = np.full(7, 0.4)
    target, start = ARM.pose(goal, "tool"), goal + 0.2
    ends = []
    for gain in (0.0, 0.2):
        solver = kt.control.InverseKinematics(ARM, "tool", null_space=gain)
        found = solver.solve(target, start, posture=goal, tolerance=1e-7, iterations=200)
        assert found.success
        ends.append(np.abs(found.q - goal).max())
    assert ends[1] < ends[0]


def test_a_position_leaves_the_orientation_free():
    solver = kt.control.InverseKinematics(ARM, "tool", orientation=False)
    targets = ARM.pose(ARM.random(2, batch=(3, 4)), "tool")[..., :3, 3]
    found = solver.solve(targets)
    assert found.q.shape == (3, 4, 7)
    assert found.success.all()
    assert np.abs(ARM.pose(found.q, "tool")[..., :3, 3] - targets).max() < 1e-7


def test_what_is_out_of_reach_is_no_success_and_the_best_is_given():
    solver = kt.control.InverseKinematics(ARM, "tool", orientation=False)
    found = solver.solve([5.0, 0.0, 0.3], restarts=2)
    assert not found.success
    assert 3.0 < found.error < 5.0
    assert found.tries == 3


def test_targets_of_another_shape_are_refused():
    with pytest.raises(kt.errors.ShapeError, match=r"\(\.\.\., 7\)"):
        kt.control.InverseKinematics(ARM, "tool").solve(np.zeros(5))
