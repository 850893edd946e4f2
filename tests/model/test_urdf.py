"""URDF: a good file read to the last digit, a bad one refused with its file and line."""

import math
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree.errors import (
    FileFormatError,
    KinetreeError,
    MissingFileError,
    ModelError,
    ModelWarning,
)
from kinetree.model import Limits
from kinetree.model.joints import Floating, Prismatic, Revolute
from kinetree.model.model import WORLD
from kinetree.robot.load import load_model
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.tolerances import EPS, EXACT, relative_error

GOOD = """<?xml version="1.0"?>
<!-- a torso with two arms, written in no order -->
<robot name="torso">
  <material name="grey"/>
  <joint name="z_left" type="revolute">
    <parent link="chest"/> <child link="left"/>
    <origin xyz="0.1 -0.2 0.3" rpy="0 0 0"/>
    <axis xyz="0 0 2"/>
    <limit lower="-1.5" upper="2.5" velocity="3" effort="87"/>
  </joint>
  <link name="left">
    <inertial>
      <origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/>
    </inertial>
    <visual><geometry><mesh filename="left.stl"/></geometry></visual>
  </link>
  <link name="hand">
    <inertial>
      <mass value="0.25"/>
      <inertia ixx="0.125" ixy="0.01" ixz="0.02" iyy="0.25" iyz="0.03" izz="0.375"/>
    </inertial>
  </link>
  <joint name="wrist" type="fixed">
    <parent link="left"/> <child link="hand"/> <origin xyz="1 0 0"/>
  </joint>
  <link name="finger"/>
  <joint name="grip" type="prismatic">
    <parent link="hand"/> <child link="finger"/> <origin xyz="0 1 0"/> <axis xyz="0 -1 0"/>
    <limit upper="0.04"/>
  </joint>
  <link name="chest"/>
  <link name="right"/>
  <joint name="a_right" type="continuous">
    <parent link="chest"/> <child link="right"/>
    <limit lower="-1" upper="1" velocity="4" effort="5"/>
  </joint>
  <transmission name="t"><joint name="z_left"/></transmission>
</robot>
"""


def link(name):
    return f"<link name='{name}'/>"


def joint(name="j", kind="revolute", parent="a", child="b", inside=""):
    ends = f"<parent link='{parent}'/><child link='{child}'/>"
    return f"<joint name='{name}' type='{kind}'>{ends}{inside}</joint>"


def robot(*lines):
    """A file whose second line is the first of these."""
    return "\n".join(["<robot name='r'>", *lines, "</robot>"])


def body(inside="", kind="revolute"):
    """The only body of a robot with one joint."""
    (only,) = load_model(robot(link("a"), link("b"), joint(kind=kind, inside=inside))).bodies
    return only


# reading


@pytest.fixture(scope="module")
def good():
    return load_model(GOOD)


def test_bodies_are_numbered_depth_first_with_joints_in_alphabetical_order(good):
    assert [b.joint_name for b in good.bodies] == ["a_right", "z_left", "grip"]
    assert [b.name for b in good.bodies] == ["right", "left", "finger"]
    assert [b.parent for b in good.bodies] == [WORLD, WORLD, 1]


def test_the_robots_name_is_read_and_has_a_default(good):
    assert good.name == "torso"
    assert load_model("<robot><link name='a'/></robot>").name == "robot"


def test_placements_and_axes_are_read_exactly(good):
    _, left, finger = good.bodies
    assert left.placement == Transform(Rotation.identity(), Vector3(0.1, -0.2, 0.3))
    assert left.joint == Revolute(Vector3(0.0, 0.0, 1.0))
    assert finger.joint == Prismatic(Vector3(0.0, -1.0, 0.0))


def test_the_default_axis_is_x(good):
    assert good.bodies[0].joint == Revolute(Vector3(1.0, 0.0, 0.0))
    assert body("<axis/>").joint == Revolute(Vector3(1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("0 0 2", (0.0, 0.0, 1.0)),
        ("3 0 -4", (0.6, 0.0, -0.8)),
        ("1 1 1", (1 / math.sqrt(3),) * 3),
        ("1e200 0 0", (1.0, 0.0, 0.0)),
        ("0 1e-200 0", (0.0, 1.0, 0.0)),
    ],
)
def test_an_axis_of_any_length_is_normalised(text, direction):
    axis = body(f"<axis xyz='{text}'/>").joint.axis
    assert relative_error(list(axis), direction) <= EPS


