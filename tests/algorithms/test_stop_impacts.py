"""Impacts of joints at their limits."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.steps.limits import clamped

STOP = kt.Enforcement(stops="clamp")


def test_a_stop_is_felt_by_the_other_joints_and_takes_as_little_energy_as_it_can() -> None:
    robot = kt.robots.arm()
    q, v = robot.neutral(), np.linspace(-1.0, 1.0, robot.nv)
    q[-1], v[-1] = robot.limits.upper[-1] + 0.01, 2.0
    moved, after = (np.array(x) for x in clamped(robot.model, q, v, STOP))
    assert moved[-1] == robot.limits.upper[-1]
    assert after[-1] == 0.0
    M = robot.mass_matrix(moved)
    # the nearest velocity in the metric of kinetic energy: only an impulse on the last joint
    push = M @ (after - v)
    assert np.abs(push[:-1]).max() < 1e-12 * abs(push[-1])
    assert push[-1] < 0.0
    assert after @ M @ after < v @ M @ v
    alone = np.concatenate([v[:-1], [0.0]])  # what stopping that joint alone would do
    assert after @ M @ after < alone @ M @ alone


@pytest.mark.parametrize("seed", range(6))
def test_impacts_of_many_joints_never_add_energy_and_push_inwards_alone(seed: int) -> None:
    robot, rng = kt.robots.arm(), np.random.default_rng(seed)
    lower, upper = robot.limits.lower, robot.limits.upper
    q, v = rng.uniform(lower, upper), rng.standard_normal(robot.nv)
    low, high = rng.random((2, robot.nv)) < 0.4
    q = np.where(low, lower - 0.02, np.where(high, upper + 0.02, q))
    sides = np.where(low, 1.0, np.where(high, -1.0, 0.0))
    moved, after = (np.array(x) for x in clamped(robot.model, q, v, STOP))
    M = robot.mass_matrix(moved)
    impulses = M @ (after - v)
    assert after @ M @ after <= v @ M @ v * (1.0 + 1e-12)
    assert (sides * after >= 0.0).all()
    assert (sides * impulses >= -1e-9).all()
    assert np.abs(impulses[sides == 0.0]).max(initial=0.0) < 1e-9
    assert np.abs(impulses * after).max() < 1e-6  # a joint that leaves its limit is not pushed


def test_an_elbow_that_stops_does_not_speed_up_the_arm() -> None:
    """Setting the elbow's velocity to zero alone adds energy here."""
    arm = kt.Assembly("double pendulum")
    limits = {"second": kt.Limits(-0.5, 0.5)}
    for name, parent in (("first", "base"), ("second", "first")):
        at = (0.0, 0.0, 0.0) if parent == "base" else (0.0, 0.0, -1.0)
        arm.add(
            name,
            parent,
            kt.joints.Revolute("x"),
            at,
            (1e-3, 1e-3, 1e-3),
            mass=1.0,
            com=(0.0, 0.0, -1.0),
            limits=limits.get(name, kt.Limits()),
        )
    robot = arm.robot().edit.with_gravity((0.0, 0.0, 0.0))
    q, v = np.array([0.0, 0.4999]), np.array([-1.0, 2.0])
    energy = robot.kinetic_energy(q, v)
    assert robot.kinetic_energy([0.0, 0.5], [-1.0, 0.0]) > energy
    q1, v1 = robot.step(q, v, np.zeros(2), 1e-3, enforcement=STOP)
    assert q1[1] == 0.5
    assert v1[1] == 0.0
    assert robot.kinetic_energy(q1, v1) < energy


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_joint_stops_while_a_ball_joint_is_in_the_middle_of_its_range(kind: type) -> None:
    """There the angle of a ball joint has no slope, so no impulse changes it."""
    arm = kt.Assembly("arm", "base")
    limb = {"mass": 1.0, "com": (0.0, 0.0, -0.2), "inertia": (0.03, 0.02, 0.01)}
    at, hinge = (0.0, 0.0, -0.4), kt.joints.Revolute("y")
    arm.add("upper", "base", hinge, at, limits=kt.Limits(-1.0, 1.0), **limb)
    wrist = kt.Limits(ball=kt.BallRange(1.0))
    arm.add("lower", "upper", kt.joints.ExponentialBall(), at, limits=wrist, **limb)
    q, v = np.array([0.9999, 0.0, 0.0, 0.0], kind), np.array([3.0, 0.0, 0.0, 0.0], kind)
    q1, v1 = arm.robot().step(q, v, 0.0 * v, kind(1e-3), method="euler", enforcement=STOP)
    assert np.isfinite(q1).all()
    assert np.isfinite(v1).all()
    assert q1[0] == 1.0
    assert v1[0] == 0.0
    assert v1[2] > 1.0  # the lower limb goes on
