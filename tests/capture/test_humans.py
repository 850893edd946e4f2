"""Recorded humans: masses of segments and ranges of joints on skeletons."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.capture.masses import mass_shares
from kinetree.capture.ranges import with_ranges
from kinetree.errors import ModelWarning
from kinetree.motion import human
from kinetree.robot.ball_excess import ball_excess
from tests.capture.skeletons import ARM, walker


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The human figure and its walk, and the walk read from a file as a skeleton."""
    figure, path = kt.robots.human(), tmp_path_factory.mktemp("bvh") / "walk.bvh"
    walk = human.stroll(figure, 1.2)
    kt.write_bvh(path, figure, walk.q, float(np.diff(walk.times).mean()))
    with pytest.warns(ModelWarning):
        capture = kt.read_bvh(path, mass=73.0)
    return figure, walk, capture


def test_segments_have_their_shares_of_the_mass(recorded):
    figure, _, capture = recorded
    assert capture.robot.total_mass == pytest.approx(73.0)
    mass = {body.name: body.inertia.mass for body in capture.robot.model.bodies}
    for body in figure.model.bodies:
        assert mass[body.name] == pytest.approx(body.inertia.mass, rel=1e-3)


def test_bones_between_segments_belong_to_the_one_above():
    names = ["Hips", "Spine", "Spine1", "Neck", "Head"]
    parents = [-1, 0, 1, 2, 3]
    for side in ("Left", "Right"):
        for bones in (("Shoulder", "Arm", "ForeArm", "Hand"), ("UpLeg", "Leg", "Foot", "ToeBase")):
            above = 2 if bones[0] == "Shoulder" else 0
            for bone in bones:
                parents.append(above)
                above = len(names)
                names.append(side + bone)
    shares = mass_shares(names, parents)
    owner = {name: names[k] for name, (k, _, _) in zip(names, shares, strict=True)}
    assert owner["Head"] == "Neck"
    assert owner["LeftShoulder"] == "Spine1"
    assert owner["RightToeBase"] == "RightFoot"
    assert sum({k: share for k, share, _ in shares}.values()) == pytest.approx(1.0)
    assert mass_shares(names[:10], parents[:10]) is None


def test_ranges_follow_the_figures_at_every_moment(recorded):
    figure, walk, capture = recorded
    robot, beyond = with_ranges(capture.robot, [capture.q])
    assert not beyond
    own = {name.removesuffix("_joint"): x for name, x in ball_excess(figure, walk.q)}
    theirs = dict(ball_excess(robot, capture.q))
    for name, excess in own.items():
        assert np.allclose(theirs[name], excess, atol=1e-4)
    assert set(theirs) - set(own) == {  # hinges of the figure
        f"{side}_{part}" for side in ("left", "right") for part in ("forearm", "shank")
    }


def test_joints_that_a_recording_turns_further_have_no_range(recorded):
    _, _, capture = recorded
    turn = np.zeros(capture.robot.nv)
    at = dict(zip(capture.robot.bodies, capture.robot.model.v_slices, strict=True))["left_shank"]
    turn[at.start + 1] = -0.5  # a knee bent the wrong way
    q = capture.robot.integrate(capture.robot.neutral(), turn)
    robot, beyond = with_ranges(capture.robot, [q[None]])
    assert beyond == ("left_shank",)
    assert "left_shank" not in robot.limits.balls
    assert "right_shank" in robot.limits.balls


def test_other_skeletons_share_the_mass_by_lengths(tmp_path):
    path = tmp_path / "arm.bvh"
    path.write_text(ARM)
    capture = kt.read_bvh(path, units="cm", up="y", mass=70.0)
    assert capture.robot.total_mass == pytest.approx(70.0)


@pytest.mark.parametrize("bones", [("9 -4 0", "-9 -4 0"), ("26 0 0",), ("0 -42 -2",)])
def test_skeletons_with_bones_without_length_have_ranges(bones, tmp_path):
    text = walker()
    for bone in bones:
        _, y, z = bone.split()
        assert f"OFFSET {bone}" in text
        text = text.replace(f"OFFSET {bone}", "OFFSET 0 0 0" if y != "-4" else f"OFFSET 0 {y} {z}")
    (tmp_path / "walk.bvh").write_text(text)
    with pytest.warns(ModelWarning):
        capture = kt.read_bvh(tmp_path / "walk.bvh", mass=70.0)
    robot, beyond = with_ranges(capture.robot, [capture.q])
    assert len(robot.limits.balls) + len(beyond) == 15
    for name, excess in ball_excess(robot, capture.q):
        assert excess.max() <= 0.0, name