def test_rpy_turns_the_joint_frame_about_fixed_axes():
    placement = body("<origin rpy='0.1 0.2 0.3'/>").placement
    assert placement == Transform(Rotation.rpy(0.1, 0.2, 0.3), Vector3.zero())


def test_limits_are_read_and_missing_ones_follow_urdf(good):
    right, left, finger = good.bodies
    assert left.limits == Limits(-1.5, 2.5, 3.0, 87.0)
    assert finger.limits == Limits(0.0, 0.04, math.inf, math.inf)
    assert body().limits == Limits(-math.inf, math.inf, math.inf, math.inf)
    assert right.limits == Limits(-math.inf, math.inf, 4.0, 5.0)


def test_a_continuous_joint_is_a_revolute_without_position_limits(good):
    right = good.bodies[0]
    assert isinstance(right.joint, Revolute)
    assert (right.limits.lower, right.limits.upper) == (-math.inf, math.inf)


def test_a_floating_joint_has_seven_coordinates():
    assert body(kind="floating").joint == Floating()


def test_the_inertia_about_a_turned_origin_is_turned_into_the_links_frame():
    text = GOOD.replace('type="fixed"', 'type="continuous"')  # the hand on its own
    left = load_model(text).bodies[1].inertia
    # a quarter turn about z swaps ixx and iyy; two kilograms half a metre along x add 0, 0.5, 0.5
    assert left.mass == 2.0
    assert left.moment == Vector3(1.0, 0.0, 0.0)
    expected = Symmetric3(2.0, 1.0 + 0.5, 3.0 + 0.5, 0.0, 0.0, 0.0)
    assert relative_error(list(left.rotational), list(expected)) < EXACT


def test_the_six_entries_of_an_inertia_are_read_into_their_places():
    inside = """<inertial><mass value='0.25'/>
        <inertia ixx='1' ixy='0.1' ixz='0.2' iyy='2' iyz='0.3' izz='3'/></inertial>"""
    text = robot(link("a"), f"<link name='b'>{inside}</link>", joint())
    inertia = load_model(text).bodies[0].inertia
    assert inertia == Inertia(0.25, Vector3.zero(), Symmetric3(1.0, 2.0, 3.0, 0.1, 0.2, 0.3))


@pytest.mark.parametrize(
    "inside", ["", "<inertial/>", "<inertial><origin xyz='1 2 3'/></inertial>"]
)
def test_a_link_without_inertial_numbers_has_no_inertia(inside):
    text = robot(link("a"), f"<link name='b'>{inside}</link>", joint())
    assert load_model(text).bodies[0].inertia == Inertia.zero()


def test_products_of_inertia_default_to_zero_and_mass_may_be_alone():
    inside = "<inertial><mass value='2'/><inertia ixx='1' iyy='2' izz='3'/></inertial>"
    text = robot(link("a"), f"<link name='b'>{inside}</link>", joint())
    expected = Inertia(2.0, Vector3.zero(), Symmetric3(1.0, 2.0, 3.0, 0.0, 0.0, 0.0))
    assert load_model(text).bodies[0].inertia == expected
    alone = robot(
        link("a"), "<link name='b'><inertial><mass value='2'/></inertial></link>", joint()
    )
    assert load_model(alone).bodies[0].inertia == Inertia(
        2.0, Vector3.zero(), Symmetric3.diagonal(0.0)
    )


def test_a_link_behind_a_fixed_joint_is_fused_and_keeps_its_frame(good):
    left = good.bodies[1].inertia
    hand = good.frame("hand")
    assert (hand.body, hand.placement.translation) == (1, Vector3(1.0, 0.0, 0.0))
    assert good.frame("left").placement == Transform.identity()
    assert left.mass == 2.25
    # 2 kg at x = 0.5 and 0.25 kg at x = 1
    assert relative_error(list(left.moment), [1.25, 0.0, 0.0]) < EXACT
    expected = [2.0 + 0.125, 1.5 + 0.25 + 0.25, 3.5 + 0.375 + 0.25, 0.01, 0.02, 0.03]
    assert relative_error(list(left.rotational), expected) < EXACT


def test_what_hangs_on_a_fused_link_is_placed_from_the_body_that_carries_it(good):
    assert good.bodies[2].parent == 1
    assert good.bodies[2].placement.translation == Vector3(1.0, 1.0, 0.0)


