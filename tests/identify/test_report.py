"""What an identification is worth, on a page and in a picture."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.identify import fit
from kinetree.identify.doubts import explained
from tests.identify.motions import changed, made_log, smooth_motion

ROBOT = kt.robots.double_pendulum()
QUIET = pytest.mark.filterwarnings("ignore::kinetree.errors.IdentificationWarning")


@pytest.fixture(scope="module")
def found():
    real = changed(ROBOT)
    log = made_log(ROBOT, real, noise=0.1).without_standstill(0.05)
    return fit(ROBOT, log, validation=made_log(ROBOT, real, noise=0.1, seed=4))


def test_a_report_has_errors_parameters_and_remarks(found, tmp_path):
    text = found.report(tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text() == text
    for words in (
        "# Identification of double_pendulum",
        "10 base parameters of 24 parameters",
        "Every body's inertia is one that a body can have.",
        "slower than 0.05",
        "| joint | unit | noise | fitted, before | fitted, after | relative | validation, before",
        "| upper.hz - lower.mass | kg m |",
        f"{10 - len(found.vague)} base parameters are well determined",
        "| joint | damping, N m s or N s/m |",
        "## Drives",
    ):
        assert words in text
    assert str(found) == text


def test_a_report_is_html_if_its_name_says_so(found, tmp_path):
    found.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "<td>upper.hz - lower.mass</td>" in text
    if find_spec("matplotlib"):
        assert '<img alt="Measured and predicted joint forces' in text


def test_a_good_result_leaves_no_doubt(found):
    assert found.doubts == ()
    assert explained(found.validation, found.predicted(found.validation)) > 0.95


@QUIET
def test_flipped_signs_are_told_by_joint():
    log = made_log(ROBOT, changed(ROBOT), noise=0.01)
    flipped = replace(log, tau=log.tau * [1.0, -1.0])
    (opposite, *_) = fit(ROBOT, flipped).doubts
    assert "joint 'lower_joint' have the opposite sign" in opposite
    assert "Do not use this result" in fit(ROBOT, flipped).report()


@QUIET
def test_forces_of_something_else_are_not_explained():
    log = made_log(ROBOT, changed(ROBOT))
    rng = np.random.default_rng(0)
    found = fit(ROBOT, replace(log, tau=rng.standard_normal(log.tau.shape)))
    assert any("of the forces' variance" in doubt for doubt in found.doubts)


@QUIET
def test_errors_that_grow_on_the_validation_log_are_a_doubt():
    real = changed(ROBOT, spread=0.02)
    right = made_log(ROBOT, real, noise=0.01)
    mixed = replace(right, q=right.q[:, ::-1], v=right.v[:, ::-1], a=right.a[:, ::-1])
    (doubt,) = fit(ROBOT, mixed, validation=right).doubts
    assert "predicts the validation log worse than the old one" in doubt
    exact = made_log(ROBOT, ROBOT)
    assert fit(ROBOT, exact, validation=exact).doubts == ()


def test_a_report_of_another_format_is_refused(found, tmp_path):
    with pytest.raises(KinetreeError, match=r"a report must end with \.md or \.html"):
        found.report(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


@QUIET
def test_a_robot_that_stands_still_excites_nothing():
    t, q, v, a = smooth_motion(ROBOT)
    still = made_log(ROBOT, changed(ROBOT), noise=0.01, motion=(t, 0.0 * q, 0.0 * v, 0.0 * a))
    assert any("excites nothing" in doubt for doubt in fit(ROBOT, still).doubts)


def test_errors_are_smaller_than_before_and_near_the_noise(found):
    before, after = (found.errors(found.validation, r).rms for r in (found.before, None))
    assert (after < 0.5 * before).all()
    assert np.allclose(after, 0.1, rtol=0.1)


def test_forces_are_drawn(found, tmp_path):
    pytest.importorskip("matplotlib")
    figure = found.plot(tmp_path / "forces.png")
    assert (tmp_path / "forces.png").exists()
    assert len(figure.axes) == 2
    streamed = fit(ROBOT, [found.log])
    with pytest.raises(KinetreeError, match="pass the one to draw"):
        streamed.plot()
