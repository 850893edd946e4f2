"""Wrong settings at every door of identification are sentences that name them."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import identify
from kinetree.errors import KinetreeError
from tests.identify.motions import made_log, smooth_motion

ROBOT = kt.robots.double_pendulum()
WRONG = ("ten", None, -1, 0, float("nan"), float("inf"), [], 1 + 2j, [1.0, 2.0], True)
"""Neither positive numbers nor positive whole numbers."""


@pytest.fixture(scope="module")
def log():
    return made_log(ROBOT, ROBOT, motion=smooth_motion(ROBOT, rate=200.0))


DOORS = {
    "duration": lambda log, x: identify.exciting_motion(ROBOT, duration=x),
    "harmonics": lambda log, x: identify.exciting_motion(ROBOT, harmonics=x),
    "samples": lambda log, x: identify.exciting_motion(ROBOT, samples=x),
    "trust": lambda log, x: identify.fit(ROBOT, log, trust=x),
    "trust of a payload": lambda log, x: identify.payload(ROBOT, log, "lower", trust=x),
    "window": lambda log, x: identify.fit_output_error(ROBOT, log, window=x),
    "noise": lambda log, x: identify.fit_output_error(ROBOT, log, noise=x),
    "cutoff": lambda log, x: identify.filtered(log, x),
    "order": lambda log, x: identify.filtered(log, 10.0, order=x),
    "share": lambda log, x: log.split(x),
    "speed": lambda log, x: log.without_standstill(x),
}


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("door", DOORS)
def test_a_wrong_setting_is_named(log, door, wrong):
    name = door.split()[0]
    kind = "a positive number|a whole number of at least [12]|between 0 and 1"
    with pytest.raises(KinetreeError, match=f"{name} must (be|lie) ({kind}).*got"):
        DOORS[door](log, wrong)


@pytest.mark.parametrize("wrong", [x for x in WRONG if x is not None], ids=repr)
def test_a_wrong_rate_or_noise_of_a_log_is_named(log, wrong):
    with pytest.raises(KinetreeError, match="rate must be a positive number"):
        identify.resampled(log, wrong)
    if wrong != [1.0, 2.0]:
        with pytest.raises(KinetreeError, match=r"noise (must be a positive number|has)"):
            identify.splined(log, wrong)


@pytest.mark.parametrize("name", ["iterations", "seed"])
@pytest.mark.parametrize("wrong", ["ten", None, -1, 1.5, float("nan")], ids=repr)
def test_a_wrong_count_is_named(name, wrong):
    with pytest.raises(KinetreeError, match=f"{name} must be a whole number of at least 0, got"):
        identify.exciting_motion(ROBOT, **{name: wrong})


def test_samples_that_cannot_show_the_parameters_are_refused():
    with pytest.raises(KinetreeError, match="samples=2: they give 4 forces, too few for"):
        identify.exciting_motion(ROBOT, samples=2)


@pytest.mark.parametrize("box", ["text", None, [1.0, 2.0], [[1, 1, 1], [0, 0, 0]]], ids=repr)
def test_a_wrong_workspace_is_named(box):
    with pytest.raises(KinetreeError, match="workspace of 'lower': two corners"):
        identify.exciting_motion(ROBOT, workspace={"lower": box})


def test_nothing_to_fit_is_said(log):
    with pytest.raises(KinetreeError, match="there is no log: one or more are expected"):
        identify.fit(ROBOT, [])
    with pytest.raises(KinetreeError, match=r"logs: a Log is expected, got 'log\.csv'"):
        identify.fit(ROBOT, ["log.csv"])
    with pytest.raises(KinetreeError, match="bodies is empty"):
        identify.fit_output_error(ROBOT, log, bodies=[])
    with pytest.raises(KinetreeError, match="give one sample in"):
        identify.resampled(log, 1e-6)


@pytest.mark.parametrize("wrong", ["text", None, 1.0, [], np.zeros((3, 2, 2)), [[1.0], [1, 2]]])
@pytest.mark.parametrize("name", ["time", "q", "tau", "v"])
def test_a_log_of_something_else_is_refused_by_name(name, wrong):
    if name == "v" and wrong is None:
        return
    given = {"time": np.arange(5.0), "q": np.zeros((5, 2)), "tau": np.zeros((5, 2))}
    with pytest.raises(KinetreeError, match=f"{name} |samples|0 times"):
        identify.Log(ROBOT, **(given | {name: wrong}))