def test_every_link_has_a_frame_in_depth_first_order(good):
    assert [f.name for f in good.frames] == ["chest", "right", "left", "hand", "finger"]
    assert good.frame("chest").body == WORLD


def test_a_floating_base_gives_the_root_a_body_of_its_own():
    model = load_model(GOOD, base="floating")
    assert model.bodies[0].joint == Floating()
    assert (model.bodies[0].name, model.bodies[0].joint_name) == ("chest", "root_joint")
    assert [b.parent for b in model.bodies] == [WORLD, 0, 0, 2]
    assert (model.nq, model.nv) == (7 + 3, 6 + 3)


def test_the_order_of_elements_in_the_file_does_not_matter(good):
    lines = [link("a"), link("b"), link("c"), joint("j", child="b"), joint("i", child="c")]
    models = [load_model(robot(*order)) for order in (lines, lines[::-1], lines[2:] + lines[:2])]
    assert models[0] == models[1] == models[2]


def test_a_path_a_string_and_the_text_give_the_same_model(good, tmp_path):
    file = tmp_path / "torso.urdf"
    file.write_text(GOOD)
    assert load_model(file) == load_model(str(file)) == good
    assert load_model("\n  " + GOOD) == good


def test_a_single_link_is_a_robot_without_joints():
    model = load_model("<robot><link name='a'/></robot>")
    assert (model.bodies, model.nq, model.nv) == ((), 0, 0)


MIMICKING = """<robot name='r'>
  <link name='a'/><link name='b'/><link name='c'/><link name='d'/>
  <joint name='j1' type='revolute'><parent link='a'/><child link='b'/>
    <limit lower='-1' upper='1'/><dynamics damping='0.5' friction='0.25'/></joint>
  <joint name='j2' type='revolute'><parent link='b'/><child link='c'/>
    <limit lower='-1' upper='1'/><mimic joint='j1' multiplier='-2' offset='0.25'/>
    <dynamics damping='0.5' friction='0.25'/></joint>
  <joint name='j3' type='prismatic'><parent link='c'/><child link='d'/>
    <limit lower='-1' upper='1'/><mimic joint='j2' multiplier='3' offset='1'/></joint>
</robot>"""


def test_joints_that_mimic_follow_through_chains():
    model = load_model(MIMICKING)
    assert (model.nq, model.nv, len(model.bodies)) == (1, 1, 3)
    one, two, three = model.bodies
    assert (one.follows, two.follows, three.follows) == (None, 0, 0)
    assert (two.joint.multiplier, two.joint.offset) == (-2.0, 0.25)
    assert (three.joint.multiplier, three.joint.offset) == (-6.0, 1.75)
    X = three.joint.transform([0.5])
    assert X.translation.x == -6.0 * 0.5 + 1.75


def test_the_drive_of_a_joint_that_mimics_is_as_the_other_feels_it():
    one, two, three = load_model(MIMICKING).drives
    assert (one.damping, one.friction) == (0.5, 0.25)
    assert (two.damping, two.friction) == (2.0, 0.5)
    assert (three.damping, three.friction) == (0.0, 0.0)


def test_joints_that_mimic_may_move_on_their_own():
    model = load_model(MIMICKING, mimic=False)
    assert model.nv == 3
    assert [body.follows for body in model.bodies] == [None] * 3


def test_a_joint_that_mimics_a_locked_one_is_locked_with_it():
    model = load_model(MIMICKING, locked={"j1": 0.5})
    assert model.bodies == ()
    held = load_model(MIMICKING, locked={"j1": 0.5, "j2": -0.75, "j3": -1.25}, mimic=False)
    for frame, same in zip(model.frames, held.frames, strict=True):
        assert frame == same
    assert load_model(MIMICKING, locked={"j2": 0.1}).nv == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("joint='j1'", "joint='j9'", r":5: joint 'j2' mimics 'j9': the file has no joint 'j9'"),
        ("joint='j1'", "joint='j2'", r":5: joint 'j2' mimics itself"),
        ("joint='j1'", "joint='j3'", r":5: joint 'j2' mimics itself through 'j"),
        ("name='j1' type='revolute'", "name='j1' type='fixed'", r"both must have exactly one"),
        ("name='j1' type='revolute'", "name='j1' type='floating'", r"both must have exactly one"),
    ],
)
def test_a_joint_that_cannot_mimic_is_named(old, new, message):
    with pytest.raises(ModelError, match=message):
        load_model(MIMICKING.replace(old, new))


