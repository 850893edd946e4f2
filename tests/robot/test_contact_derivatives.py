"""Derivatives of a step with contact: beside differences, beside MuJoCo's, and where laws bend."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.geometry import Box, Capsule, Collider, ContactPair, Cylinder, Plane, Sphere

DT = 0.002


def differences(robot, q, v, tau, eps, **how):
    """A and B side by side, by central differences: all directions as one batch."""
    n = robot.nv
    steps = np.concatenate([eps * np.eye(3 * n), -eps * np.eye(3 * n)])
    dq, dv, dtau = np.split(steps, 3, axis=-1)
    q1, _ = robot.step(q, v, tau, DT, **how)
    ends, speeds = robot.step(robot.integrate(q, dq), v + dv, tau + dtau, DT, **how)
    moved = np.concatenate([robot.difference(q1, ends), speeds], axis=-1)
    return (moved[: 3 * n] - moved[3 * n :]).T / (2 * eps)


def check(robot, states, **how):
    """Compare smooth states; a state is one if differences of two sizes agree."""
    q, v, tau = states
    A, B = robot.linearize(q, v, tau, DT, **how)
    found = np.concatenate([A, B], axis=-1)
    assert np.isfinite(found).all()
    smooth = 0
    for state, own in zip(zip(*states, strict=True), found, strict=True):
        fine, coarse = (differences(robot, *state, eps, **how) for eps in (1e-6, 4e-6))
        size = 1 + np.abs(fine).max(axis=0)
        if (np.abs(fine - coarse) / size).max() < 1e-6:
            smooth += 1
            assert (np.abs(own - fine) / size).max() < 1e-6
    return smooth


def figure():
    """A floating body with two limbs, on a plane; the limbs touch each other and the body."""
    robot = kt.Assembly("figure", "trunk", mass=2.0, inertia=(0.02, 0.03, 0.04))
    drive = kt.Drive(damping=0.4, stiffness=3.0, friction=0.1, armature=0.01)
    limb = {"mass": 0.5, "com": (0.0, 0.0, -0.1), "inertia": (0.004, 0.005, 0.001)}
    hinge = kt.joints.Revolute((0.0, 0.6, 0.8))
    robot.add("left", "trunk", hinge, (0.05, 0.08, -0.05), drive=drive, limits=(-0.3, 0.3), **limb)
    ball = kt.joints.ExponentialBall()
    robot.add("right", "trunk", ball, (0.05, -0.08, -0.05), **limb)
    shapes = [
        Collider("floor", None, Plane()),
        Collider("trunk", "trunk", Box((0.1, 0.06, 0.04))),
        Collider("left", "left", Capsule(0.05, 0.08), (0.0, 0.0, -0.1)),
        Collider("right", "right", Capsule(0.06, 0.08), (0.0, 0.03, -0.1)),
        Collider("heel", "right", Cylinder(0.05, 0.03), (0.0, 0.0, -0.2)),
        Collider("toe", "left", Sphere(0.05), (0.02, 0.0, -0.2)),
    ]
    pairs = [
        ContactPair("floor", "trunk", friction=0.6),
        ContactPair("floor", "left", condim=6, friction=(0.7, 0.02, 0.03)),
        ContactPair("floor", "heel", condim=4, friction=(0.5, 0.02, 0.0)),
        ContactPair("left", "right", friction=0.4, solreffriction=(0.03, 1.0)),
        ContactPair("toe", "heel", condim=1),
        ContactPair("toe", "trunk", friction=0.5),
    ]
    return robot.robot("floating").collide(*shapes, *pairs)


def states_of(robot, count, height, seed):
    rng = np.random.default_rng(seed)
    q = np.tile(robot.neutral(), (count, 1))
    q[:, 2] = height
    q = robot.integrate(q, 0.15 * rng.normal(size=(count, robot.nv)))
    v, tau = rng.normal(size=(2, count, robot.nv))
    return q, 0.3 * v, tau


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_limbs_that_touch_the_ground_and_each_other(cone):
    robot = figure()
    states = states_of(robot, 12, 0.24, 3)
    how = {"contact": kt.ContactSolver(cone=cone)}
    touching = robot.distances(states[0]) < 0.0
    assert touching[:, :-1].any(axis=0).sum() > 6
    assert check(robot, states, **how) >= 6


def ball(**pair):
    robot = kt.Assembly("ball", "ball", mass=1.0, inertia=(0.004,) * 3).robot("floating")
    return robot.collide(
        Collider("floor", None, Plane()),
        Collider("ball", "ball", Sphere(0.1)),
        ContactPair("floor", "ball", **pair),
    )


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_derivatives_are_finite_where_laws_bend(cone):
    robot = ball(condim=6, friction=(0.8, 0.02, 0.01))
    q = np.tile(robot.neutral(), (4, 1))
    q[:, 2] = 0.1, 0.1 - 1e-12, 0.09, 0.1 + 1e-12  # at distance zero, without slip
    A, B = robot.linearize(q, *np.zeros((2, 4, 6)), DT, contact=kt.ContactSolver(cone=cone))
    assert np.isfinite(A).all()
    assert np.isfinite(B).all()


@pytest.mark.parametrize("method", ["euler", "implicit-damping", "implicit-springs"])
def test_a_ball_that_rolls_and_one_that_flies(method):
    robot = ball(friction=0.6)
    states = states_of(robot, 8, 0.09, 0)
    states[0][:4, 2], states[0][4:, 2] = 0.095, 0.3
    assert check(robot, states, method=method) >= 6
    flying = tuple(x[4:] for x in states)
    free = robot.without("contacts").linearize(*flying, DT, method=method)
    for ours, theirs in zip(robot.linearize(*flying, DT, method=method), free, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-12)
