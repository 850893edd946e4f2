"""`kinetree info`, `convert`, `bench` and `doctor`."""

import json
from importlib.metadata import metadata
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

import kinetree as kt
from kinetree._optional import EXTRAS
from kinetree.cli.bench import measure
from kinetree.cli.doctor import OPTIONAL, diagnosis, report
from kinetree.constraints import Coupling, LoopJoint
from kinetree.errors import KinetreeError
from tests.capture.skeletons import walker
from tests.cli.test_app import invoke
from tests.constrained_robots import four_bar
from tests.equipped_robots import equipped_arm


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


def test_info_lists_constraints_with_their_kind_frames_and_rows(tmp_path):
    pytest.importorskip("mujoco")
    weld = LoopJoint("hold", "coupler", joint=None, at_base=(0.5, 0, 0))
    gear = Coupling("gear", {"crank_joint": [0, 1], "rocker_joint": [0, -1, 0.5]})
    four_bar().constrain(weld, gear).save(tmp_path / "robot.xml")
    result = invoke("info", str(tmp_path / "robot.xml"))
    assert result.exit_code == 0, result.output
    for words in (
        "loop_2 loopjoint (ball) loop_2_coupler, loop_2_rocker x y z",
        "hold loopjoint hold_coupler, hold_world x y z rx ry rz",
        "gear coupling crank_joint, rocker_joint sum",
    ):
        assert " ".join(words.split()) in " ".join(result.output.split())
    found = json.loads(invoke("info", str(tmp_path / "robot.xml"), "--json").output)
    assert found["constraints"][-1] == {
        "name": "gear",
        "kind": "coupling",
        "between": ["crank_joint", "rocker_joint"],
        "rows": ["sum"],
    }


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


def mimicking():
    """A robot, one joint of which mimics another."""
    body = {"mass": 1.0, "inertia": (0.02, 0.03, 0.01), "com": (0.1, 0.05, 0.2)}
    turns = kt.joints.Revolute
    robot = kt.Assembly("r")
    robot.add("trunk", "base", None, (0.0, 0.0, 0.1), **body)
    robot.add("b", "base", turns("y"), (0.1, 0.0, 0.0), name="b", limits=(-1.0, 1.0), **body)
    robot.add("a", "b", turns("x"), (0.0, 0.1, 0.0), name="a", **body)
    robot.add("c", "a", turns("z"), (0.0, 0.1, 0.3), name="c", mimic=("b", -0.5, 0.2), **body)
    return robot


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_peers_agree_where_joints_mimic_others_and_stand_in_another_order(base):
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    robot = mimicking().robot(base)
    order = [name for name in robot.joints if name not in ("a", "b")]
    robot = robot.edit.reorder([*order, "a", "b"])
    rows, remarks = measure(robot, 4, 1e-4)
    assert not [remark for remark in remarks if "differs" in remark or "does not take" in remark]
    assert all(set(row.peers) == {"pinocchio", "mujoco"} for row in rows[::2])
    assert {remark.split(":")[0] for remark in remarks} == {"pinocchio", "mujoco"}  # forward


def test_doctor_names_extras_that_there_are():
    extras = metadata("kinetree").get_all("Provides-Extra")
    assert set(EXTRAS.values()) <= set(extras)
    found = diagnosis() | {"packages": dict.fromkeys(OPTIONAL)}
    console = Console(file=StringIO(), width=100)
    report(found, console)
    text = console.file.getvalue()
    assert "pyarrow (Parquet files)" in text
    assert text.count("not installed (extra files)") == 3


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


def test_units_of_a_recording_are_those_that_are_given(tmp_path, monkeypatch):
    viewer = pytest.importorskip("kinetree.show.view.viewer")
    (tmp_path / "walk.bvh").write_text(walker())
    shown = []

    def view(robot, motion, *_, **__):
        shown.append((robot, motion))
        raise KinetreeError("not shown")

    monkeypatch.setattr(viewer, "Viewer", view)
    for units in ("cm", "0.02"):
        invoke("show", str(tmp_path / "walk.bvh"), "--units", units, "--up", "y")
    heights = [motion.q[0, 2] for _, motion in shown]
    assert heights[1] == pytest.approx(2.0 * heights[0])
    invoke("show", "arm", "--trajectory", str(tmp_path / "walk.bvh"), "--units", "0.02")
    assert shown[2][1].q[0, 2] == pytest.approx(heights[1])


def test_info_lists_tendons_actuators_and_sensors(tmp_path):
    file = tmp_path / "arm.xml"
    with pytest.warns(kt.errors.ModelWarning):
        equipped_arm().save(file)
    found = json.loads(invoke("info", str(file), "--json").output)
    assert [x["name"] for x in found["actuators"]] == ["motor", "servo", "winch", "jet"]
    assert found["actuators"][0]["control"] == [-1.0, 1.0]
    assert found["tendons"][1]["kind"] == "spatial"
    shown = invoke("info", str(file)).output
    assert all(word in shown for word in ("winch", "filter", "accelerometer"))


def test_info_says_between_what_a_contact_sensor_is(tmp_path):
    file = tmp_path / "ball.xml"
    file.write_text(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body><freejoint/>
        <geom name="ball" size="0.1"/></body></worldbody>
        <sensor><contact name="load" geom1="ball" data="force"/></sensor></mujoco>"""
    )
    found = json.loads(invoke("info", str(file), "--json").output)
    at = "ball and anything"
    assert found["sensors"] == [{"name": "load", "kind": "contact", "at": at, "numbers": 3}]


XACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">
<xacro:arg name="side" default="left"/><xacro:include filename="$(find parts)/link.xacro"/>
<link name="base"/></robot>"""
LINK = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="$(arg side)"><inertial>
<mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="$(arg side)"/></joint>
</robot>"""


def test_commands_take_packages_and_arguments_of_xacro_files(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "parts" / "link.xacro").write_text(LINK)
    file = tmp_path / "home" / "robot.xacro"
    file.write_text(XACRO)
    options = ["--package", f"parts={tmp_path / 'parts'}", "--argument", "side:=right"]
    found = json.loads(invoke("info", str(file), "--json", *options).output)
    assert [x["name"] for x in found["frames"]] == ["base", "right"]
    made = tmp_path / "robot.urdf"
    assert invoke("convert", str(file), str(made), *options).exit_code == 0
    assert kt.load(made).frames == ("base", "right")
    assert "no problems found" in invoke("check", str(file), *options).output
    missing = invoke("check", str(file))
    assert missing.exit_code == 1
    assert "packages= of kinetree.load" in missing.output
    assert "expected NAME:=VALUE" in invoke("info", str(file), "--argument", "side").output