# refusing

A, B, C = link("a"), link("b"), link("c")
INERTIAL = "<link name='b'><inertial>{}</inertial></link>"


def entity(declaration):
    return f"<!DOCTYPE robot [\n{declaration}\n]>\n<robot name='r'>{A}</robot>"


BAD = [
    # the document
    ("not XML", "solid left.stl", FileFormatError, r":1: not XML, as .* 'solid left.s'"),
    ("an empty file", "", FileFormatError, r":1: the file is empty"),
    ("blank lines", "\n\n", FileFormatError, r":3: the file is empty"),
    ("a tag not closed", f"{robot('<link>')}", FileFormatError, r":3: .*mismatched tag"),
    ("cut short", "<robot>\n<link", FileFormatError, r":2: not well-formed XML: unclosed token"),
    ("two documents", "<robot/>\n<robot/>", FileFormatError, r":2: .*junk after document"),
    (
        "an attribute twice",
        robot("<link name='a' name='b'/>"),
        FileFormatError,
        r":2: .*duplicate attribute",
    ),
    (
        "another root tag",
        "\n<COLLADA/>",
        FileFormatError,
        r":2: the document is a <COLLADA>; a URDF <robot>, an MJCF",
    ),
    (
        "an entity",
        entity("<!ENTITY a 'aaaaaaaaaa'>"),
        FileFormatError,
        r":1: the DOCTYPE has internal or external declarations",
    ),
    (
        "an external entity",
        entity("<!ENTITY a SYSTEM 'file:///etc/passwd'>"),
        FileFormatError,
        r":1: the DOCTYPE has internal or external declarations",
    ),
    (
        "a parameter entity",
        entity("<!ENTITY % a 'aaaaaaaaaa'>"),
        FileFormatError,
        r":1: the DOCTYPE has internal or external declarations",
    ),
    (
        "an entity that is not declared",
        robot("<link name='&lol;'/>"),
        FileFormatError,
        r":2: .*undefined entity",
    ),
    (
        "an unknown encoding",
        "<?xml version='1.0' encoding='klingon'?>\n<robot/>",
        FileFormatError,
        r":1: .*encoding",
    ),
    (
        "an encoding of several bytes",
        "<?xml version='1.0' encoding='shift_jis'?>\n<robot/>",
        FileFormatError,
        r":1: .*encoding",
    ),
    # links and joints
    ("no link", robot(), ModelError, r"robot 'r' has no link: at least one is expected"),
    (
        "a link without a name",
        robot(A, "<link/>"),
        FileFormatError,
        r":3: <link>: the attribute 'name' is missing",
    ),
    (
        "a joint without a name",
        robot(A, B, "<joint type='fixed'/>"),
        FileFormatError,
        r":4: <joint>: the attribute 'name' is missing",
    ),
    (
        "a joint without a type",
        robot(A, B, "<joint name='j'><parent link='a'/><child link='b'/></joint>"),
        FileFormatError,
        r":4: <joint name='j'>: the attribute 'type' is missing",
    ),
    (
        "a joint without a parent",
        robot(A, B, "<joint name='j' type='fixed'><child link='b'/></joint>"),
        FileFormatError,
        r":4: <joint name='j'>: <parent link=...> is missing",
    ),
    (
        "a joint without a child",
        robot(A, B, "<joint name='j' type='fixed'><parent link='a'/></joint>"),
        FileFormatError,
        r":4: <joint name='j'>: <child link=...> is missing",
    ),
    (
        "a parent that names no link",
        robot(A, B, "<joint name='j' type='fixed'>", "<parent/><child link='b'/></joint>"),
        FileFormatError,
        r":5: <parent>: the attribute 'link' is missing",
    ),
    (
        "an unknown joint type",
        robot(A, B, joint(kind="telescopic")),
        FileFormatError,
        r":4: <joint name='j'>: the joint type 'telescopic' is unknown; known types are revolute, ",
    ),
    # numbers
    (
        "a mass that is no number",
        robot(A, INERTIAL.format("\n<mass value='heavy'/>"), joint()),
        FileFormatError,
        r":4: <mass>: value='heavy' is not a number",
    ),
    (
        "an empty number",
        robot(A, INERTIAL.format("<mass value=''/>"), joint()),
        FileFormatError,
        r":3: <mass>: value='' is not a number",
    ),
    (
        "a decimal comma",
        robot(A, B, joint(inside="<axis xyz='0,5 0 1'/>")),
        FileFormatError,
        r":4: <axis>: xyz='0,5' is not a number",
    ),
    (
        "a number with an underscore",
        robot(A, B, joint(inside="<axis xyz='1_0 0 1'/>")),
        FileFormatError,
        r":4: <axis>: xyz='1_0' is not a number",
    ),
    (
        "digits of another script",
        robot(A, B, joint(inside="<axis xyz='٣ 0 1'/>")),
        FileFormatError,
        r":4: <axis>: xyz='٣' is not a number",
    ),
    (
        "a mass without a value",
        robot(A, INERTIAL.format("<mass/>"), joint()),
        FileFormatError,
        r":3: <mass>: the attribute 'value' is missing",
    ),
    (
        "an inertia without izz",
        robot(A, INERTIAL.format("<inertia ixx='1' iyy='1'/>"), joint()),
        FileFormatError,
        r":3: <inertia>: the attribute 'izz' is missing",
    ),
    (
        "too few numbers",
        robot(A, B, joint(inside="\n<origin xyz='1 2'/>")),
        FileFormatError,
        r":5: <origin>: xyz='1 2' has 2 numbers; 3 are expected",
    ),
    (
        "too many numbers",
        robot(A, B, joint(inside="<axis xyz='0 0 1 0'/>")),
        FileFormatError,
        r":4: <axis>: xyz='0 0 1 0' has 4 numbers; 3 are expected",
    ),
    (
        "no numbers",
        robot(A, B, joint(inside="<origin rpy=''/>")),
        FileFormatError,
        r":4: <origin>: rpy='' has 0 numbers; 3 are expected",
    ),
    *(
        (
            f"a mass of {word}",
            robot(A, INERTIAL.format(f"<mass value='{word}'/>"), joint()),
            FileFormatError,
            rf":3: <mass>: value='{word}': a finite number is expected",
        )
        for word in ("nan", "inf", "-Infinity", "1e400")
    ),
    *(
        (
            f"an origin at {word}",
            robot(A, B, joint(inside=f"<origin xyz='0 {word} 0'/>")),
            FileFormatError,
            rf":4: <origin>: xyz='{word}': a finite number is expected",
        )
        for word in ("nan", "inf", "1e400")
    ),
    (
        "a limit that is no number",
        robot(A, B, joint(inside="<limit lower='low'/>")),
        FileFormatError,
        r":4: <limit>: lower='low' is not a number",
    ),
    (
        "a zero axis",
        robot(A, B, joint(inside="<axis xyz='0 0 -0'/>")),
        FileFormatError,
        r":4: <joint name='j'>: the axis is zero",
    ),
    (
        "numbers whose product overflows",
        robot(A, INERTIAL.format("<origin xyz='1e9 0 0'/><mass value='1e300'/>"), joint()),
        ModelError,
        r"the inertia of body 'b' holds -?(inf|nan): every number must be finite",
    ),
    # the tree
    (
        "two links of one name",
        robot(A, B, A),
        ModelError,
        r":4: a second link is named 'a'; the first is at .*bad\.urdf:2",
    ),
    (
        "two joints of one name",
        robot(A, B, C, joint(), joint(child="c")),
        ModelError,
        r":6: a second joint is named 'j'; the first is at .*bad\.urdf:5",
    ),
    (
        "an unknown parent",
        robot(link("shoulder"), B, joint(parent="sholder")),
        ModelError,
        r":4: the parent of joint 'j': .*no link 'sholder': did you mean 'shoulder'\?",
    ),
    (
        "an unknown child",
        robot(A, B, joint(child="zzz")),
        ModelError,
        r":4: the child of joint 'j': .*no link 'zzz': valid are 'a', 'b'",
    ),
    (
        "a link with two parents",
        robot(A, B, C, joint("j", child="c"), joint("k", parent="b", child="c")),
        ModelError,
        r":6: link 'c' is the child of two joints, 'k' and 'j'",
    ),
    (
        "two roots",
        robot(A, B, C, joint()),
        ModelError,
        r"robot 'r' has 2 roots, 'a' \(.*bad\.urdf:2\), 'c' \(.*bad\.urdf:4\)",
    ),
    (
        "a loop beside the root",
        robot(A, B, C, joint("j", parent="b", child="c"), joint("k", parent="c", child="b")),
        ModelError,
        r":5: joint 'j' is part of a loop",
    ),
    (
        "a loop without a root",
        robot(A, B, joint("j"), joint("k", parent="b", child="a")),
        ModelError,
        r":4: joint 'j' is part of a loop",
    ),
    (
        "a link that is its own parent",
        robot(A, joint(child="a")),
        ModelError,
        r":3: joint 'j' is part of a loop",
    ),
]


