"""Exciting motions: within limits, at rest at both ends, and better than a guess."""

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, UnknownNameError
from kinetree.identify import exciting_motion
from kinetree.identify.curves import CURVES
from kinetree.identify.excite import _Search

ARM = kt.robots.arm()
QUICK = {"iterations": 8, "samples": 50}


def limited(robot, **limits):
    bodies = [replace(b, limits=replace(b.limits, **limits)) for b in robot.model.bodies]
    return kt.Robot(replace(robot.model, bodies=tuple(bodies)))


@pytest.mark.slow
@pytest.mark.parametrize("curve", ["fourier", "spline"])
def test_a_motion_stays_within_limits_and_starts_and_ends_at_rest(curve):
    motion = exciting_motion(ARM, curve=curve, **QUICK)
    q, v, a = motion(np.linspace(0.0, motion.duration, 2001))
    limits = ARM.limits
    assert (q > limits.lower).all()
    assert (q < limits.upper).all()
    assert (np.abs(v) < limits.velocity).all()
    assert (np.abs(ARM.inverse_dynamics(q, v, a)) < limits.effort).all()
    for end in (0, -1):
        assert np.allclose(v[end], 0.0, atol=1e-9)
        assert np.allclose(a[end], 0.0, atol=1e-9)


@pytest.mark.parametrize("curve", ["fourier", "spline"])
@pytest.mark.parametrize("criterion", ["determinant", "condition"])
def test_it_shows_parameters_better_than_where_the_search_starts(criterion, curve):
    robot = kt.robots.double_pendulum()
    motion = exciting_motion(robot, criterion=criterion, curve=curve, **QUICK)
    search = _Search(robot, CURVES[curve](10.0, 5), ("damping", "friction"), criterion, {}, 50)
    start = search.start(np.random.default_rng(0))
    both = (search._coefficients(start), motion.coefficients)
    first, last = (search._information(search._motion(c))[0] for c in both)
    assert last < first
    assert motion.condition < 10.0


@pytest.mark.parametrize("curve", ["fourier", "spline"])
@pytest.mark.parametrize("criterion", ["determinant", "condition"])
def test_its_gradient_is_that_of_differences(criterion, curve):
    robot = limited(kt.robots.double_pendulum(), effort=5.0)
    box = {"lower": ((-1.0, -1.0, -1.5), (1.0, 1.0, 0.2))}
    search = _Search(robot, CURVES[curve](10.0, 3), ("damping",), criterion, box, 30)
    x = 2.0 * search.start(np.random.default_rng(1))
    _, gradient = search.goal(x, 10.0)
    h = 1e-6
    ends = [(x + h * e, x - h * e) for e in np.eye(len(x))]
    steps = [search.goal(up, 10.0)[0] - search.goal(down, 10.0)[0] for up, down in ends]
    assert np.allclose(gradient, np.array(steps) / (2 * h), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_frames_stay_in_their_box():
    box = {"tool": ((-np.inf, -np.inf, 0.3), (np.inf, np.inf, np.inf))}
    motion = exciting_motion(ARM, workspace=box, iterations=20, samples=60)
    heights = ARM.pose(motion(np.linspace(0, 10, 60, endpoint=False))[0], "tool")[:, 2, 3]
    assert (heights >= 0.3).all()


def test_what_cannot_be_is_said():
    with pytest.raises(KinetreeError, match="is free, so no drive can make it follow"):
        exciting_motion(kt.robots.quadruped())
    with pytest.raises(UnknownNameError, match="criterion"):
        exciting_motion(ARM, criterion="luck")
    with pytest.raises(UnknownNameError, match="curve"):
        exciting_motion(ARM, curve="line")
    for duration in (-1.0, 0.0, np.nan, np.inf, "long"):
        with pytest.raises(KinetreeError, match="duration must be"):
            exciting_motion(kt.robots.arm(), duration)
    with pytest.raises(KinetreeError, match="samples must be a whole number of at least 1"):
        exciting_motion(kt.robots.arm(), samples=0)
    with pytest.raises(KinetreeError, match="harmonics must be a whole number of at least 2"):
        exciting_motion(ARM, harmonics=1)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('velocity="2.2"', 'velocity="0"', "velocity limit of joint 'joint4' is 0"),
        ('effort="180"', 'effort="0"', "effort limit of joint 'joint1' is 0"),
    ],
)
def test_limits_of_zero_are_refused_by_the_joints_name(tmp_path, old, new, words):
    kt.robots.arm().save(tmp_path / "arm.urdf")
    text = (tmp_path / "arm.urdf").read_text()
    assert old in text
    (tmp_path / "zero.urdf").write_text(text.replace(old, new))
    with pytest.raises(KinetreeError, match=words):
        exciting_motion(kt.load(tmp_path / "zero.urdf"))


@pytest.mark.parametrize("curve", CURVES)
def test_rates_are_those_of_the_curve_and_it_is_periodic(curve):
    basis = CURVES[curve](3.0, 4).basis
    t, h = np.linspace(0.1, 2.9, 30), 1e-6
    N, dN, ddN = basis(t)
    assert np.allclose((basis(t + h)[0] - basis(t - h)[0]) / (2 * h), dN, atol=1e-6)
    assert np.allclose((basis(t + h)[1] - basis(t - h)[1]) / (2 * h), ddN, atol=1e-5)
    assert np.allclose(basis(t + 3.0)[0], N, atol=1e-9)
