"""The public API as a type checker sees it."""

import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
import kinetree as kt

robot = kt.load("panda.urdf", base="floating", chart="zyx")
q = robot.random(0, batch=3)
v = np.zeros((3, robot.nv))
reveal_type(robot)
reveal_type(q)
reveal_type(robot.inverse_dynamics(q, v, v, external={"tool": [0.0] * 6}, method="rnea"))
reveal_type(robot.jacobian(q, "tool", axes="body"))
reveal_type(robot.forward_dynamics_derivatives(q, v, v))
reveal_type(robot.forward_dynamics_derivatives(q, v, v).dtau)
reveal_type(robot.coriolis.with_mass_matrix(q, v))
reveal_type(robot.edit.lock({"joint1": 0.5}))
reveal_type(robot.kernel("mass_matrix"))
reveal_type(robot.limits.lower)
reveal_type(kt.get_threads())
"""
ARRAY = "ndarray[tuple[Any, ...], dtype[floating[Any]]]"
REVEALED = [
    "kinetree.robot.Robot",
    ARRAY,
    ARRAY,
    ARRAY,
    "kinetree.robot.derivatives.ForwardDerivatives",
    ARRAY,
    f"tuple[numpy.{ARRAY}",
    "kinetree.robot.Robot",
    "kinetree.compiler.runtime.kernel.Kernel",
    ARRAY,
    "int",
]


def checked(text, path):
    path.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    return run.returncode, [line.split(": ", 2)[-1] for line in run.stdout.splitlines()]


@pytest.mark.slow
def test_a_users_script_is_typed(tmp_path):
    status, lines = checked(SCRIPT, tmp_path / "script.py")
    assert status == 0, lines
    assert len(lines) == len(REVEALED)
    for line, kind in zip(lines, REVEALED, strict=True):
        assert kind in line.replace("numpy.dtype", "dtype").replace("numpy.floating", "floating")


WRONG = """
import kinetree as kt

robot = kt.robots.arm()
q = robot.random(0)
robot.jacobian(q, "tool", axes="local frame")
robot.inverse_dynamics(q, q, q, method="aba")
robot.mass_matrix()
kt.load("x.urdf", base="hovering")
robot.edit.rechart("xxx")
robot.mass_matrx(q)
"""


@pytest.mark.slow
def test_wrong_words_are_errors_before_they_run(tmp_path):
    status, lines = checked(WRONG, tmp_path / "script.py")
    assert status == 1
    assert len([line for line in lines if "[" in line]) == 6, lines


def test_help_speaks_of_robots():
    from kinetree.robot.editing import Edit, Editing

    names = ("attach", "lock", "rechart", "reorder", "subtree", "with_gravity", "with_mount")
    for method in (Editing.without, *(getattr(Edit, name) for name in names)):
        assert method.__annotations__["return"] == "Robot"
        assert "odel" not in (method.__doc__ or "").replace("kinetree.model", "")
