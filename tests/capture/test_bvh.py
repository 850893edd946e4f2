"""BVH in and out: poses against the format's definition, round trips, malformed files."""

import inspect
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.capture.bvh import read_recording
from kinetree.errors import FileFormatError, KinetreeError, ModelWarning, ShapeError
from kinetree.robot.load import check_file
from tests.capture.skeletons import ARM, walker
from tests.tolerances import relative_error

SAME = 1e-9
UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # the file's y is our z


def about(axis, degrees):
    u, t = np.eye(3)["XYZ".index(axis)], np.radians(degrees)
    W = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + np.sin(t) * W + (1 - np.cos(t)) * W @ W


@pytest.fixture
def file(tmp_path):
    def write(text, name="motion.bvh"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_poses_are_those_that_the_format_defines(file):
    capture = kt.read_bvh(file(ARM), units="cm", up="y")
    robot = capture.robot
    assert capture.times.tolist() == pytest.approx([0.0, 0.04, 0.08])
    assert capture.q.shape == (3, robot.nq)
    x, y, z, a, b, c, d, e, f, g, h, i = np.loadtxt(ARM.splitlines()[-3:])[1]
    hips = about("Z", a) @ about("X", b) @ about("Y", c)
    chest = hips @ about("Z", d) @ about("X", e) @ about("Y", f)
    elbow = chest @ about("Y", g)
    leg = hips @ about("X", h) @ about("Z", i)
    at = {"Hips": np.array([x, y, z])}
    at["Chest"] = at["Hips"] + hips @ (0, 50, 0)
    at["Elbow"] = at["Chest"] + chest @ (30, 20, 0)
    at["Elbow_end"] = at["Elbow"] + elbow @ (25, 0, 0)
    at["Leg"] = at["Hips"] + hips @ (10, -80, 0)
    at["Leg_end"] = at["Leg"] + leg @ (0, -40, 0)
    for name, place in at.items():
        assert relative_error(robot.pose(capture.q[1], name)[:3, 3], UP @ place * 0.01) < SAME
    turned = {"Hips": hips, "Chest": chest, "Elbow": elbow, "Leg": leg}
    for name, R in turned.items():
        assert relative_error(robot.pose(capture.q[1], name)[:3, :3], UP @ R @ UP.T) < SAME


def test_at_the_neutral_configuration_the_skeleton_stands_in_its_rest_pose(file):
    robot = kt.load(file(ARM), base="floating")
    assert relative_error(robot.pose(robot.neutral(), "Elbow_end")[:3, 3], [0.55, 0.0, 0.7]) < SAME
    assert robot.joints == ("root_joint", "Chest", "Elbow", "Leg")


def test_units_and_the_up_axis_are_guessed_with_a_word(file):
    with pytest.warns(ModelWarning, match=r"units='cm' and up='y' guessed .* 1\.90 m high"):
        capture = kt.read_bvh(file(ARM))
    assert (capture.units, capture.up) == (0.01, "y")
    assert any("units='cm' and up='y' are guessed" in str(x) for x in check_file(file(ARM)))
    with pytest.warns(ModelWarning, match="joint 'Chest': it moves without moving any inertia"):
        kt.load(file(ARM))  # a skeleton has no mass
    scaled = ARM.replace("50.0", "20.0").replace("-80.0", "-30.0").replace("-40.0", "-15.0")
    with pytest.warns(ModelWarning, match=r"units='inch' guessed"):
        capture = kt.read_bvh(file(scaled), up="y")
    assert capture.units == 0.0254


@pytest.mark.parametrize("up", ["y", "z"])
def test_a_motion_that_is_written_comes_back(tmp_path, up):
    human = kt.robots.human()
    rng = np.random.default_rng(0)
    times = np.linspace(0.0, 1.0, 12)[:, None]
    q = human.integrate(human.neutral(), times * rng.uniform(-2.5, 2.5, human.nv))
    path = tmp_path / "human.bvh"
    kt.write_bvh(path, human, q, np.float64(1 / 11), up=up)
    capture = kt.read_bvh(path, units="cm", up=up)
    back = capture.robot
    assert relative_error(capture.times[-1], 1.0) < SAME
    ours, theirs = human.poses(q), back.poses(capture.q)
    order = [back.bodies.index(name) for name in human.bodies]
    assert relative_error(theirs[:, order], ours) < SAME  # its links are parallel at rest


def test_robots_whose_joints_slide_or_stand_on_slanted_frames_are_written_too(tmp_path):
    for robot in (kt.robots.tree(6, 2), kt.robots.cart_pole()):
        q = robot.random(0, 4)
        path = tmp_path / f"{robot.name}.bvh"
        kt.write_bvh(path, robot, q, 0.1, units="m", up="z")
        capture = kt.read_bvh(path, units="m", up="z", positions="replace")
        for name in robot.bodies:
            frame = capture.robot.bodies.index(name)
            at = capture.robot.poses(capture.q)[:, frame, :3, 3]
            assert relative_error(at, robot.poses(q)[:, robot.bodies.index(name), :3, 3]) < SAME


def test_charts_are_continuous(file):
    text = walker()
    smooth = kt.read_bvh(file(text), units="cm", up="y")
    other = kt.read_bvh(file(text), units="cm", up="y", chart="exponential")
    assert other.robot.nq == other.robot.nv
    assert relative_error(other.robot.poses(other.q), smooth.robot.poses(smooth.q)) < SAME
    for capture in (smooth, other):
        assert np.abs(np.diff(capture.q, axis=0)).max() < 0.3


def test_velocities_by_differences_and_by_splines_are_those_of_the_motion(file):
    robot = kt.robots.human()
    speed = np.random.default_rng(4).uniform(-1.0, 1.0, robot.nv)
    times = np.linspace(0.0, 1.0, 41)
    q = robot.integrate(robot.neutral(), times[:, None] * speed)
    q[::2, 3:7] *= -1.0  # the same orientations
    for method, error in (("difference", 1e-9), ("spline", 1e-4)):
        assert (
            relative_error(
                robot.charts.velocities_along(times, q, method=method), np.tile(speed, (41, 1))
            )
            < error
        )
    arm = kt.robots.arm()
    uneven = times + 0.005 * np.sin(40 * times)
    path = np.sin(uneven[:, None] * np.arange(1, 8))
    exact = np.arange(1, 8) * np.cos(uneven[:, None] * np.arange(1, 8))
    found = arm.charts.velocities_along(uneven, path)
    assert np.abs(found - exact)[1:-1].max() < 0.1
    assert (
        np.abs(arm.charts.velocities_along(uneven, path, method="spline") - exact)[3:-3].max()
        < 2e-3
    )
    with pytest.raises(ShapeError, match="increasing times"):
        arm.charts.velocities_along(uneven[::-1], path)


def test_position_channels_replace_an_offset_or_are_added_to_it(file):
    text = ARM.replace("OFFSET 0.0 0.0 0.0", "OFFSET 0.0 90.0 0.0", 1)
    for positions, height in (("replace", 0.9), ("add", 1.8)):
        capture = kt.read_bvh(file(text), units="cm", up="y", positions=positions)
        assert capture.q[0, 2] == pytest.approx(height)
    with pytest.warns(ModelWarning, match="joint 'Hips' has an OFFSET .* positions='replace'"):
        capture = kt.read_bvh(file(text), units="cm", up="y")
    assert capture.q[0, 2] == pytest.approx(0.9)


def test_with_a_mass_there_are_dynamics(file):
    capture = kt.read_bvh(file(walker()), units="cm", up="y", mass=70.0)
    robot = capture.robot
    assert robot.total_mass == pytest.approx(70.0)
    v = capture.velocities()
    assert np.isfinite(robot.inverse_dynamics(capture.q, v, np.zeros_like(v))).all()
    for mass in (0.0, -70.0, np.nan, "70"):
        with pytest.raises(KinetreeError, match="a positive mass, kg, is expected"):
            kt.read_bvh(file(walker()), units="cm", up="y", mass=mass)


MALFORMED = {
    "not BVH at all": ("HIERARCHY\n", "hello\n", r":1: 'hello' begins a BVH file"),
    "no root": ("ROOT Hips", "JOINT Hips", r":2: 'JOINT' after HIERARCHY; 'ROOT' is expected"),
    "a number": ("50.0", "5O.0", r":8: the OFFSET of joint 'Chest': '5O.0' is not a number"),
    "infinite": ("50.0", "inf", r":8: the OFFSET of joint 'Chest': inf is not finite"),
    "a channel": (
        "1 Yrotation",
        "1 Wrotation",
        r":13: joint 'Elbow': 'Wrotation' is not a channel",
    ),
    "count": ("CHANNELS 1", "CHANNELS 9", r":13: joint 'Elbow' has 9 channels; at most 6"),
    "too few": ("CHANNELS 1", "CHANNELS 2", r":14: joint 'Elbow': 'End' is not a channel"),
    "twice": ("JOINT Elbow", "JOINT Hips", r":10: two joints are named 'Hips'; .* line 2"),
    "no offset": ("    OFFSET 10.0 -80.0 0.0\n", "", r":20: joint 'Leg' has no OFFSET"),
    "no channels": (
        "    CHANNELS 2 Xrotation Zrotation\n",
        "",
        r":20: joint 'Leg' has no CHANNELS",
    ),
    "brace": ("40.0 0.0 }\n  }\n}", "40.0 0.0 }\n}", r"ends where '}' of joint 'Hips' is expected"),
    "strange": ("JOINT Leg", "MUSCLE Leg", r":20: 'MUSCLE' in joint 'Hips'; OFFSET, CHANNELS"),
    "no motion": ("MOTION", "", r": 'Frames:' after the hierarchy; MOTION is expected"),
    "frames": ("Frames: 3", "Frames: 4", r":30: the file says 4 frames and has 3"),
    "half a frame": ("Frames: 3", "Frames: 2.5", r":28: Frames: 2.5 is not a number of frames"),
    "time": ("Frame Time: 0.04", "Frame Time: 0", r":29: Frame Time: 0 s; a positive time"),
    "endless": ("Frames: 3", "Frames: inf", r":28: Frames: inf is not a number of frames"),
    "no count": ("Frames: 3", "Frames: nan", r":28: Frames: nan is not a number of frames"),
    "many": ("Frames: 3", "Frames: 1e300", r":30: the file says 1e\+300 frames and has 3"),
    "for ever": ("Time: 0.04", "Time: 1e400", r":29: .* the time of the last frame is not finite"),
    "too long": ("Time: 0.04", "Time: 1e308", r":29: .* the time of the last frame is not finite"),
    "four turns": (
        "CHANNELS 3 Z",
        "CHANNELS 4 Xrotation Z",
        r":9: joint 'Chest' has 4 rotation channels; at most 3",
    ),
    "position twice": (
        "6 Xposition Yposition Zposition",
        "6 Xposition Yposition Xposition",
        r":5: joint 'Hips' names the channel Xposition twice",
    ),
    "short row": (" 15 25", " 15", r":31: frame 2 has 11 numbers; the joints have 12 channels"),
    "a word": ("2 92 4", "2 x 4", r":32: frame 3, number 2: 'x' is not a finite number"),
    "nan": ("2 92 4", "2 nan 4", r":32: frame 3, number 2: 'nan' is not a finite number"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_refused_with_its_line_and_its_joint(file, name):
    old, new, message = MALFORMED[name]
    assert old in ARM
    with pytest.raises(FileFormatError, match=message):
        kt.read_bvh(file(ARM.replace(old, new, 1)), units="cm", up="y")


def test_cut_anywhere_a_file_is_refused_and_nothing_else_happens(file):
    for end in range(10, len(ARM) - 80, 37):
        with pytest.raises(FileFormatError):
            kt.read_bvh(file(ARM[:end]), units="cm", up="y")


def test_frames_without_channels_are_empty_lines_and_no_more_than_there_are(file):
    still = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nMOTION\nFrames: {}\nFrame Time: 1\n"
    still = still.replace("{\n", "{{\n").replace("\n}", "\n}}")
    assert kt.read_bvh(file(still.format(2) + "\n\n"), units="cm", up="y").q.shape == (2, 7)
    with pytest.raises(FileFormatError, match=r"the file says 1e\+12 frames and has 2"):
        kt.read_bvh(file(still.format("1e12") + "\n\n"), units="cm", up="y")


def test_lengths_that_overflow_are_refused(file):
    with pytest.raises(FileFormatError, match=r":2: .* 'Hips' in frame 2 overflows"):
        kt.read_bvh(file(ARM.replace("1 91 2", "1 1e308 2")), units=100.0, up="y")
    far = ARM.replace("30.0 20.0 0.0", "1e308 1e308 1e308").replace("25.0 0.0", "1e308 1e308")
    with pytest.raises(KinetreeError, match="finite"):
        kt.read_bvh(file(far), units=100.0, up="y", mass=1.0)
    assert any(p.severity == "error" for p in check_file(file(far.replace("1e308", "1.7e308"))))


def test_a_joint_may_have_a_name_with_motion_in_it(file):
    named = ARM.replace("Chest", "LOCOMOTION").replace("Leg", "MOTION_LEG")
    assert "LOCOMOTION" in kt.read_bvh(file(named), units="cm", up="y").robot.joints


@pytest.mark.parametrize("chart", ["zyx", "exponential"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_file_of_only_a_root_is_read_in_every_chart(file, base, chart):
    root = ARM[: ARM.index("  JOINT")] + ARM[ARM.index("}\nMOTION") :]
    root = "\n".join(" ".join(x.split()[:6]) if x[:1].isdigit() else x for x in root.splitlines())
    capture = kt.read_bvh(file(root), units="cm", up="y", base=base, chart=chart)
    assert capture.q.shape == (3, 6 if base == "floating" else 0)


def chain(count):
    """A robot of links one after the other."""
    a = kt.Assembly("chain", "l0")
    for i in range(1, count):
        a.add(f"l{i}", f"l{i - 1}", kt.joints.Prismatic("z"), mass=1.0)
    return kt.Robot(a.model())


def test_a_chain_longer_than_the_stack_is_deep_is_written(tmp_path):
    count, path = 120, tmp_path / "chain.bvh"
    robot = chain(count)
    q = robot.neutral()[None]
    robot.poses(robot.neutral()), robot.poses(q)  # compiled, which takes a deep stack
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 60)
    try:
        kt.write_bvh(path, robot, q, 0.1)
    finally:
        sys.setrecursionlimit(usual)
    assert [bone.parent for bone in read_recording(path).bones] == list(range(-1, count - 2))


def test_names_that_are_none_in_a_file_are_changed(tmp_path):
    a = kt.Assembly("odd", "root")
    for name in ("a b", "a_b", "a{b}", "MOTION"):
        a.add(name, "root", kt.joints.Revolute("x"), mass=1.0)
    robot, path = a.robot(), tmp_path / "odd.bvh"
    kt.write_bvh(path, robot, robot.neutral()[None], 0.1)
    assert {"a_b", "a_b_2", "a_b_"} < {bone.name for bone in read_recording(path).bones}


def test_wrong_arguments_are_told_what_is_valid(file, tmp_path):
    path = file(ARM)
    with pytest.raises(kt.errors.UnknownNameError, match="'inch'"):
        kt.read_bvh(path, units="feet", up="y")
    with pytest.raises(kt.errors.UnknownNameError, match="valid are 'y', 'z'"):
        kt.read_bvh(path, up="x")
    with pytest.raises(kt.errors.MissingFileError):
        kt.read_bvh(tmp_path / "none.bvh")
    robot = kt.robots.arm()
    q = robot.neutral()[None]
    for units in (0, -1.0, np.nan, np.inf, None, [1.0]):
        with pytest.raises(KinetreeError, match=r"units=.* write_bvh: a unit's name or metres"):
            kt.write_bvh(tmp_path / "w.bvh", robot, q, 0.1, units=units)
    for step in (0.0, np.inf, "fast"):
        with pytest.raises(KinetreeError, match=r"frame_time=.* a positive time is expected"):
            kt.write_bvh(tmp_path / "w.bvh", robot, q, step)
    with pytest.raises(KinetreeError, match=r"q\[0\] holds a number that is not finite"):
        kt.write_bvh(tmp_path / "w.bvh", robot, q * np.nan, 0.1)
    arm = kt.robots.arm()
    with pytest.raises(ShapeError, match=r"\(frames, 7\)"):
        kt.write_bvh(path, arm, np.zeros((3, 8)), 0.1)
    with pytest.raises(KinetreeError, match="positive time"):
        kt.write_bvh(path, arm, np.zeros((3, 7)), -0.1)


@pytest.mark.slow
def test_the_human_figure_follows_a_recorded_skeleton(file):
    capture = kt.read_bvh(file(walker()), units="cm", up="y")
    figure, q, residual, joints = kt.fit_human(capture)
    assert joints["left_thigh"] == "LeftUpLeg"
    assert joints["right_upper_arm"] == "RightArm"
    assert joints["upper_trunk"] == "Spine1"
    assert figure.total_mass == pytest.approx(73.0)
    placed = figure.cartesian.state(q, at="origin").x
    theirs = capture.robot.cartesian.state(capture.q, at="origin").x
    for segment, joint in joints.items():
        ours = placed[:, figure.bodies.index(segment)]
        off = ours - theirs[:, capture.robot.bodies.index(joint)]
        assert np.linalg.norm(off, axis=1).max() < 0.05  # shoulders are lower than the neck
    assert residual[..., 0].max() < 0.1
    assert np.abs(np.diff(q, axis=0)).max() < 0.3
    # walking ahead: the figure's x axis points the way the root moves
    ahead = figure.poses(q)[:, 0, :3, 0]
    way = np.diff(q[:, :3], axis=0)
    assert (np.einsum("ij,ij->i", ahead[:-1], way) > 0.0).all()
    with pytest.raises(KinetreeError, match="no joint recognised as the figure's 'head'"):
        kt.fit_human(kt.read_bvh(file(ARM, "arm.bvh"), units="cm", up="y"))
