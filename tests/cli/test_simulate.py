"""The command `kinetree simulate`."""

import json

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.app import app

typer_testing = pytest.importorskip("typer.testing")


def invoke(*arguments):
    return typer_testing.CliRunner().invoke(app, ["simulate", *arguments])


def test_names_of_files_are_checked_before_the_simulation(tmp_path, monkeypatch):
    monkeypatch.setattr("kinetree.cli.simulate.run", lambda *_: 1 / 0)
    for option in ("--plot", "--output"):
        result = invoke("arm", option, str(tmp_path / "it.xyz"))
        assert result.exit_code == 1
        assert "it.xyz: " in result.output.replace("\n", "")


def test_a_motion_is_written_and_drawn(tmp_path):
    output, plot = tmp_path / "out.npz", tmp_path / "out.png"
    target = ",".join(["0.2"] * 7)
    options = ["--controller", "pd", "--target", target, "--time", "3", "--record", "energy"]
    result = invoke("arm", *options, "-o", str(output), "--plot", str(plot))
    assert result.exit_code == 0, result.output
    assert "3001 states over 3 s: times, q, v, tau, energy" in result.output
    run = kt.Simulation.load(output)
    assert np.abs(run.q[-1] - 0.2).max() < 0.01
    assert plot.stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--controller", "pid"], "did you mean 'pd'"),
        (["--target", "1,2", "--controller", "pd"], "expected 7 numbers, separated by commas"),
        (["--time", "0.0005"], "a whole number is expected"),
        (["--dt", "0"], "dt must be positive"),
        (["--method", "rk5"], "did you mean 'rk4'"),
        (["--time", "0.01", "-o", "motion.csv"], "ends with .npz or .parquet"),
        (["--stops", "wall"], "has no kind of stops 'wall'"),
    ],
)
def test_an_error_is_a_message_and_not_a_traceback(options, message):
    result = invoke("arm", *options)
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output


START = ("arm", "--start", "0.3,0.3,0,0.3,0,0.3,0", "--time", "1")


def test_joints_that_leave_their_limits_are_named():
    free, held = invoke(*START), invoke(*START, "--stops", "spring")
    assert "Beyond their limits: joint2, joint6. --stops spring" in free.output
    assert "limits" not in held.output
    assert "diverged" not in held.output


def test_a_robot_on_the_ground_starts_above_it_and_stays_there():
    result = invoke("quadruped", "--ground", "--time", "0.1", "--json")
    assert result.exit_code == 0, result.output
    height = json.loads(result.output)["q"][2]
    assert 0.3 < height < 0.45  # its legs are 0.42 m long


def test_a_robot_whose_links_touch_each_other_gets_a_ground_as_well(tmp_path):
    """Contacts among links are nothing to stand on."""
    model = tmp_path / "legs.xml"
    model.write_text(
        "<mujoco><worldbody><body name='trunk' pos='0 0 1'><freejoint/>"
        "<geom type='sphere' size='0.1'/>"
        "<body name='a' pos='0.3 0 0'><joint type='hinge'/><geom type='sphere' size='0.1'/>"
        "<body name='b' pos='0.3 0 0'><joint type='hinge'/><geom type='sphere' size='0.1'/>"
        "</body></body></body></worldbody></mujoco>"
    )
    pytest.importorskip("mujoco")
    result = invoke(str(model), "--ground", "--time", "1", "--dt", "0.002", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["q"][2] > -0.5  # it fell on the ground, not through it


def test_a_motion_starts_in_a_keyframe(tmp_path):
    file = tmp_path / "cart.xml"
    file.write_text(
        """<mujoco><worldbody><body><joint name="j" type="slide"/>
        <geom size="0.1"/></body></worldbody>
        <keyframe><key name="away" qpos="0.5" qvel="2"/></keyframe></mujoco>"""
    )
    out = tmp_path / "moved.npz"
    given = [str(file), "--start", "away", "--time", "0.1", "-o", str(out)]
    assert invoke(*given).exit_code == 0
    moved = np.load(out)
    assert moved["q"][0] == 0.5
    assert np.isclose(moved["v"][-1, 0], 2 - 9.81 * 0.1)
    given[2] = "home"
    assert "or 'away'" in invoke(*given, "--overwrite").output
