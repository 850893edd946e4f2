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
    truth = base.of(changed(ROBOT).regressors.parameters)
    found = base.of(kt.load(new).regressors.parameters)
    assert np.abs(found - truth).max() < 0.1 * np.abs(base.values - truth).max()


def test_wrong_files_and_options_are_messages(log, tmp_path):
    result = CliRunner().invoke(app, ["identify", "arm", str(log)])
    assert result.exit_code == 1
    assert "q has shape (3200, 2)" in result.output
    result = CliRunner().invoke(app, ["identify", "double_pendulum", str(log), "--share", "2"])
    assert "--share 2: a number above 0" in result.output
    page = str(tmp_path / "report.pdf")
    words = ["identify", "double_pendulum", str(log), "--report", page]
    assert "must end with .md or .html" in CliRunner().invoke(app, words).output


def test_several_files_are_fitted_together(tmp_path):
    paths = []
    for k in range(3):
        motion = smooth_motion(ROBOT, rate=400.0, seed=k)
        data = made_log(ROBOT, changed(ROBOT), motion=motion)
        paths.append(tmp_path / f"log{k}.npz")
        np.savez(paths[-1], time=data.time, q=data.q, tau=data.tau)
    words = ["identify", "double_pendulum", *map(str, paths), "--overwrite", "--cutoff", "20"]
    page = tmp_path / "report.md"
    for share in ("0.75", "1"):
        result = CliRunner().invoke(app, [*words, "--report", str(page), "--share", share])
        assert result.exit_code == 0, result.output
        assert ("(validation)" in result.output) == (share != "1")
        measured = int(page.read_text().split(" measurements of")[0].split()[-1])
    alone = CliRunner().invoke(app, [*words[:3], *words[-3:], "--report", str(page)])
    assert alone.exit_code == 0
    assert measured > 2 * int(page.read_text().split(" measurements of")[0].split()[-1])


def test_vague_parameters_are_said_to_be_vague(monkeypatch):
    told = {"base_parameters": 57, "condition": 12.0, "vague": 32, "impossible": []}
    monkeypatch.setattr(identify, "summary", lambda found, files: told)
    words = "25 of 57 base parameters are well determined, 32 are vague"
    assert any(words in line for line in identify.lines(None, []))


@pytest.mark.filterwarnings("ignore::kinetree.errors.IdentificationWarning")
def test_a_doubtful_result_is_not_written_unless_forced(tmp_path):
    data = made_log(ROBOT, changed(ROBOT), motion=smooth_motion(ROBOT, rate=400.0))
    log, new = tmp_path / "log.npz", tmp_path / "new.urdf"
    np.savez(log, time=data.time, q=data.q, tau=-data.tau)
    words = ["identify", "double_pendulum", str(log), "-o", str(new), "--cutoff", "20"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert "opposite sign" in result.output
    assert "no file was written" in result.output
    assert not new.exists()
    forced = CliRunner().invoke(app, [*words, "--force"])
    assert forced.exit_code == 0, forced.output
    assert "opposite sign" in forced.output
    assert new.exists()


def test_columns_are_named_by_options(tmp_path):
    data = made_log(ROBOT, changed(ROBOT), motion=smooth_motion(ROBOT, rate=400.0))
    names = ["clock", "p1", "p2", "i1", "i2"]
    table = np.column_stack([data.time, data.q, data.tau])
    log = tmp_path / "log.csv"
    np.savetxt(log, table, delimiter=",", header=",".join(names), comments="")
    upper, lower = ROBOT.labels.q
    given = {"time": "clock", f"q.{upper}": "p1", f"q.{lower}": "p2"}
    given |= {f"tau.{upper}": "i1", f"tau.{lower}": "i2"}
    options = [x for pair in given.items() for x in ("--column", "=".join(pair))]
    words = ["identify", "double_pendulum", str(log), "--cutoff", "20"]
    result = CliRunner().invoke(app, [*words, *options])
    assert result.exit_code == 0, result.output
    wrong = CliRunner().invoke(app, [*words, "--column", "time"])
    assert "WHAT=NAME is expected" in wrong.output
