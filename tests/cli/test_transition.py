"""The command `kinetree transition`."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.app import app
from kinetree.cli.transition import needed_duration
from kinetree.motion import human

typer_testing = pytest.importorskip("typer.testing")

PENDULUM = """\
HIERARCHY
ROOT Hips
{
  OFFSET 0.0 0.0 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Chest
  {
    OFFSET 0.0 50.0 0.0
    CHANNELS 1 Zrotation
    End Site { OFFSET 0.0 60.0 0.0 }
  }
}
MOTION
Frames: 21
Frame Time: 0.05
"""


def recording(path, sign):
    rows = [
        f"0 90 {k} 0 0 {5 * np.sin(0.3 * k):.6f} {sign * 20 * np.sin(0.2 * k):.6f}"
        for k in range(21)
    ]
    path.write_text(PENDULUM + "\n".join(rows) + "\n")
    return str(path)


def invoke(*arguments):
    return typer_testing.CliRunner().invoke(app, ["transition", *arguments])


@pytest.mark.slow
def test_two_recordings_become_one(tmp_path):
    first, second = (recording(tmp_path / f"{k}.bvh", k) for k in (1, -1))
    output = tmp_path / "out.bvh"
    options = ["--from", "0.6", "--to", "0.4", "--duration", "0.5", "-o", str(output)]
    result = invoke(first, second, *options)
    assert result.exit_code == 0, result.output
    assert "converged" in result.output
    whole = kt.read_bvh(output, units="m", up="y")
    assert whole.times[-1] == pytest.approx(0.6 + 0.5 + 0.6, abs=0.06)
    before = kt.read_bvh(first, units="m", up="y")
    assert np.allclose(whole.q[3, :7], before.q[3, :7], atol=1e-3)


def test_what_is_wrong_is_a_message(tmp_path):
    first = recording(tmp_path / "1.bvh", 1)
    late = invoke(first, first, "--from", "3", "--to", "0.2")
    assert late.exit_code == 1
    assert "outside of the motion" in late.output
    other = invoke(first, "motion.csv", "--from", "0.3", "--to", "0.2")
    assert "ends with .bvh or .npz" in other.output


def test_the_duration_is_what_the_speeds_need():
    robot = kt.robots.human()
    walk, stand = human.stroll(robot), human.stand(robot)
    assert needed_duration(walk, 0.6, walk, 0.9) == pytest.approx(0.3, abs=0.02)
    assert needed_duration(stand, 0.0, stand, 0.5) == 0.6
    assert needed_duration(walk, 0.9, walk, 0.6) == 0.6  # it leads back
