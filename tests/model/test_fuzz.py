"""Fuzzing: whatever a file holds, it is read or refused by an error of ours, and nothing else."""

import re
import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms import rnea
from kinetree.errors import KinetreeError, ModelWarning
from kinetree.model.assemble import assemble
from kinetree.model.disassemble import disassemble
from kinetree.robot.load import check_file, load_model
from kinetree.robot.problems import problems_of_model
from tests.capture.skeletons import ARM as SKELETON

LONGEST_MESSAGE = 5000

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="a"/>
  <link name="b"><inertial><origin xyz="0 0 1" rpy="0 1 0"/><mass value="2"/>
    <inertia ixx="1" ixy="0.1" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="c"><inertial><mass value="1"/></inertial></link>
  <link name="d"/>
  <joint name="i" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="2" velocity="3"/><dynamics damping="0.1"/></joint>
  <joint name="j" type="prismatic"><parent link="b"/><child link="c"/>
    <origin xyz="1 2 3"/><mimic joint="i" multiplier="2" offset="1"/></joint>
  <joint name="k" type="fixed"><parent link="c"/><child link="d"/></joint>
</robot>
"""

FLYING = """<robot name="flying">
<link name="w"/><link name="body"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1"/>
</inertial><visual><origin rpy="0 0 1"/><geometry><mesh filename="m.stl" scale="1 1 1"/></geometry>
</visual></link><link name="leg"><collision><geometry><cylinder radius="1" length="2"/></geometry>
</collision></link><link name="foot"><visual><geometry><box size="1 2 3"/></geometry></visual>
</link><joint name="f" type="floating"><parent link="w"/><child link="body"/></joint>
<joint name="p" type="planar"><parent link="body"/><child link="leg"/><axis xyz="1 1 0"/></joint>
<joint name="s" type="spherical"><parent link="leg"/><child link="foot"/></joint></robot>
"""

DECLARED = """<?xml version='1.0' encoding='utf-8' standalone='no'?>
<!DOCTYPE robot>
<robot xmlns='http://r' xmlns:g='http://g' name='&#65;&amp;b'><!-- c --><![CDATA[x]]><?p i?>
<g:link name='g'/><link name='a'/><link name='b'/><joint name='j' type='continuous'>
<parent link='a'/><child link='b'/><limit effort='1' velocity='1'/></joint></robot>
"""

URDFS = (ARM, FLYING, DECLARED)

PENDULUM = """<mujoco model="p"><compiler angle="radian"/><option gravity="0 0 -9"/>
<default><joint damping="0.1"/></default>
<worldbody><body name="a" pos="0 0 1"><joint name="i" axis="0 1 0" range="-1 1" ref="0.1"/>
<inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/><geom size="0.1"/>
<body name="b" quat="1 0 0 0"><joint name="j" type="slide" armature="1" frictionloss="1"/>
<geom type="capsule" size="0.1 0.2" density="100"/><site name="s" pos="1 0 0"/></body>
</body></worldbody><equality><joint joint1="j" joint2="i" polycoef="0 2 0 0 0"/></equality></mujoco>
"""

FREE = """<mujoco><worldbody><body name="a"><freejoint name="f"/>
<geom type="box" size="0.1 0.2 0.3" mass="1" euler="10 20 30"/><body name="b" pos="1 0 0">
<joint name="k" type="ball" pos="0 0 1" stiffness="1"/><geom type="ellipsoid" size="0.1 0.2 0.3"/>
</body></body></worldbody></mujoco>
"""

MJCFS = (PENDULUM, FREE)

ROOT = """HIERARCHY
ROOT r { OFFSET 1 2 3 CHANNELS 6 Zposition Xposition Yposition Yrotation Xrotation Zrotation
End Site { OFFSET 0 1 0 } }
MOTION
Frames: 1
Frame Time: 0.1
1 2 3 4 5 6
"""

BVHS = (SKELETON, ROOT)

NUMBERS = ["0", "1", "-1", "-0", "1e-320", "1e-200", "1e200", "-1e200", "1.7e308", "-1.7e308"]
NUMBERS += ["1e309", "nan", "inf", "-inf", "0x1", "1e", "1.", ".5", ".", "1,5", "1kg", "½", "1e20"]
VECTORS = ["0 0 0", "0 0 1", "1e200 1 0", "1.7e308 1.7e308 1.7e308", "1e-320 0 0", "1 2"]
NAMES = ["a", "b", "c", "d", "i", "j", "k", "", " ", "root_joint", "world", "universe", "é", "a_2"]
KINDS = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical", "screw"]
TAGS = [
    "robot",
    "link",
    "joint",
    "inertial",
    "mass",
    "inertia",
    "origin",
    "parent",
    "child",
    "axis",
]
TAGS += ["limit", "dynamics", "mimic", "visual", "collision", "geometry", "box", "sphere", "mesh"]
TAGS += ["cylinder", "transmission", "gazebo", "xacro:macro", "mujoco", "worldbody", "sdf"]
ATTRIBUTES = ["name", "type", "link", "joint", "value", "xyz", "rpy", "ixx", "iyy", "izz", "ixy"]
ATTRIBUTES += ["lower", "upper", "effort", "damping", "multiplier", "offset", "size", "radius"]
MARKS = ["<", ">", "/>", "</", "'", "&", "&#0;", "&#10;", "&a;", "<!--", "-->", "<![CDATA[", "]]>"]
MARKS += [
    "<!DOCTYPE robot [",
    "<!ENTITY a 'b'>",
    "%a;",
    "]>",
    "<?xml",
    "?>",
    "\0",
    "\ufeff",
    "${a}",
]
BONES = ["HIERARCHY", "ROOT", "JOINT", "End Site", "OFFSET", "CHANNELS", "MOTION", "Frames:", "{"]
BONES += ["Frame Time:", "}", "Xposition", "Yrotation", "6 Xposition Xposition", "\n"]
WORDS = [*NUMBERS, *VECTORS, *NAMES, *KINDS, *TAGS, *ATTRIBUTES, *MARKS, *BONES]
VALUE = re.compile(r"""(?<==)(["'])(.*?)\1""")


# what is fuzzed


@st.composite
def damaged(draw, texts):
    """The bytes of a text after some edits."""
    data = draw(st.sampled_from(texts)).encode()
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 60)))
        edit = draw(st.sampled_from(["flip", "delete", "repeat", "splice", "word", "token"]))
        if edit == "flip" and at < len(data):
            flipped = data[at] ^ (1 << draw(st.integers(0, 7)))
            data = data[:at] + bytes([flipped]) + data[at + 1 :]
        elif edit == "delete":
            data = data[:at] + data[end:]
        elif edit == "repeat":
            data = data[:at] + data[at:end] * draw(st.integers(2, 5)) + data[end:]
        elif edit == "splice":
            other = draw(st.sampled_from(texts)).encode()
            start = draw(st.integers(0, len(other)))
            data = data[:at] + other[start : start + 60] + data[end:]
        elif edit == "word":
            data = data[:at] + draw(st.sampled_from(WORDS)).encode() + data[at:]
        elif edit == "token":
            tokens = list(re.finditer(rb"[\w.+-]+", data))
            if tokens:
                token = draw(st.sampled_from(tokens))
                word = draw(st.sampled_from(WORDS)).encode()
                data = data[: token.start()] + word + data[token.end() :]
    return data


