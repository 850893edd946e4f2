"""The command: its report, its options, its errors."""

import re
import subprocess
import sys

import pytest

import kinetree
from kinetree.cli.app import BUILT_IN, app

typer_testing = pytest.importorskip("typer.testing")


NEEDED = {"export": ("mass_matrix",)}
"""What a command needs besides a robot."""


def invoke(*arguments):
    return typer_testing.CliRunner().invoke(app, list(arguments))


@pytest.mark.slow
def test_the_demo_reports_tree_state_identities_and_speed():
    result = invoke("demo")
    assert result.exit_code == 0, result.output
    for part in ("link7", "joint7", "tau = ID(q, v, a)", "mass matrix", "states/s", "one call"):
        assert part in result.output
    residuals = re.findall(r"(\d\.\de[-+]\d\d)", result.output)
    assert len(residuals) == 5
    assert all(float(r) < 1e-10 for r in residuals)


def test_the_demo_takes_a_file_and_a_floating_base(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(
        "<robot name='block'><link name='b'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>"
    )
    result = invoke("demo", str(path), "--floating")
    assert result.exit_code == 0, result.output
    assert "block: 6 degrees of freedom" in result.output


def test_an_error_is_a_message_and_not_a_traceback(tmp_path):
    result = invoke("demo", str(tmp_path / "missing.urdf"))
    assert result.exit_code == 1
    assert "cannot be read" in result.output
    assert "Traceback" not in result.output


def test_check_lists_findings_and_fails_on_errors(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(
        "<robot name='r'><link name='b'><inertial><mass value='900'/></inertial></link></robot>"
    )
    result = invoke("check", str(path))
    assert result.exit_code == 0, result.output
    assert "r.urdf:1: warning: link 'b': its mass is 900 kg: is it in grams?" in result.output
    assert "0 errors, 1 warning, 1 note" in result.output
    assert invoke("check", str(path), "--strict").exit_code == 1
    path.write_text(path.read_text().replace("900", "-1"))
    assert invoke("check", str(path)).exit_code == 1
    path.write_text("<robot name='r'><link name='b'/></robot>")
    assert "no problems found" in invoke("check", str(path)).output
    assert invoke("check", str(tmp_path / "missing.urdf")).exit_code == 2


@pytest.mark.parametrize("name", BUILT_IN)
def test_check_takes_built_in_robots(name):
    result = invoke("check", name, "--strict")
    assert result.exit_code == 0, result.output
    if getattr(kinetree.robots, name)().model.constraints:  # what loops leave is worth a note
        *notes, _ = result.output.splitlines()
        assert all(line.startswith("note: the constraints:") for line in notes)
    else:
        assert result.output == f"{name}: no problems found\n"


@pytest.mark.parametrize("command", ["demo", "ops", "symbolic", "check", "export"])
@pytest.mark.parametrize("robot", ["armm", "no/such.urdf", "/"])
def test_an_unknown_robot_lists_those_built_in_and_says_that_a_path_is_expected(command, robot):
    result = invoke(command, robot, *NEEDED.get(command, ()))
    assert result.exit_code == (2 if command == "check" else 1)
    assert "Expected the path of a URDF, xacro, SDF or MJCF file" in result.output
    assert all(name in result.output for name in BUILT_IN)
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "text",
    ["", "<robot", "<robot name='r'/>", "<mujoco><worldbody><body><joint type='x'/>", "\x00"],
)
@pytest.mark.parametrize("command", ["demo", "ops", "symbolic", "check", "export"])
def test_a_bad_file_is_a_message(command, text, tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(text)
    result = invoke(command, str(path), *NEEDED.get(command, ()))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)


def test_the_paper_is_told_where_to_go(tmp_path):
    result = invoke("paper")
    assert result.exit_code == 2
    assert "Missing argument" in result.output
    (tmp_path / "file").write_text("")
    result = invoke("paper", str(tmp_path / "file"))
    assert result.exit_code == 1
    assert "a folder is expected" in result.output


def test_check_judges_a_floating_robot(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(
        "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
        "<joint name='roll' type='continuous'><parent link='a'/><child link='b'/></joint></robot>"
    )
    assert "no problems found" in invoke("check", str(path)).output
    for option in (["--floating"], ["--base", "floating"]):
        result = invoke("check", str(path), *option)
        assert result.exit_code == 1
        assert "joint 'root_joint': it moves without moving any inertia" in result.output
    assert "no problems found" in invoke("check", str(path), "--base", "fixed").output
    assert "base must be" in invoke("check", str(path), "--base", "hovering").output


def test_the_version_is_printed():
    assert invoke("--version").output.strip() == f"kinetree {kinetree.__version__}"


def test_it_runs_as_a_module():
    run = subprocess.run(
        [sys.executable, "-m", "kinetree", "--help"], capture_output=True, text=True, check=True
    )
    assert "demo" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "arm", "--base", "hovering"), "base must be"),
        (("convert", "arm", "arm.txt"), "arm.txt: a name that ends with .urdf"),
        (("convert", "arm", "no/arm.urdf"), "no/arm.urdf: there is no folder no"),
        (("simulate", "arm", "--time", "1e9"), "not enough memory"),
        (
            ("simulate", "arm", "--time", "0.01", "-o", "no/a.npz"),
            "no/a.npz: there is no folder no",
        ),
        (("simulate", "arm", "--time", "0.01", "--plot", "a.xyz"), "ends with its format: "),
        (("identify", "arm", "text.npz"), "text.npz is not an NPZ file of numbers"),
        (("show", "arm", "--trajectory", "text.npz"), "text.npz is not an NPZ file of numbers"),
        (("run", "mass_matrix", "arm", "text.npz", "-o", "a.npz"), "text.npz is not an NPZ file"),
        (("cache", "import", "no.zip"), "no.zip: there is no such file"),
    ],
)
def test_what_a_user_gets_wrong_is_a_sentence(arguments, message, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.npz").write_text("not numbers")
    result = invoke(*arguments)
    assert result.exit_code == (2 if arguments[0] == "check" else 1)
    assert message in result.output
    assert isinstance(result.exception, SystemExit)
