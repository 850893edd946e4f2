"""What an identification is worth, on a page and in a picture."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.identify import fit
from tests.identify.motions import changed, made_log

ROBOT = kt.robots.double_pendulum()


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
        "| joint | noise | fitted, before | fitted, after | relative | validation, before",
        "| upper.hz - lower.mass |",
        "## Drives",
    ):
        assert words in text
    assert str(found) == text


def test_a_report_is_html_if_its_name_says_so(found, tmp_path):
    found.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "<td>upper.hz - lower.mass</td>" in text


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
    with pytest.raises(KinetreeError, match="say which one to draw"):
        streamed.plot()
