"""Paths timed as fast as limits allow."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.motion.splines import through_derivatives

ARM = kt.robots.arm()


def wave(count=60, size=0.5):
    u = np.linspace(0.0, 1.0, count)[:, None]
    turns = np.array([1.0, 2.0, 1.5, 1.0, 2.0, 1.0, 3.0])
    return 0.3 + size * np.sin(2.0 * np.pi * u * turns) * (1.0 + 0.2 * u)


def used(robot, motion, count=4001):
    """The share of their limits that a motion uses: of efforts and of velocities, (T, 2)."""
    q, v, a = motion.at(np.linspace(motion.start, motion.times[-1], count))
    shares = robot.inverse_dynamics(q, v, a) / robot.limits.effort, v / robot.limits.velocity
    return np.stack([np.abs(x).max(axis=-1) for x in shares], axis=-1)


def test_a_straight_line_has_the_trapezoid_of_its_limits():
    """Accelerate at a, run at v, brake: L / v + v / a."""
    slider = kt.robots.cart_pole().edit.lock({"hinge": 0.0})
    v, a, length = 0.5, 2.0, 1.0
    motion = slider.time_path(
        np.linspace([0.0], [length], 5), velocity=v, acceleration=a, effort=np.inf, points=801
    )
    assert abs(motion.duration - (length / v + v / a)) < 2e-3
    assert np.abs(motion.at(motion.times).v).max() <= v * (1.0 + 1e-6)
    assert np.allclose(motion.q[[0, -1], 0], [0.0, length])
    assert np.abs(motion.v[[0, -1]]).max() == 0.0


def test_limits_are_kept_everywhere_and_one_is_always_reached():
    motion = ARM.time_path(wave())
    shares = used(ARM, motion)
    assert shares.max() <= 1.0 + 1e-5
    assert np.median(shares.max(axis=-1)) > 0.99
    by_force = ARM.time_path(wave(), velocity=np.inf)
    assert by_force.duration < motion.duration
    shares = used(ARM, by_force)[:, 0]
    assert shares.max() <= 1.0 + 1e-5
    assert np.median(shares) > 0.99


def test_the_motion_follows_its_waypoints():
    points = wave(30)
    motion = ARM.time_path(points, points=30 * 20 - 19)
    away = np.linalg.norm(motion.q[:, None] - points, axis=-1).min(axis=0)
    assert away.max() < 0.05
    assert np.allclose(motion.q[[0, -1]], points[[0, -1]])


def test_damping_and_dry_friction_count():
    dragged = kt.load(kt.robots.file("arm"))
    motion = dragged.time_path(wave()[:, : dragged.nq])
    assert used(dragged, motion)[:, 0].max() <= 1.0 + 1e-5


def test_a_motion_is_timed_anew():
    slow = kt.Motion(ARM, np.linspace(0.0, 60.0, 60), wave())
    fast = ARM.time_path(slow)
    assert fast.duration < 0.5 * slow.duration


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"effort": 0.5}, r"effort of .* to hold the robot at .* of the path"),
        ({"velocity": 0.0}, "limits above 0"),
        ({"acceleration": [1.0, 2.0]}, "a number or"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused_by_name(settings, words):
    with pytest.raises(kt.errors.KinetreeError, match=words):
        ARM.time_path(wave(), **settings)


def test_what_is_checked_between_grid_points_is_the_motion_that_is_given():
    from kinetree.motion import path_timing

    wheel = kt.Assembly("wheel")
    wheel.add("wheel", "base", kt.joints.Revolute("z"), inertia=(1.0, 1.0, 1.0), mass=1.0)
    for robot, points in (
        (ARM, wave(400)),
        (wheel.robot(), np.linspace([0.0], [20.0], 400) ** 1.1),
    ):
        motion = robot.time_path(points, velocity=3.0, acceleration=2.0)
        given = kt.Motion(robot, motion.times, motion.q, motion.v)
        path = type("Path", (), {"robot": robot, "q": motion.q})
        checked = path_timing._between(path, motion.times, motion.v)
        times = motion.times[:-1] + path_timing.BETWEEN[:, None] * np.diff(motion.times)
        for one, other in zip(checked, given.at(times), strict=True):
            assert np.abs(one - other).max() < 1e-8 * max(np.abs(other).max(), 1.0)


def test_a_path_may_be_a_motion_that_starts_and_ends_at_rest():
    t = np.linspace(0.0, 1.0, 11)[:, None]
    start, way = ARM.neutral(), np.full(ARM.nv, 0.5)
    path = kt.Motion(ARM, t[:, 0], start + (3 * t**2 - 2 * t**3) * way, (6 * t - 6 * t**2) * way)
    motion = ARM.time_path(path, velocity=1.0, effort=np.inf)
    assert motion.duration == pytest.approx(0.5, rel=1e-3)


def test_a_path_that_nothing_limits_is_refused():
    with pytest.raises(kt.errors.KinetreeError, match="nothing limits the speed"):
        ARM.time_path(wave(), velocity=np.inf, effort=np.inf)


def test_a_path_beyond_the_range_of_a_ball_joint_is_refused():
    limb = kt.Assembly("limb", "base")
    limits = kt.Limits(ball=kt.BallRange(0.5), effort=50.0)
    inertia = {"mass": 1.0, "com": (0.0, 0.0, -0.2), "inertia": (0.03, 0.02, 0.01)}
    limb.add("limb", "base", kt.joints.Ball(), limits=limits, name="hip", **inertia)
    robot, angle = limb.robot(), np.linspace(0.0, 0.6, 7)
    points = np.stack([np.sin(angle / 2), 0 * angle, 0 * angle, np.cos(angle / 2)], axis=1)
    assert robot.time_path(points[:5], velocity=1.0).duration > 0.4
    with pytest.raises(kt.errors.KinetreeError, match=r"joint 'hip' is 0.1 beyond its limit"):
        robot.time_path(points, velocity=1.0)


def test_paths_that_make_no_sense_are_refused():
    with pytest.raises(kt.errors.KinetreeError, match="waypoints 1 and 2 are the same"):
        ARM.time_path(np.array([0.0, 0.1, 0.1])[:, None] * np.ones(7))
    with pytest.raises(kt.errors.KinetreeError, match=r"joint '.*' is .* beyond its limit at 100"):
        ARM.time_path(np.linspace(np.zeros(7), np.full(7, 9.0), 5))
    with pytest.raises(kt.errors.ShapeError, match="waypoints"):
        ARM.time_path(np.zeros((3, 2)))


@pytest.mark.parametrize("order", [2, 3])
def test_a_polynomial_through_derivatives_is_that_of_scipy(order):
    from scipy.interpolate import BPoly

    rng = np.random.default_rng(0)
    x = np.cumsum(rng.uniform(0.1, 1.0, 6))
    values = rng.standard_normal((6, order, 2))
    t = np.linspace(x[0], x[-1], 50)
    ours, theirs = through_derivatives(x, values), BPoly.from_derivatives(x, values)
    for d in range(3):
        assert np.allclose(ours(t, d), theirs(t, d), atol=1e-9)
