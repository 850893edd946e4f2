"""The motions of the human figure."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.motion import human

FIGURE = kt.robots.human()


@pytest.mark.parametrize("make", [human.walk, human.salute, human.sit_down])
def test_the_figure_moves_within_its_limits(make):
    motion = make(FIGURE)
    assert (motion.q >= FIGURE.limits.lower - 1e-9).all()
    assert (motion.q <= FIGURE.limits.upper + 1e-9).all()
    assert np.abs(motion.v).max() > 0.5


def test_the_feet_stay_on_the_ground_while_it_sits_down():
    motion = human.sit_down(FIGURE)
    foot = FIGURE.pose(motion.q, "left_foot")[:, :3, 3]
    assert np.ptp(foot[:, 2]) < 0.02


def test_another_robot_is_refused():
    with pytest.raises(KinetreeError, match="not the human figure"):
        human.walk(kt.robots.arm())


@pytest.mark.parametrize(
    ("name", "value"), [("length", 5.0), ("length", np.nan), ("period", 0.0), ("period", -1.0)]
)
def test_a_stride_that_legs_cannot_make_is_refused(name, value):
    with pytest.raises(KinetreeError, match=name):
        human.stroll(FIGURE, **{name: value})
