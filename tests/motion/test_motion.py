"""Sampled motions: interpolated, cut, blended, played at another speed."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, MissingFileError, ShapeError

ARM = kt.robots.arm()
FREE = kt.robots.quadruped()


def swing(robot, duration=1.0, rate=100.0):
    """A smooth motion along a direction of the velocities."""
    way = np.linspace(-0.5, 0.5, robot.nv)
    start = robot.neutral()

    def at(t):
        return robot.integrate(start, np.sin(3.0 * t) * way)

    return kt.Motion.from_function(robot, at, duration, rate)


@pytest.mark.parametrize("robot", [ARM, FREE], ids=lambda robot: robot.name)
def test_velocities_and_accelerations_are_those_of_the_motion(robot):
    motion = swing(robot)
    t, h = 0.4321, 1e-4
    before, state, after = (motion.at(t + k * h) for k in (-1, 0, 1))
    v = robot.difference(before.q, after.q) / (2 * h)
    assert np.abs(v - state.v).max() < 1e-6
    a = (after.v - before.v) / (2 * h)
    assert np.abs(a - state.a).max() < 1e-5


def test_a_motion_with_given_rates_has_them():
    motion = swing(FREE)
    coarse = motion.resampled(20.0)
    middle = coarse.at(coarse.times[3])
    assert np.abs(middle.v - coarse.v[3]).max() < 1e-12
    assert np.abs(middle.a - coarse.a[3]).max() < 1e-9
    assert np.abs(FREE.difference(coarse.at(0.512).q, motion.at(0.512).q)).max() < 1e-5


def test_cutting_and_speed_keep_the_path():
    motion = swing(ARM)
    part = motion.cut(0.25, 0.75)
    assert part.duration == pytest.approx(0.5)
    assert np.allclose(part.at(0.1).q, motion.at(0.35).q, atol=1e-9)
    fast = motion.faster(2.0)
    assert fast.duration == pytest.approx(0.5)
    assert np.allclose(fast.at(0.2).v, 2.0 * motion.at(0.4).v, atol=1e-8)


def test_a_sample_at_a_cut_is_not_taken_twice():
    motion = swing(ARM)
    at = motion.times[30]
    for near in (at - 1e-16, at, at + 1e-15):
        assert (np.diff(motion.cut(0.0, near).times) > 1e-6).all()
        assert (np.diff(motion.cut(near, 1.0).times) > 1e-6).all()


def test_a_blend_starts_as_the_first_and_ends_as_the_second():
    one, two = swing(FREE), swing(FREE).faster(0.5)
    both = one.blend(two, 0.4)
    assert both.duration == pytest.approx(1.0 - 0.4 + 2.0)
    assert np.allclose(both.q[0], one.q[0])
    assert np.abs(FREE.difference(both.q[-1], two.q[-1])).max() < 1e-12
    with pytest.raises(KinetreeError, match="shorter than both motions"):
        one.blend(two, 3.0)


def test_one_motion_after_another_needs_no_gap():
    motion = swing(ARM)
    joined = motion.cut(0.0, 0.5).then(motion.cut(0.5, 1.0))
    assert np.allclose(joined.at(0.7).q, motion.at(0.7).q, atol=1e-9)
    with pytest.raises(KinetreeError, match=r"robot\.transition"):
        motion.then(motion.cut(0.5, 1.0))


def test_files_and_simulations_are_motions(tmp_path):
    motion = swing(ARM)
    motion.save(tmp_path / "swing.npz")
    again = kt.Motion.load(ARM, tmp_path / "swing.npz")
    assert np.array_equal(again.q, motion.q)
    simulation = ARM.simulate(ARM.neutral(), np.zeros(ARM.nv), time=0.05, dt=0.01)
    assert kt.Motion.from_simulation(ARM, simulation).duration == pytest.approx(0.05)
    with pytest.raises(MissingFileError):
        kt.Motion.load(ARM, tmp_path / "nothing.npz")


def test_what_does_not_fit_is_named():
    with pytest.raises(ShapeError, match="increasing times"):
        kt.Motion(ARM, [0.0, 0.0], np.zeros((2, ARM.nq)))
    with pytest.raises(KinetreeError, match=r"t = 2 s is outside of the motion"):
        swing(ARM).at(2.0)
    with pytest.raises(KinetreeError, match="which do not match: joint"):
        swing(ARM).blend(swing(FREE), 0.5)


def test_pictures_are_drawn(tmp_path):
    motion = swing(FREE)
    motion.plot(tmp_path / "motion.png")
    motion.figures(tmp_path / "figures.png", count=3)
    assert all((tmp_path / name).exists() for name in ("motion.png", "figures.png"))
    with pytest.raises(KinetreeError, match="two of x, y and z"):
        motion.figures(axes="xw")
