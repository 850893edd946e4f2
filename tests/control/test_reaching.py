"""Inverse kinematics that keeps shapes apart, of several frames, and of the centre of mass."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control.reaching import Task
from kinetree.geometry import Box, Capsule, Collider, ContactPair, Sphere
from tests import host_cupy

CLEARANCE = 0.005


@pytest.fixture(scope="module")
def arm():
    """The built-in arm before a wall, above a table, with a ball at its tool."""
    return kt.robots.arm().collide(
        Collider("tip", "tool", Sphere(0.03)),
        Collider("elbow", "link4", Capsule(0.05, 0.08)),
        Collider("table", None, Box((0.6, 0.6, 0.05)), (0.0, 0.0, -0.3)),
        Collider("wall", None, Box((0.05, 1.0, 1.0)), (0.45, 0.0, 0.3)),
        Collider("post", None, Sphere(0.1), (-0.3, 0.3, 0.4)),
        *(ContactPair(a, b) for a in ("table", "wall", "post") for b in ("tip", "elbow")),
    )


@pytest.fixture(scope="module")
def solver(arm):
    return kt.control.InverseKinematics(arm, "tool", clearance=CLEARANCE)


def reachable(arm, count, seed=5):
    q = arm.random(seed, batch=20 * count)
    return arm.pose(q[arm.distances(q).min(axis=-1) > CLEARANCE][:count], "tool")


def test_solutions_reach_their_targets_within_limits_and_apart_from_everything(arm, solver):
    targets = reachable(arm, 300)
    found = solver.solve(targets, tolerance=1e-7)
    assert found.success.mean() >= 0.99
    q = found.q[found.success]
    assert np.abs(arm.pose(q, "tool") - targets[found.success]).max() < 3e-7
    assert arm.distances(q).min() >= CLEARANCE
    assert (found.distance[found.success] >= CLEARANCE).all()
    assert (q >= arm.limits.lower).all()
    assert (q <= arm.limits.upper).all()
    assert (found.violated[found.success] == -1).all()
    free = kt.control.InverseKinematics(arm, "tool").solve(targets, tolerance=1e-7)
    assert (arm.distances(free.q).min(axis=-1) < CLEARANCE).any()  # it was needed


def test_a_goal_in_collision_is_named_and_no_try_is_made(solver):
    found = solver.solve([0.45, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0])
    assert not found.success
    assert found.tries == 0
    assert solver.demands[found.violated] == "distance of 'wall/tip'"
    assert "in collision by itself" in found.message
    assert "wall/tip" in found.message


def test_what_is_out_of_reach_names_the_frame(solver):
    found = solver.solve([[-5.0, 0.0, 0.3]] * 2, restarts=1)
    assert not found.success.any()
    assert found.message.startswith("0 of 2 targets are reached: target 0 was not reached")
    assert "position of frame 'tool' is off by" in found.message


def test_a_clearance_that_nothing_keeps_is_refused_with_the_pair(arm):
    with pytest.raises(kt.errors.KinetreeError, match=r"clearance=3: .* is nowhere more than"):
        kt.control.InverseKinematics(arm, "tool", False, clearance=3.0).solve([0.1, 0.2, 0.3])


def test_a_solution_is_converged_only_if_nothing_is_violated(arm, solver):
    rng = np.random.default_rng(3)
    targets = reachable(arm, 200)
    targets[:, :3, 3] += 0.05 * rng.standard_normal((200, 3))  # some of them in the wall
    found = solver.solve(targets, restarts=3)
    good = found.success
    assert 0.1 < good.mean() < 1.0
    assert arm.distances(found.q[good]).min() >= CLEARANCE
    assert np.abs(arm.pose(found.q[good], "tool") - targets[good]).max() < 3e-8


def test_several_frames_and_the_center_of_mass_are_reached_together():
    robot = kt.robots.quadruped()
    feet = [name for name in robot.frames if name.endswith("_foot")]
    solver = kt.control.InverseKinematics(robot, feet, orientation=False, center_of_mass=True)
    rng, bent = np.random.default_rng(0), robot.neutral()
    bent[7:] = np.tile([0.0, 0.6, -1.2], 4)
    q = robot.integrate(bent, 0.2 * rng.standard_normal((10, robot.nv)))
    targets = {foot: robot.pose(q, foot)[:, :3, 3] for foot in feet}
    center = robot.center_of_mass(q)
    found = solver.solve(targets, bent, center_of_mass=center)
    assert found.success.all(), found.message
    for foot in feet:
        assert np.abs(robot.pose(found.q, foot)[:, :3, 3] - targets[foot]).max() < 1e-7
    assert np.abs(robot.center_of_mass(found.q) - center).max() < 1e-7


def test_targets_that_do_not_fit_the_solver_are_refused(arm):
    two = kt.control.InverseKinematics(arm, ["tool", "link4"], [True, False])
    with pytest.raises(kt.errors.KinetreeError, match="frame 'link4' has none"):
        two.solve({"tool": [0.1, 0.2, 0.3]})
    with pytest.raises(kt.errors.KinetreeError, match="has no target 'hand'"):
        two.solve({"tool": [0.1, 0.2, 0.3], "link4": [0.1, 0.2, 0.3], "hand": [0.0, 0.0, 0.0]})
    with pytest.raises(kt.errors.KinetreeError, match="center_of_mass"):
        two.solve({"tool": [0.1] * 3, "link4": [0.1] * 3}, center_of_mass=[0.0, 0.0, 0.0])
    with pytest.raises(kt.errors.KinetreeError, match="named twice"):
        kt.control.InverseKinematics(arm, ["tool", "tool"])
    mirrored, skewed = np.diag([1.0, 1.0, -1.0, 1.0]), np.diag([1.0, 1.0, 2.0, 1.0])
    for wrong in (mirrored, skewed):
        with pytest.raises(kt.errors.StateError, match="no rotation"):
            kt.control.InverseKinematics(arm, "tool").solve(wrong)


def test_the_gradient_of_avoidance_is_that_of_the_distances(arm):
    from kinetree.algorithms.contact.avoidance import Avoidance, Terms

    def slopes(model, q):
        n, far = model.nv, 1e3
        blank = Terms([[0.0] * (i + 1) for i in range(n)], [0.0] * n, far)
        return Avoidance(model).added(q, far, blank).g

    q, h = arm.random(4), 1e-6
    g = arm.custom_kernel(slopes, {"q": arm.nq})(q)
    columns = [k for k, name in enumerate(arm.contact.touch_names) if not name.endswith(".2")]

    def value(x):
        return 0.5 * ((1e3 - arm.distances(x)[columns]) ** 2).sum()

    by_differences = [(value(q - h * e) - value(q + h * e)) / (2 * h) for e in np.eye(arm.nq)]
    assert np.allclose(g, by_differences, rtol=1e-5, atol=1e-2)


@pytest.mark.skipif(host_cupy.COMPILER is None, reason="no C++ compiler")
def test_arrays_of_a_gpu_give_what_numpys_give(monkeypatch, tmp_path):
    cp = host_cupy.installed(monkeypatch, tmp_path)
    chain = kt.robots.chain(3)
    tip = chain.frames[-1]
    robot = chain.collide(
        Collider("tip", tip, Sphere(0.05)),
        Collider("ball", None, Sphere(0.3), (0.0, 0.0, -1.0)),
        ContactPair("ball", "tip"),
    )
    solver = kt.control.InverseKinematics(robot, tip, orientation=False, clearance=0.0)
    targets = robot.pose(robot.random(1, batch=20), tip)[:, :3, 3]
    found, host = solver.solve(cp.asarray(targets)), solver.solve(targets)
    assert isinstance(found.q, cp.ndarray)
    assert isinstance(found.success, cp.ndarray)
    assert np.allclose(found.q, host.q, atol=1e-6)
    assert (np.asarray(found.success) == host.success).all()
    assert cp.launched


def test_a_task_knows_the_length_of_its_targets():
    assert Task((("a", 6), ("b", 3)), True, False, 0.0).length == 17
