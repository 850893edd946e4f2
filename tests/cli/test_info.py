"""`kinetree info`, `convert`, `bench` and `doctor`."""

import json

import numpy as np
import pytest

import kinetree as kt
from tests.cli.test_app import invoke


def test_info_lists_bodies_limits_and_frames():
    result = invoke("info", "arm")
    assert result.exit_code == 0, result.output
    for part in ("link7", "joint7", "moving mass 18 kg", "rad/s", "-2.9", "tool"):
        assert part in result.output


def test_info_as_json_equals_the_api():
    robot = kt.robots.quadruped()
    found = json.loads(invoke("info", "quadruped", "--floating", "--json").output)
    assert (found["nq"], found["nv"]) == (robot.nq, robot.nv)
    assert [x["name"] for x in found["coordinates"]] == list(robot.labels.q)
    assert [x["name"] for x in found["frames"]] == list(robot.frames)
    upper = [np.inf if x["upper"] is None else x["upper"] for x in found["coordinates"]]
    assert (np.array(upper) == robot.limits.upper).all()


def test_convert_keeps_the_dynamics(tmp_path):
    pytest.importorskip("mujoco")
    for name in ("arm.xml", "arm.urdf"):
        source = "arm" if name == "arm.xml" else str(tmp_path / "arm.xml")
        result = invoke("convert", source, str(tmp_path / name))
        assert result.exit_code == 0, result.output
    robot, again = kt.robots.arm(), kt.load(tmp_path / "arm.urdf")
    q = robot.random(0)
    assert np.allclose(again.mass_matrix(q), robot.mass_matrix(q), rtol=1e-10)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm.urdf", "arm.xml"]


def test_convert_refuses_other_endings_and_files_that_exist(tmp_path):
    assert ".urdf, or .xml" in invoke("convert", "arm", str(tmp_path / "arm.txt")).output
    (tmp_path / "arm.urdf").write_text("mine")
    result = invoke("convert", "arm", str(tmp_path / "arm.urdf"))
    assert result.exit_code == 1
    assert (tmp_path / "arm.urdf").read_text() == "mine"


def test_bench_times_us_and_the_peers_that_agree():
    result = invoke("bench", "double_pendulum", "--seconds", "0.001", "--batch", "64", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [row["quantity"] for row in found["rows"]] == [
        "inverse_dynamics",
        "forward_dynamics",
        "mass_matrix",
    ]
    assert all(row["one"] > 0 and row["batch"] > 0 for row in found["rows"])
    assert not [remark for remark in found["remarks"] if "differs" in remark]


def test_doctor_says_whether_the_cache_is_used_and_why(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path / "kept"))
    result = invoke("doctor", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["self_test"] == "passed"
    assert found["cache"]["used"]
    assert found["versions"]["numpy"] == np.__version__
    (tmp_path / "kept").chmod(0o777)
    result = invoke("doctor", "--json")
    assert result.exit_code == 1
    assert "others may write to it" in json.loads(result.stdout)["cache"]["why"]
    monkeypatch.setenv("KINETREE_CACHE", "")
    result = invoke("doctor")
    assert result.exit_code == 0
    assert "KINETREE_CACHE is empty" in result.output


def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "viser", None)
    result = invoke("show", "arm", "--no-browser")
    assert result.exit_code == 1
    assert "kinetree[view]" in result.output