@pytest.mark.parametrize(
    ("text", "error", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_a_bad_file_is_refused_with_its_place_and_reason(text, error, message, tmp_path):
    file = tmp_path / "bad.urdf"
    file.write_text(text, encoding="utf-8")
    place = r"bad\.urdf" if message.startswith(":") else ""
    with pytest.raises(KinetreeError, match=place + message) as raised:
        load_model(file)
    assert type(raised.value) is error


def test_a_missing_file_is_named_and_whether_its_folder_exists(tmp_path):
    missing = tmp_path / "nothing.urdf"
    with pytest.raises(MissingFileError, match=r"nothing\.urdf cannot be read: .* exists$"):
        load_model(missing)
    with pytest.raises(MissingFileError, match=r"nothing\.urdf.* does not exist either$"):
        load_model(tmp_path / "nowhere" / "nothing.urdf")


def test_a_folder_is_not_a_robot_file(tmp_path):
    with pytest.raises(MissingFileError, match="is a directory: a robot file is expected"):
        load_model(tmp_path)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"], ids=["too long", "with a zero byte"])
def test_a_path_that_cannot_exist_is_a_missing_file(name):
    with pytest.raises(MissingFileError, match="cannot be read"):
        load_model(name)


def test_errors_in_a_text_count_its_own_lines():
    with pytest.raises(FileFormatError, match=r"^<string>:3: <link>: the attribute 'name'"):
        load_model("<robot>\n\n<link/></robot>")
    with pytest.raises(FileFormatError, match=r"^<string>:4: <link>: the attribute 'name'"):
        load_model("\n\n<robot>\n<link/></robot>")


@settings(max_examples=150)
@given(
    st.integers(0, len(GOOD)), st.integers(0, 40), st.sampled_from(["", "<", "'", "0", "nan", "a"])
)
def test_a_damaged_file_is_read_or_refused_but_nothing_else(start, length, instead):
    damaged = GOOD[:start] + instead + GOOD[start + length :]
    with suppress(KinetreeError):
        load_model("<" + damaged.lstrip("<"))


SOLID = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
KEPT = f"""<robot name="r"><link name="a">{SOLID}<contact><rolling_friction value="0.1"/>
</contact></link>
<link name="b">{SOLID}</link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/>
<safety_controller k_velocity="10" soft_lower_limit="-0.9"/></joint>
<gazebo reference="b"><mu1>0.5</mu1></gazebo>
<gazebo><plugin filename="libx.so" name="x"><topic>a &amp; b</topic></plugin></gazebo>
<transmission name="t"><type>Differential</type><joint name="j"/><joint name="k"/></transmission>
<long>{{}}</long></robot>"""


def test_elements_that_nobody_reads_are_written_back_or_named(tmp_path):
    robot = kt.load(KEPT.format("x" * 600))
    with pytest.warns(ModelWarning, match=r"<transmission>, <long> of the file") as said:
        robot.save(tmp_path / "again.urdf")
    assert "gazebo" not in str(said[0].message)
    again = (tmp_path / "again.urdf").read_text()
    for text in (
        '<safety_controller k_velocity="10" soft_lower_limit="-0.9"/>',
        '<rolling_friction value="0.1"/>',
        "<mu1>0.5</mu1>",
        "<topic>a &amp; b</topic>",
    ):
        assert again.count(text) == 1
    kept = [x for x in robot.model.unread if x.tag not in ("transmission", "long")]
    assert list(kt.load(again).model.unread) == kept
    with pytest.warns(ModelWarning, match=r"2 <gazebo>.*of the URDF file"):
        robot.save(tmp_path / "again.xml")


def test_what_refers_to_a_part_that_is_gone_is_named_and_not_written(tmp_path):
    arm = kt.load(KEPT.format(""))
    with pytest.warns(ModelWarning, match=r"2 <|<contact>"):
        arm.edit.subtree("b").save(tmp_path / "part.urdf")
    assert "safety_controller" not in (tmp_path / "part.urdf").read_text()
    assert "<mu1>" in (tmp_path / "part.urdf").read_text()
