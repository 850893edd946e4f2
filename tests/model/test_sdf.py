"""SDF: frame semantics, joints of every type, loops, worlds, what is left out, what is refused."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import Coupling, LoopJoint
from kinetree.errors import FileFormatError, ModelError
from kinetree.geometry import Plane
from kinetree.model.formats.sdf_elements import HONOURED
from kinetree.robot.load import check_file
from tests.model.sdf_texts import CHAIN, DOCUMENTS, MANY_AXES, NESTED, link, sdf

X, Y, Z = np.eye(3)


def loaded(content, version="1.9", **options):
    return kt.load(sdf(content, version), **options)


def hinge(name, parent, child, more="", axis="0 0 1", pose=""):
    return f"""<joint name="{name}" type="revolute">{pose}<parent>{parent}</parent>
    <child>{child}</child><axis><xyz>{axis}</xyz>{more}</axis></joint>"""


def test_a_pose_is_relative_to_what_it_names():
    robot = loaded(CHAIN)
    model = np.array([0.1, 0.2, 0.3])
    base = robot.pose(robot.neutral(), "base")
    assert not np.allclose(base[:3, 3], model)
    upper, tool = (robot.pose(robot.neutral(), x) for x in ("upper", "tool"))
    lower = robot.pose(robot.neutral(), "lower")
    assert np.allclose((np.linalg.inv(upper) @ lower)[:3, 3], [0, 0.3, 0])
    assert np.allclose((np.linalg.inv(lower) @ tool)[:3, 3], [0.1, 0.2, 0])


def test_limits_dampers_springs_and_rotors_are_read():
    robot = loaded(CHAIN)
    assert robot.joints == ("shoulder", "elbow", "wrist")
    assert robot.limits.lower[0] == -1
    assert robot.limits.upper[0] == 2
    assert np.isinf(robot.limits.upper[1])
    assert robot.limits.effort[0] == 40
    assert robot.limits.velocity[0] == 3
    shoulder, elbow, _ = (body.drive for body in robot.model.bodies)
    assert (shoulder.damping, shoulder.stiffness, shoulder.rest) == (0.7, 3.0, (0.2,))
    assert elbow.armature == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("pitch", "travel"),
    [("<screw_thread_pitch>0.3</screw_thread_pitch>", 0.3), ("<thread_pitch>-4</thread_pitch>", 0)],
)
def test_a_screw_moves_by_its_pitch(pitch, travel):
    text = f"""<model name="m">{link("a")}{link("b")}<joint name="s" type="screw">
    <parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis>{pitch}</joint></model>"""
    robot = loaded(text)
    turn = 2 * np.pi
    expected = travel or turn / 4  # -1/pitch metres for each radian
    assert robot.pose([turn], "b")[2, 3] == pytest.approx(expected)


def test_two_axes_are_two_joints_with_their_own_limits():
    robot = loaded(MANY_AXES)
    assert robot.joints == ("cardan", "cardan_2", "spin", "hip")
    assert np.isinf(robot.limits.lower[0])
    assert robot.limits.lower[1] == -0.5
    second = loaded(MANY_AXES.replace('type="universal"', 'type="revolute2"'))
    q = robot.random(0)
    assert np.array_equal(robot.mass_matrix(q), second.mass_matrix(q))


def test_names_in_nested_models_have_theirs_in_front():
    robot = loaded(NESTED)
    assert robot.joints == ("top", "inner::j", "inner::k")
    assert {"inner::deep::c", "inner::grip", "shelf", "plate"} <= set(robot.frames)
    # the frame named by placement_frame is where the model is put
    pose = np.linalg.inv(robot.pose(robot.neutral(), "shelf"))
    assert np.allclose((pose @ robot.pose(robot.neutral(), "inner::grip"))[:3, 3], [0.3, 0, 0.2])


def test_a_model_alone_leaves_its_base_to_the_user():
    text = f"""<model name="m"><pose>0 0 2 0 0 0</pose>{link("a", "<pose>1 0 0 0 0 0</pose>")}
    {link("b")}{hinge("j", "a", "b")}</model>"""
    fixed, floating = loaded(text), loaded(text, base="floating")
    assert (fixed.nv, floating.nv) == (1, 7)
    assert np.allclose(fixed.pose([0.0], "a")[:3, 3], [1, 0, 2])
    assert np.allclose(floating.pose(floating.neutral(), "a")[:3, 3], 0)
    assert np.allclose(loaded(text, mount=(0, 0, 0)).pose([0.0], "a")[:3, 3], 0)
    held = text.replace("<model name='m'>", "").replace("</model>", hinge("w", "world", "a"))
    with pytest.raises(ModelError, match="remove its joint with the world"):
        loaded(f"{held}</model>", base="floating")


def test_in_a_world_each_model_is_free():
    robot = kt.load(DOCUMENTS["a world"])
    assert robot.joints == ("one::j", "one::body_free", "two::body_free")
    assert robot.nv == 13
    assert robot.gravity.tolist() == [0, 1, -8]
    assert [c.frame for c in robot.model.colliders] == [None]
    assert isinstance(robot.model.colliders[0].shape, Plane)


FOUR_BAR = f"""<model name="bar">{link("ground")}
{link("crank", "<pose>0 0 0 0 0 0</pose>")}{link("coupler", "<pose>0.5 0 0 0 0 0</pose>")}
{link("rocker", "<pose>1 0 0 0 0 0</pose>")}
{hinge("i", "ground", "crank", axis="0 1 0")}{hinge("j", "crank", "coupler", axis="0 1 0")}
{hinge("k", "ground", "rocker", axis="0 1 0")}
LAST</model>"""


def test_a_joint_that_closes_a_loop_is_a_constraint():
    last = hinge("l", "coupler", "rocker", axis="0 1 0", pose="<pose>0 0 0.3 0 0 0</pose>")
    robot = loaded(FOUR_BAR.replace("LAST", last))
    assert robot.joints == ("i", "j", "k")
    (loop,) = robot.model.constraints
    assert isinstance(loop, LoopJoint)
    assert (loop.name, loop.base, loop.frame, loop.row_count) == ("l", "coupler", "rocker", 5)
    assert np.allclose(robot.constraints.errors(robot.neutral()), 0)
    rubbing = last.replace("</xyz>", "</xyz><dynamics><damping>1</damping></dynamics>")
    found = check_file(sdf(FOUR_BAR.replace("LAST", rubbing)))
    assert any("closes a loop" in p.message and "damping" in p.message for p in found)


def test_a_loop_is_cut_where_it_moves_most():
    ball = """<joint name="a_ball" type="ball"><parent>ground</parent><child>rocker</child>
    </joint>"""
    text = FOUR_BAR.replace(hinge("k", "ground", "rocker", axis="0 1 0"), ball)
    robot = loaded(text.replace("LAST", hinge("l", "coupler", "rocker", axis="0 1 0")))
    assert [c.name for c in robot.model.constraints] == ["a_ball"]
    assert robot.joints == ("i", "j", "l")


def test_a_joint_is_followed_backwards_if_it_must_be():
    text = f"""<model name="m">{link("a")}{link("b", "<pose>1 0 0 0 0 0</pose>")}
    {link("c", "<pose>2 0 0 0 0 0</pose>")}{hinge("i", "a", "c")}{hinge("j", "b", "c")}</model>"""
    robot = loaded(text)
    assert robot.nv == 2
    assert np.allclose(robot.pose([0.0, 0.0], "b")[:3, 3], [1, 0, 0])
    # j turns the child c against b: b turns the other way about the joint, which is at c
    assert np.allclose(robot.pose([0.0, np.pi / 2], "b")[:3, 3], [2, 1, 0])


def test_a_gearbox_couples_hinges():
    text = f"""<model name="m">{link("base")}{link("motor")}{link("wheel")}
    {hinge("i", "base", "motor")}{hinge("j", "base", "wheel", axis="0 0 -1")}
    <joint name="g" type="gearbox"><parent>motor</parent><child>wheel</child>
    <gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>
    <axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint></model>"""
    (gear,) = loaded(text).model.constraints
    assert isinstance(gear, Coupling)
    # theta_2 = -3 theta_1, and j counts the other way
    assert dict(gear.polynomials) == {"j": (0.0, -1.0), "i": (0.0, 3.0)}
    askew = text.replace("<axis2><xyz>0 0 1", "<axis2><xyz>0 1 1")
    assert any("hinges about its axes" in p.message for p in check_file(sdf(askew)))


def test_a_joint_can_mimic_another():
    mimic = """<mimic joint="i" axis="axis"><multiplier>2</multiplier><offset>0.5</offset>
    <reference>0.1</reference></mimic>"""
    text = f"""<model name="m">{link("a")}{link("b")}{link("c")}{hinge("i", "a", "b")}
    {hinge("j", "b", "c", mimic)}</model>"""
    robot = loaded(text, "1.11")
    assert robot.nv == 1
    turned = np.arctan2(*robot.pose([0.3], "c")[[1, 0], 0])
    assert turned == pytest.approx(0.3 + 2 * (0.3 - 0.1) + 0.5)
    assert loaded(text, "1.11", mimic=False).nv == 2


def test_a_model_is_included_with_another_name_and_pose(tmp_path):
    (tmp_path / "finger").mkdir()
    part = f"""<model name="finger"><pose>5 0 0 0 0 0</pose>{link("a")}
    {link("b", "<pose>0 0 1 0 0 0</pose>")}{hinge("j", "a", "b")}</model>"""
    (tmp_path / "finger" / "model.sdf").write_text(sdf(part))
    (tmp_path / "finger" / "model.config").write_text("<model><sdf>model.sdf</sdf></model>")
    hand = f"""<model name="hand">{link("palm")}
    <include><uri>model://finger</uri><name>left</name><pose>0 1 0 0 0 0</pose></include>
    <include><uri>finger/model.sdf</uri><name>right</name><pose>0 2 0 0 0 0</pose>
    <placement_frame>b</placement_frame></include>
    {hinge("l", "palm", "left::a")}{hinge("r", "palm", "right::a")}</model>"""
    (tmp_path / "hand.sdf").write_text(sdf(hand))
    robot = kt.load(tmp_path / "hand.sdf")
    assert robot.nv == 4
    assert np.allclose(robot.pose(robot.neutral(), "left::b")[:3, 3], [0, 1, 1])
    assert np.allclose(robot.pose(robot.neutral(), "right::b")[:3, 3], [0, 2, 0])


@pytest.mark.parametrize("uri", ["../x.sdf", "/etc/x.sdf", "file:///etc/x.sdf", "model://../x.sdf"])
def test_nothing_outside_of_the_folder_is_included(uri, tmp_path):
    (tmp_path / "x.sdf").write_text(sdf(f"<model name='x'>{link('a')}</model>"))
    (tmp_path / "robot").mkdir()
    text = f"<model name='m'>{link('a')}<include><uri>{uri}</uri></include></model>"
    (tmp_path / "robot" / "r.sdf").write_text(sdf(text))
    with pytest.raises(FileFormatError, match=r"there is no such file in the robot's folder"):
        kt.load(tmp_path / "robot" / "r.sdf")


def test_files_that_include_one_another_end(tmp_path):
    two = "<include><uri>m.sdf</uri><name>{}</name></include>"
    text = sdf(f"<model name='m'>{link('a')}{two.format('x')}{two.format('y')}</model>")
    (tmp_path / "m.sdf").write_text(text)
    with pytest.raises(FileFormatError, match=r"deep|elements"):
        kt.load(tmp_path / "m.sdf")


def test_a_link_without_inertia_has_that_of_sdf_or_of_its_shapes():
    shape = "<geometry><box><size>1 2 3</size></box></geometry></collision>"
    plain = f"""<link name="b"><pose>0 0 1 0 0 0</pose><collision name="c">{shape}</link>"""
    text = f"<model name='m'>{link('a')}{plain}{hinge('j', 'a', 'b')}</model>"
    assert any("SDF's default" in p.message for p in check_file(sdf(text)))
    assert loaded(text).mass_matrix([0.0])[0, 0] == pytest.approx(1.0)
    shaped = loaded(text, inertia="from geometry", density=2.0)
    assert shaped.mass_matrix([0.0])[0, 0] == pytest.approx(2 * 6 * (1 + 4) / 12)
    auto = text.replace("<collision name", "<inertial auto='true'/><collision name")
    auto = auto.replace(shape, shape.replace("</collision>", "<density>4</density></collision>"))
    assert loaded(auto, "1.11").mass_matrix([0.0])[0, 0] == pytest.approx(4 * 6 * 5 / 12)


# what is left out


def example(name):
    """A document with an element of a row that is not honoured."""
    inside = {
        "other sensors": ("link", "<sensor name='s' type='camera'/>"),
        "`plugin`": ("model", "<plugin filename='x' name='p'/>"),
        "`fluid_added_mass`": ("inertial", "<fluid_added_mass/>"),
        "`self_collide`, `surface`": ("model", "<self_collide>1</self_collide>"),
        "`heightmap`, `polyline`, `cone` and other shapes": (
            "link",
            "<collision name='c'><geometry><heightmap/></geometry></collision>",
        ),
        "`stiffness`, `dissipation` of a limit": ("limit", "<stiffness>1e4</stiffness>"),
        "`light`, `actor`, `physics`, `scene` and other parts of a world": ("world", "<light/>"),
    }
    where, text = inside[name]
    limit = f"<limit><upper>1</upper>{text if where == 'limit' else ''}</limit>"
    part = link("b").replace("</link>", f"{text if where == 'link' else ''}</link>")
    if where == "inertial":
        part = part.replace("</inertial>", f"{text}</inertial>")
    model = f"""<model name="m">{link("a")}{part}{hinge("j", "a", "b", limit)}
    {text if where == "model" else ""}</model>"""
    return sdf(f"<world name='w'>{text}{model}</world>" if where == "world" else model)


@pytest.mark.parametrize("row", [x for x in HONOURED if not x.honoured], ids=lambda x: x.name)
def test_what_is_not_honoured_is_named_as_the_table_says(row):
    problems = check_file(example(row.name))
    severity = "warning" if "with a warning" in row.becomes else "note"
    assert "warning" in row.becomes or "note" in row.becomes
    assert any(p.severity == severity and ":" in p.where for p in problems), problems


def test_documents_of_honoured_elements_give_no_warning():
    for name, text in DOCUMENTS.items():
        assert not [p for p in check_file(text) if p.severity != "note"], name


def test_an_unknown_element_is_named_once_with_its_line():
    text = f"""<model name="m">{link("a", more="<masss>1</masss>")}
    {link("b", more="<masss>2</masss>")}{hinge("j", "a", "b")}</model>"""
    problems = [p for p in check_file(sdf(text)) if "masss" in p.message]
    assert len(problems) == 1
    assert problems[0].where == "<string>:3"
    assert "its content is lost" in problems[0].message


BAD = {
    "no model": ("", "0 worlds and 0 models; one world or one model"),
    "two models": ("<model name='a'/><model name='b'/>", "0 worlds and 2 models"),
    "no link": ("<model name='a'/>", "no link"),
    "no name": ("<model/>", "'name' is missing"),
    "an unknown frame": (
        "<model name='m'><link name='a'><pose relative_to='x'/></link></model>",
        "no frame 'x'",
    ),
    "a pose in a circle": (
        "<model name='m'><link name='a'/><frame name='f' attached_to='g'/>"
        "<frame name='g' attached_to='f'/></model>",
        "itself",
    ),
    "a name twice": ("<model name='m'><link name='a'/><link name='a'/></model>", "a second link"),
    "a reserved name": ("<model name='m'><link name='__model__'/></model>", "reserved"),
    "five numbers": (
        "<model name='m'><link name='a'><pose>1 2 3 4 5</pose></link></model>",
        "5 words; 6 numbers are expected",
    ),
    "no number": (
        "<model name='m'><link name='a'><inertial><mass>x</mass></inertial></link></model>",
        "'x' is not a number",
    ),
    "an unknown joint": (
        f"<model name='m'><link name='a'/><link name='b'/>"
        f"{hinge('j', 'a', 'b').replace('revolute', 'hinge')}</model>",
        "'hinge' is unknown; known types are revolute",
    ),
    "a joint with one link": (
        f"<model name='m'><link name='a'/>{hinge('j', 'a', 'a')}</model>",
        "are both link 'a'",
    ),
    "a zero axis": (
        f"<model name='m'><link name='a'/><link name='b'/>{hinge('j', 'a', 'b', axis='0 0 0')}"
        "</model>",
        "the axis is zero",
    ),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_a_bad_document_is_refused_with_its_place_and_reason(case):
    text, message = case
    with pytest.raises(ModelError, match=rf"(?s)<string>:\d+: .*{message}"):
        loaded(text)


def test_an_old_version_is_read_and_a_wrong_one_refused():
    assert kt.load(DOCUMENTS["a model of SDF 1.4"]).nv == 2
    for version in ("2.0", "x", "1"):
        with pytest.raises(FileFormatError, match="version"):
            loaded(CHAIN, version)


def test_an_imu_is_an_accelerometer_and_a_gyro():
    imu = "<sensor name='imu' type='imu'><pose>0 0 0.1 0 0 1</pose></sensor>"
    robot = loaded(
        f"<model name='m'>{link('a')}{link('b', more=imu)}{hinge('j', 'a', 'b')}</model>"
    )
    readings = robot.sensors.named(robot.sensors([0.0], [2.0], [0.0]))
    assert np.allclose(readings["imu_gyro"], [0, 0, 2])
    assert np.allclose(readings["imu_accelerometer"], [0, 0, 9.81])


def test_a_robot_of_sdf_is_saved_as_other_formats(tmp_path):
    robot = loaded(CHAIN.replace('type="screw"', 'type="revolute"'))
    robot.save(tmp_path / "chain.urdf")
    again, q = kt.load(tmp_path / "chain.urdf", joints=robot.joints), robot.random(0)
    armature = np.diag([0, 0.4, 0])
    assert np.allclose(again.mass_matrix(q) + armature, robot.mass_matrix(q))


WRIST = """<model name="wrist"><link name="palm"><pose>0 0 0.1 0 0 0</pose>
<inertial><mass>2</mass></inertial></link>
<frame name="grip"><pose>0.2 0 0 0 0 0</pose></frame>
<link name="thumb"><pose relative_to="__model__">0 0.3 0.1 0 0 0</pose></link>
<joint name="bend" type="revolute"><parent>palm</parent><child>thumb</child>
<axis><xyz expressed_in="__model__">1 0 0</xyz></axis></joint></model>"""


def merging(tmp_path, more=""):
    """An arm that merges the contents of another file."""
    (tmp_path / "wrist.sdf").write_text(sdf(WRIST))
    include = f"""<include merge="true"><uri>wrist.sdf</uri>
    <pose relative_to="arm">0 0 1 0 0 1.5707963267948966</pose>{more}</include>"""
    text = f"""<model name="m">{link("arm")}{include}{hinge("turn", "arm", "palm")}</model>"""
    (tmp_path / "arm.sdf").write_text(sdf(text))
    return kt.load(tmp_path / "arm.sdf")


def test_a_merged_model_gives_its_contents_to_the_one_around_it(tmp_path):
    robot = merging(tmp_path)
    assert robot.joints == ("bend", "turn")
    here = np.linalg.inv(robot.pose(robot.neutral(), "arm"))
    for name, place in (("palm", [0, 0, 1.1]), ("grip", [0, 0.2, 1]), ("thumb", [-0.3, 0, 1.1])):
        assert np.allclose((here @ robot.pose(robot.neutral(), name))[:3, 3], place), name
    bent = robot.jacobian(robot.neutral(), "thumb", axes="origin")[3:, 0]
    assert np.allclose(here[:3, :3] @ bent, [0, 1, 0])


def test_a_merged_model_is_placed_by_a_frame_of_its_own(tmp_path):
    robot = merging(tmp_path, "<placement_frame>grip</placement_frame>")
    here = np.linalg.inv(robot.pose(robot.neutral(), "arm"))
    assert np.allclose((here @ robot.pose(robot.neutral(), "grip"))[:3, 3], [0, 0, 1])
    assert np.allclose((here @ robot.pose(robot.neutral(), "palm"))[:3, 3], [0, -0.2, 1.1])


def test_only_models_merge():
    text = "<world name='w'><include merge='true'><uri>x</uri></include></world>"
    with pytest.raises(FileFormatError, match="only a model can merge"):
        loaded(text)


def sensed(kind, settings=""):
    """What a force-torque sensor of a joint shows at rest: 3 kg beyond it, off its axis."""
    ft = f"<sensor name='ft' type='force_torque'><force_torque>{settings}</force_torque></sensor>"
    joint = (
        hinge("j", "a", "b", axis="0 1 0")
        if kind == "revolute"
        else ("<joint name='j' type='fixed'><parent>a</parent><child>b</child></joint>")
    )
    robot = loaded(f"""<model name="m">{link("a")}
    <link name="b"><inertial><mass>2</mass></inertial></link>
    <link name="c"><pose>1 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link>
    <joint name="k" type="revolute"><parent>b</parent><child>c</child>
    <axis><xyz>0 1 0</xyz></axis></joint>{joint.replace("</joint>", ft + "</joint>")}</model>""")
    still = np.zeros(robot.nv)
    return robot.sensors(robot.neutral(), still, still)


@pytest.mark.parametrize("kind", ["revolute", "fixed"])
def test_a_force_torque_sensor_shows_what_a_joint_transmits(kind):
    up = "<measure_direction>parent_to_child</measure_direction>"
    held = sensed(kind, up)
    assert np.allclose(held, [0, 0, 3 * 9.81, 0, -9.81, 0])
    assert np.allclose(sensed(kind), -held)


def test_settings_of_a_force_torque_sensor_are_checked():
    with pytest.raises(FileFormatError, match="one of child, parent, sensor is expected"):
        sensed("fixed", "<frame>elsewhere</frame>")


def test_a_link_without_gravity_has_its_weight_carried():
    text = f"""<model name="m">{link("a")}{link("b", "<gravity>false</gravity>")}
    {hinge("j", "a", "b", axis="0 1 0")}</model>"""
    q, heavy = [0.3], text.replace("<gravity>false</gravity>", "")
    assert abs(loaded(heavy).gravity_forces(q)[0]) > 1e-3
    assert abs(loaded(text).gravity_forces(q)[0]) < 1e-12


def test_where_the_file_puts_free_models_is_the_reference():
    model = "<model name='{}'><pose>{} 0 0.5 0 0 0.5</pose>" + link("a") + "</model>"
    text = "<world name='w'>" + model.format("m", 1) + model.format("n", 2) + "</world>"
    robot = loaded(text)
    start = robot.keyframes["reference"]
    assert np.allclose(robot.pose(start.q, "m::a")[:3, 3], [1, 0, 0.5])
    turned = robot.pose(start.q, "n::a")
    assert np.allclose(turned[:3, 3], [2, 0, 0.5])
    assert np.allclose(turned[0, 0], np.cos(0.5))
    assert not loaded(CHAIN).keyframes


def test_robots_that_become_one_have_one_reference():
    model = "<model name='{}'><pose>{} 0 0.5 0 0 0</pose>" + link("{}") + "</model>"
    first, second = (
        loaded("<world name='w'>" + model.format(x, 1, x) + "</world>") for x in ("m", "n")
    )
    both = first.edit.attach(second, first.frames[-1], joint=kt.joints.Ball(), prefix="p_")
    assert list(both.keyframes) == ["reference"]
    assert both.keyframes["reference"].q[0] == 1
