"""kinetree identify: a log to a better model, in one command."""

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import identify
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


def test_several_files_are_fitted_together(tmp_path):
    paths = []
    for k in range(3):
        motion = smooth_motion(ROBOT, rate=400.0, seed=k)
        data = made_log(ROBOT, changed(ROBOT), motion=motion)
        paths.append(tmp_path / f"log{k}.npz")
        np.savez(paths[-1], time=data.time, q=data.q, tau=data.tau)
    words = ["identify", "double_pendulum", *map(str, paths), "--cutoff", "20"]
    page = tmp_path / "report.md"
    for share in ("0.75", "1"):
        result = CliRunner().invoke(app, [*words, "--report", str(page), "--share", share])
        assert result.exit_code == 0, result.output
        assert ("(validation)" in result.output) == (share != "1")
        measured = int(page.read_text().split(" measurements of")[0].split()[-1])
    alone = CliRunner().invoke(app, [*words[:3], *words[-2:], "--report", str(page)])
    assert alone.exit_code == 0
    assert measured > 2 * int(page.read_text().split(" measurements of")[0].split()[-1])


def test_vague_parameters_are_said_to_be_vague(monkeypatch):
    told = {"base_parameters": 60, "condition": 12.0, "vague": 32, "impossible": []}
    monkeypatch.setattr(identify, "summary", lambda found, files: told)
    assert (
        "32 of 60 base parameters have standard deviations above 30% of their values"
        in identify.lines(None, [])
    )
