"""The command `kinetree transition`."""

import json

import numpy as np
import pytest

import kinetree as kt
from kinetree.capture.ranges import with_ranges
from kinetree.cli.app import app
from kinetree.motion import human
from kinetree.robot.ball_excess import ball_excess

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
    assert "guessed: --units 0.01 --up y" in result.output
    assert "no joint has the name of a foot: --feet names those that stand" in result.output
    whole = kt.read_bvh(output, units="m", up="y")
    assert whole.times[-1] == pytest.approx(0.6 + 0.5 + 0.6, abs=0.06)
    before = kt.read_bvh(first, units="m", up="y")
    assert np.allclose(whole.q[3, :7], before.q[3, :7], atol=1e-3)


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """A walk that goes on as a slower one; the folder, and what the command said."""
    folder, figure = tmp_path_factory.mktemp("walks"), kt.robots.human()
    walks = human.stroll(figure, 1.2), human.stroll(figure, 1.8, length=0.3, period=0.7)
    for name, walk in zip(("a.bvh", "b.bvh"), walks, strict=True):
        step = float(np.diff(walk.times).mean())
        kt.write_bvh(folder / name, figure, walk.q, step)
    files = [str(folder / name) for name in ("a.bvh", "b.bvh", "c.bvh")]
    result = invoke(*files[:2], "--from", "0.6", "--to", "1.05", "-o", files[2], "--json")
    assert result.exit_code == 0, result.output
    return files, json.loads(result.stdout)


@pytest.mark.slow
def test_a_recorded_walk_goes_on_as_another_on_its_feet(walked):
    """Written, and read back: feet stay, joints keep their ranges, nothing spins."""
    files, said = walked
    assert said["message"] == "converged"
    assert not [x for x in said["remarks"] if "warning" in x]
    sentences = [x for x in said["remarks"] if "stands from" in x]
    capture = kt.read_bvh(files[2], mass=70)
    whole = kt.Motion(capture.robot, capture.times, capture.q)
    length = next(float(x.split()[3]) for x in said["remarks"] if "transition lasts" in x)
    assert whole.duration == pytest.approx(0.6 + length + 0.75, abs=0.04)
    assert len(sentences) == 2
    for sentence in sentences:
        foot, _, _, first, _, last = sentence.split()[:6]
        inside = (whole.times > 0.6 + float(first)) & (whole.times < 0.6 + float(last) - 0.01)
        places = capture.robot.pose(whole.q[inside], foot)[:, :3, 3]
        assert inside.sum() > 5
        assert np.ptp(places, axis=0).max() < 1e-3
        assert np.abs(places[:, 2] - human.ANKLE).max() < 1e-3
    during = (whole.times > 0.6) & (whole.times < 0.6 + length)
    assert np.abs(whole.v[during, 6:]).max() < 20.0
    recorded = kt.read_bvh(files[0], mass=70)
    ranged, beyond = with_ranges(recorded.robot, (recorded.q,))
    assert beyond == ()
    assert max(x.max() for _, x in ball_excess(ranged, whole.q)) < 2e-3
    ahead = np.diff(whole.q[:, 0])
    assert (ahead > 0.0).all()  # it does not stop


def test_what_is_wrong_is_a_message(tmp_path):
    first = recording(tmp_path / "1.bvh", 1)
    late = invoke(first, first, "--from", "3", "--to", "0.2")
    assert late.exit_code == 1
    assert "--from 3: time: t = 3 s is outside of the motion" in late.output.replace("\n", " ")
    for option in ("--figures", "--plot"):
        drawn = invoke(first, first, "--from", "0.3", "--to", "0.2", option, "it.xyz")
        assert "ends with its format" in drawn.output.replace("\n", " ")
        assert "P =" not in drawn.output
    for option, word in (("--units", "furlong"), ("--units", "-1"), ("--up", "x")):
        wrong = invoke(first, first, option, word)
        assert wrong.exit_code == 1
        assert word in wrong.output
    weightless = invoke(first, first, "--mass", "-4")
    assert "mass=-4.0: read_bvh: a positive mass, kg, is expected" in weightless.output
    other = invoke(first, "motion.csv", "--from", "0.3", "--to", "0.2")
    assert "ends with .bvh or .npz" in other.output
    named = invoke(first, first, "--from", "0.3", "--to", "0.2", "-o", "both.csv")
    assert "ends with .bvh or .npz" in named.output
    assert "lasts" not in named.output  # said before the search
