"""Every command: its help, its JSON, its completion, its start."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.app import app
from kinetree.cli.command import complete_quantity, complete_robot
from tests.cli.test_app import invoke

COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands]
FOR_PEOPLE = {"compile", "convert", "demo", "paper", "show", "symbolic"}
"""Commands whose result is a file, a page or a text: there is nothing for a program to read."""
QUICK = {
    "bench": ("double_pendulum", "--seconds", "0.001", "--batch", "16"),
    "cache": ("show",),
    "check": ("arm",),
    "doctor": (),
    "export": ("double_pendulum", "gravity_forces", "-o", "code"),
    "info": ("arm",),
    "ops": ("double_pendulum",),
    "run": ("gravity_forces", "double_pendulum", "states.npz", "-o", "out.npz"),
    "simulate": ("double_pendulum", "--time", "0.01"),
}
"""A quick call of each command that prints JSON, except those that need recordings."""


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example_and_says_what_every_option_is(command):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert f"Example: kinetree {command}" in result.output
    click = pytest.importorskip("typer.main").get_command(app).commands[command]
    options = [p for p in click.params if p.param_type_name == "option" and p.name != "help"]
    assert all(option.help for option in options)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_whose_result_a_program_may_read_prints_json(command):
    offered = "--json" in re.sub(r"\x1b\[[0-9;]*m", "", invoke(command, "--help").output)
    assert offered == (command not in FOR_PEOPLE)


@pytest.mark.parametrize("command", QUICK)
def test_what_a_command_prints_by_json_is_json_and_nothing_else(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path / "cache"))
    np.savez("states.npz", q=np.zeros((3, 2)))
    result = invoke(command, *QUICK[command], "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)


def test_the_json_of_check_lists_the_problems(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(
        "<robot name='r'><link name='b'><inertial><mass value='900'/></inertial></link></robot>"
    )
    result = invoke("check", str(path), "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["counts"] == {"error": 0, "warning": 1, "note": 1}
    assert "900 kg" in found["problems"][0]["message"]


def test_the_json_of_a_simulation_is_that_of_the_api():
    found = json.loads(invoke("simulate", "double_pendulum", "--time", "0.01", "--json").stdout)
    robot = kt.robots.double_pendulum()
    motion = robot.simulate(robot.neutral(), np.zeros(2), time=0.01, dt=1e-3)
    assert found["q"] == motion.q[-1].tolist()
    assert found["states"] == len(motion.times)


def test_the_shell_completes_robots_and_quantities(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "armadillo.urdf").write_text("")
    (tmp_path / "arms").mkdir()
    assert sorted(complete_robot("arm")) == ["arm", "armadillo.urdf", "arms/"]
    assert "mass_matrix" in complete_quantity("mass")
    assert "--install-completion" in invoke("--help").output


@pytest.mark.parametrize("command", COMMANDS)
def test_robots_quantities_and_words_are_completed_in_every_command(command):
    known = {
        "action": ("ex", "export"),
        "controller": ("comp", "computed-torque"),
        "quantities": ("gravity_f", "gravity_forces"),
        "quantity": ("gravity_f", "gravity_forces"),
        "robot": ("quad", "quadruped"),
        "source": ("quad", "quadruped"),
    }
    found = pytest.importorskip("typer.main").get_command(app).commands[command]
    context = pytest.importorskip("typer").Context(found)
    for parameter in found.params:
        if parameter.name in known:
            begin, word = known[parameter.name]
            assert word in [x.value for x in parameter.shell_complete(context, begin)]


def test_bash_gets_the_words_that_may_follow():
    words = {"COMP_WORDS": "kinetree run mass_matrix_i", "COMP_CWORD": "2"}
    shell = {"_KINETREE_COMPLETE": "complete_bash", **words}
    code = "import sys; sys.argv = ['kinetree']; from kinetree.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **shell}, capture_output=True, text=True
    )
    assert "mass_matrix_inverse" in done.stdout.split(), done.stdout + done.stderr


def test_help_imports_neither_the_compiler_nor_what_commands_need():
    code = (
        "import sys; from kinetree.cli.app import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "print('MODULES', *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split("MODULES ")[1].split())
    heavy = {"kinetree.cli.batch", "kinetree.identify", "kinetree.show.plot"}
    heavy |= {
        "kinetree.compiler.runtime.cpu.support",
        "matplotlib",
        "viser",
        "scipy",
        "sympy",
        "rich.progress",
    }
    assert not heavy & loaded


def test_simulate_keeps_the_loops_of_a_built_in_robot(tmp_path):
    result = invoke("simulate", "four_bar", "--time", "0.2", "-o", str(tmp_path / "run.npz"))
    assert result.exit_code == 0, result.output
    run = kt.Simulation.load(tmp_path / "run.npz")
    assert np.abs(run.q[-1]).max() > 0.01  # it falls
    assert np.abs(kt.robots.four_bar().constraints.errors(run.q)).max() < 1e-10


README = (Path(__file__).parents[2] / "README.md").read_text()
PRINTED = [
    line.split("#")[0].split()[1:] for line in re.findall(r"^    (kinetree .+)$", README, re.M)
]
EXAMPLE = re.compile(r"Example: kinetree (.+)")


@pytest.mark.slow
def test_the_commands_of_the_readme_run_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kinetree.show.view.viewer.Viewer.wait", lambda viewer: None)
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    assert {words[0] for words in PRINTED} >= {"info", "show", "simulate", "run", "bench"}
    for words in PRINTED:
        result = invoke(*words)
        assert result.exit_code == 0, (words, result.output)
        assert "did not move" not in result.output


def test_the_example_of_simulate_moves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (example,) = EXAMPLE.findall(" ".join(invoke("simulate", "--help").output.split("\n")))
    words = example.split()
    result = invoke(*words[: words.index("-o") + 2], "--time", "0.1")
    assert result.exit_code == 0, result.output
    assert "did not move" not in result.output
    still = invoke("simulate", "arm", "--time", "0.01")
    assert "It did not move" in still.output


@pytest.mark.parametrize("name", ["arm", "human", "quadruped"])
def test_built_in_robots_have_one_base_everywhere(name):
    robot = getattr(kt.robots, name)()
    assert json.loads(invoke("info", name, "--json").output)["nv"] == robot.nv
    for option, base in (("--fixed", "fixed"), ("--floating", "floating")):
        found = json.loads(invoke("info", name, option, "--json").output)["nv"]
        assert found == getattr(kt.robots, name)(base).nv


WRITES = {
    "convert": ("double_pendulum", "out.xml"),
    "export": ("double_pendulum", "gravity_forces", "-o", "code"),
    "run": ("gravity_forces", "double_pendulum", "states.npz", "-o", "out.npz"),
    "simulate": ("double_pendulum", "--time", "0.01", "-o", "motion.npz"),
}
"""A call of commands that write a file."""


@pytest.mark.parametrize("command", WRITES)
def test_a_file_that_exists_is_replaced_only_if_asked(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("states.npz", q=np.zeros((3, 2)))
    words = (command, *WRITES[command])
    assert invoke(*words).exit_code == 0
    again = invoke(*words)
    assert again.exit_code == 1
    assert "already exists; use --overwrite to replace it" in again.output
    assert invoke(*words, "--overwrite").exit_code == 0


@pytest.mark.parametrize("command", ["simulate", "identify", "transition"])
def test_files_are_checked_before_anything_is_computed(command, tmp_path):
    inputs = {
        "simulate": ("arm",),
        "identify": ("arm", "log.csv"),
        "transition": ("a.bvh", "b.bvh", "--from", "0", "--to", "0"),
    }[command]
    missing = invoke(command, *inputs, "-o", str(tmp_path / "nowhere" / "out.npz"))
    assert missing.exit_code == 1
    assert "there is no folder" in missing.output
    drawn = invoke(command, *inputs, "--plot", str(tmp_path / "it.xyz"))
    assert drawn.exit_code == 1
    assert "ends with its format" in drawn.output.replace("\n", " ")