@st.composite
def revalued(draw, texts, numbers):
    """A text with other values of some attributes."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        value = draw(st.sampled_from(list(VALUE.finditer(text))))
        like = numbers if re.match(r"[-\d. ]+$", value[2]) else [*NAMES, *KINDS]
        words = [draw(st.sampled_from(like)) for _ in value[2].split() or [0]]
        text = text[: value.start(2)] + " ".join(words) + text[value.end(2) :]
    return text.encode()


def element(tag, attributes, inside=""):
    written = "".join(f" {key}='{value}'" for key, value in attributes.items())
    return f"<{tag}{written}>{inside}</{tag}>"


def numbers(draw, count):
    """Most of them sound."""
    words = st.sampled_from(["0", "1", "-0.5", "2", "1e3", "1e-3", "1e150", "1e308"])
    wild = draw(st.integers(0, 30)) == 0
    return " ".join(draw(st.sampled_from(NUMBERS) if wild else words) for _ in range(count))


@st.composite
def trees(draw):
    """A robot that is nearly right."""

    def some(tag, **counts):
        if draw(st.booleans()):
            return ""
        return element(tag, {key: numbers(draw, count) for key, count in counts.items()})

    count = draw(st.integers(1, 5))
    parts = []
    for i in range(count):
        moments = dict.fromkeys(("ixx", "iyy", "izz", "ixy"), 1)
        inside = some("mass", value=1) + some("inertia", **moments) + some("origin", xyz=3, rpy=3)
        size = some("box", size=3) + some("sphere", radius=1) + some("mesh", scale=3)
        visual = element("visual", {}, element("geometry", {}, size))
        parts.append(element("link", {"name": f"l{i}"}, element("inertial", {}, inside) + visual))
    for i in range(1, count):
        above = draw(st.integers(0, i - 1) if draw(st.integers(0, 20)) else st.integers(0, count))
        inside = element("parent", {"link": f"l{above}"}) + element("child", {"link": f"l{i}"})
        inside += some("origin", xyz=3, rpy=3) + some("axis", xyz=3)
        inside += some("limit", lower=1, upper=1, effort=1) + some("dynamics", damping=1)
        if draw(st.integers(0, 3)) == 0:
            leader = f"j{draw(st.integers(0, count))}"
            values = {key: numbers(draw, 1) for key in ("multiplier", "offset")}
            inside += element("mimic", {"joint": leader, **values})
        kind = draw(st.sampled_from(KINDS[:-1]))
        parts.append(element("joint", {"name": f"j{i}", "type": kind}, inside))
    order = draw(st.permutations(parts))
    return element("robot", {"name": "r"}, "".join(order)).encode()


def forests():
    """Elements of any tag in any other, with any attributes."""
    values = st.sampled_from([*NUMBERS, *VECTORS, *NAMES, *KINDS])
    attributes = st.dictionaries(st.sampled_from(ATTRIBUTES), values, max_size=4)
    tags = st.sampled_from(TAGS)
    leaves = st.builds(element, tags, attributes)
    inner = st.recursive(
        leaves,
        lambda below: st.builds(element, tags, attributes, st.lists(below).map("".join)),
        max_leaves=20,
    )
    inside = st.lists(inner, max_size=8).map("".join)
    return st.builds(element, st.just("robot"), attributes, inside).map(str.encode)


# what must hold


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "robot.urdf"


def hold(file, data, base="fixed"):
    """What loads can be used, what does not is an error of ours that `check_file` finds too."""
    file.write_bytes(data)
    found = check_file(file)
    assert all(len(str(problem)) < LONGEST_MESSAGE for problem in found)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            model = load_model(file, base=base)
    except KinetreeError:
        assert base == "floating" or "error" in {problem.severity for problem in found}
        return
    assert not [p for p in found if (p.severity, p.element) == ("error", "the file")]
    problems_of_model(model)
    assert assemble(disassemble(model)) == model
    q = [0.0] * model.nq
    for i in model.coordinate_order:
        q[model.q_slices[i]] = model.bodies[i].joint.neutral()
    still = [0.0] * model.nv
    assert len(rnea(model, q, still, still)) == model.nv


BASES = st.sampled_from(["fixed", "floating"])


def mimicking(multiplier, offset="0", limit="1e200", kind="revolute", damping="0"):
    """A joint that follows another, of numbers that are too large together."""
    solid = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
    return f"""<robot name='r'><link name='a'/><link name='b'>{solid}</link><link name='c'>{solid}
        </link><joint name='j' type='prismatic'><parent link='a'/><child link='b'/>
        <limit lower='{limit}' upper='{limit}'/></joint><joint name='k' type='{kind}'>
        <parent link='b'/><child link='c'/><dynamics damping='{damping}'/>
        <limit lower='0' upper='-0'/>
        <mimic joint='j' multiplier='{multiplier}' offset='{offset}'/></joint></robot>""".encode()


def fuzzed(examples):
    """So many examples where seeds are fresh (make fuzz); a fifth where each run draws the same."""
    return settings(max_examples=examples // 5 if settings.default.derandomize else examples)


@pytest.mark.slow
@fuzzed(3000)
@given(damaged(URDFS), BASES)
def test_a_damaged_urdf_is_read_or_refused(file, data, base):
    hold(file, data, base)


@pytest.mark.slow
@fuzzed(3000)
@given(revalued(URDFS, NUMBERS), BASES)
def test_a_urdf_of_other_values_is_read_or_refused(file, data, base):
    hold(file, data, base)


@pytest.mark.slow
@fuzzed(1300)
@given(trees(), BASES)
@example(data=mimicking("1e200"), base="fixed")
@example(data=mimicking("1e308", "1.7e308", "1"), base="fixed")
@example(data=mimicking("1e200", kind="prismatic"), base="floating")
@example(data=mimicking("1e200", limit="0", damping="1"), base="fixed")
@example(data=mimicking("1", limit="-0"), base="fixed")
def test_a_urdf_that_is_nearly_right_is_read_or_refused(file, data, base):
    hold(file, data, base)


@pytest.mark.slow
@fuzzed(600)
@given(forests(), BASES)
def test_any_elements_in_any_order_are_read_or_refused(file, data, base):
    hold(file, data, base)


@pytest.mark.slow
@fuzzed(1300)
@given(revalued(MJCFS, NUMBERS))
def test_an_mjcf_of_other_values_is_read_or_refused(file, data):
    pytest.importorskip("mujoco")
    hold(file, data)


@pytest.mark.slow
@fuzzed(600)
@given(damaged(MJCFS))
def test_a_damaged_mjcf_is_read_or_refused(file, data):
    pytest.importorskip("mujoco")
    hold(file, data)


@pytest.mark.slow
@fuzzed(1300)
@given(damaged(BVHS), BASES, st.sampled_from(["quaternion", "zyx"]), st.sampled_from([None, 70.0]))
def test_a_damaged_bvh_is_read_or_refused(file, data, base, chart, mass):
    hold(file, data, base)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            capture = kt.read_bvh(file, base=base, mass=mass)
            if chart != "quaternion" and capture.robot.nq < 8:  # others are slow to compile
                capture = kt.read_bvh(file, base=base, chart=chart, mass=mass)
    except KinetreeError:
        return
    assert capture.q.shape == (len(capture.times), capture.robot.nq)


LARGE = st.sampled_from([0.0, -0.0, 1.0, -2.0, 1e-320, 1e150, -1e200, 1e300, 1.7e308, -1.7e308])


@st.composite
def assemblies(draw):
    """What builds a robot whose numbers are large, each of them finite."""
    joints = [kt.joints.Revolute, kt.joints.Prismatic, lambda a: kt.joints.Screw(a, draw(LARGE))]
    joints += [lambda a: kt.joints.Ball(), lambda a: kt.joints.Floating(), lambda a: None]
    steps = []
    for i in range(draw(st.integers(1, 4))):
        joint = draw(st.sampled_from(joints))(draw(st.sampled_from(["x", (1, 2, 3)])))
        numbers = {"at": [draw(LARGE) for _ in range(3)], "mass": abs(draw(LARGE))}
        numbers |= {"com": [draw(LARGE) for _ in range(3)], "inertia": [abs(draw(LARGE))] * 3}
        if joint is not None:
            numbers["limits"] = sorted([draw(LARGE), draw(LARGE)])
            names = ["armature", "damping", "friction", "stiffness"]
            numbers["drive"] = {name: abs(draw(LARGE)) for name in names}
        if joint is not None and joint.nq == 1 and draw(st.booleans()):
            numbers["mimic"] = (f"l{draw(st.integers(0, 3))}_joint", draw(LARGE), draw(LARGE))
        steps.append(
            (f"l{i}", "base" if i == 0 else f"l{draw(st.integers(0, i - 1))}", joint, numbers)
        )
    return steps


@pytest.mark.slow
@fuzzed(1000)
@given(assemblies(), st.lists(LARGE, min_size=3, max_size=3), BASES, st.data())
def test_numbers_that_are_large_together_are_taken_or_refused(steps, point, base, data):
    assembly = kt.Assembly("large")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            for link, parent, joint, numbers in steps:
                assembly.add(link, parent, joint, **numbers)
            robot = assembly.robot(base=base)
    except KinetreeError:
        return
    robot.random(0)
    robot.problems()
    first = robot.model.bodies[0] if robot.model.bodies else None
    held = [] if first is None else [point[0]] * first.joint.nq
    link = data.draw(st.sampled_from(robot.frames))
    edits = [
        lambda: robot.edit.lock({first.joint_name: held} if first else {}),
        lambda: robot.edit.attach_payload(link, abs(point[0]), point),
        lambda: robot.edit.with_gravity(point),
        lambda: robot.edit.reroot(link),
        lambda: robot.edit.with_mount(point),
        lambda: robot.edit.add_frame("new", link, at=point),
    ]
    try:
        data.draw(st.sampled_from(edits))().problems()
    except KinetreeError:
        return


@fuzzed(2000)
@given(st.binary(max_size=300) | st.text().map(lambda text: text.encode(errors="replace")))
def test_any_bytes_are_refused(file, data):
    file.write_bytes(data)
    with pytest.raises(KinetreeError, match=r":\d+: "):
        load_model(file)
    assert check_file(file)[-1].severity == "error"
