"""kinetree identify: a log to a better model, in one command."""

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli.app import app
from kinetree.identify import base_parameters
from tests.identify.motions import changed, made_log, smooth_motion

ROBOT = kt.robots.double_pendulum()


@pytest.fixture
def log(tmp_path):
    data = made_log(ROBOT, changed(ROBOT), motion=smooth_motion(ROBOT, rate=400.0))
    path = tmp_path / "log.npz"
    np.savez(path, time=data.time, q=data.q, tau=data.tau)
    return path


def test_a_log_gives_a_model_and_a_report_and_the_model_passes_check(log, tmp_path):
    new, page = tmp_path / "new.urdf", tmp_path / "report.md"
    words = ["identify", "double_pendulum", str(log), "-o", str(new), "--report", str(page)]
    result = CliRunner().invoke(app, [*words, "--cutoff", "20", "--drives", "damping"])
    assert result.exit_code == 0, result.output
    assert "base parameters, condition number" in result.output
    assert str(new) in result.output
    assert "# Identification" in page.read_text()
    checked = CliRunner().invoke(app, ["check", str(new), "--strict"])
    assert checked.exit_code == 0, checked.output
    base = base_parameters(ROBOT)
    truth = base.of(changed(ROBOT).inertial_parameters)
    found = base.of(kt.load(new).inertial_parameters)
    assert np.abs(found - truth).max() < 0.1 * np.abs(base.values - truth).max()


def test_wrong_files_and_options_are_messages(log, tmp_path):
    result = CliRunner().invoke(app, ["identify", "arm", str(log)])
    assert result.exit_code == 1
    assert "q has shape (3200, 2)" in result.output
    result = CliRunner().invoke(app, ["identify", "double_pendulum", str(log), "--share", "2"])
    assert "--share 2: a number above 0" in result.output
