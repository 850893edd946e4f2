"""Input that is not a robot, or that means harm: refused soon, shortly, and at its place."""

import os
import re
import subprocess
import sys
import textwrap
import time
import warnings
import zipfile
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError, KinetreeError, MissingFileError, ModelError
from kinetree.model import Limits
from kinetree.model.formats.xml import DEEPEST, LARGEST, LONGEST_NAME, MOST_ELEMENTS
from kinetree.robot.load import check_file, load_model
from kinetree.spatial import Vector3
from tests.model.test_size import work
from tests.tolerances import EPS, EXACT, relative_error

SOON = 100.0  # times a piece of work that has nothing to do with robots, about 0.04 s
SHORT = 1000  # characters
ROBOT = "<robot name='r'><link name='a'/></robot>"
JOINT = """<robot name='r'>
<link name='a'/>
<link name='b'>{link}</link>
<joint name='j' type='revolute'><parent link='a'/><child link='b'/>{joint}</joint>
</robot>"""


@cache
def unit():
    """The seconds of a piece of work on this machine, at the moment."""
    return work()


@contextmanager
def refused(message, error=KinetreeError):
    """Soon, by an error of ours, whose message is short."""
    start = time.process_time()
    with pytest.raises(error, match=message) as raised:
        yield
    assert time.process_time() - start < SOON * unit()
    assert len(str(raised.value)) < SHORT


def refuse(folder, data, message):
    """A file of these bytes is refused with this message, a line in front; so `check_file` says."""
    file = folder / "robot.urdf"
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    with refused(rf"robot\.urdf:{message}", FileFormatError):
        load_model(file)
    last = check_file(file)[-1]
    assert (last.severity, len(str(last)) < SHORT) == ("error", True)
    assert last.where.startswith(f"{file}:")


def body(link="", joint=""):
    (only,) = load_model(JOINT.format(link=link, joint=joint)).bodies
    return only


# document types


def typed(declarations, name="a"):
    return f"<!DOCTYPE robot [\n{declarations}\n]>\n" + ROBOT.replace("'a'", f"'{name}'")


LAUGHS = "\n".join(f"<!ENTITY l{i} '{f'&l{i - 1};' * 10}'>" for i in range(1, 30))

DECLARATIONS = {
    "a billion laughs": (f"<!ENTITY l0 'ha'>\n{LAUGHS}", "&l29;"),
    "a quadratic blow-up": (f"<!ENTITY a '{'a' * 100_000}'>", "&a;" * 100_000),
    "laughs of parameter entities": (
        "<!ENTITY % a 'ha'>\n<!ENTITY % b '%a;%a;%a;'>\n%b;",
        "a",
    ),
    "a declaration made by a parameter entity": (
        "<!ENTITY % a '<!ENTITY &#37; b &#34;ha&#34;>'>\n%a;",
        "&b;",
    ),
    "a file": ("<!ENTITY a SYSTEM 'file:///etc/passwd'>", "&a;"),
    "an address": ("<!ENTITY a SYSTEM 'http://localhost:9/a'>", "&a;"),
    "a public identifier": ("<!ENTITY a PUBLIC 'x' 'http://localhost:9/a'>", "&a;"),
    "a parameter entity from a file": ("<!ENTITY % a SYSTEM 'file:///etc/passwd'>\n%a;", "a"),
    "an unparsed entity": ("<!NOTATION n SYSTEM 'n'>\n<!ENTITY a SYSTEM 'a' NDATA n>", "a"),
    "a notation that seems to end it": ("<!NOTATION n SYSTEM ']><robot name=\"other\"/>'>", "a"),
    "an element": ("<!ELEMENT robot ANY>", "a"),
    "nothing": ("", "a"),
}


@pytest.mark.parametrize("declarations", DECLARATIONS.values(), ids=DECLARATIONS)
def test_a_document_type_with_declarations_of_its_own_is_refused(declarations, tmp_path):
    refuse(tmp_path, typed(*declarations), "1: the DOCTYPE has .* declarations.*; remove")


@pytest.mark.parametrize(
    "text",
    [
        f"<!DOCTYPE robot SYSTEM 'file:///etc/passwd'>\n{ROBOT}",
        f"<!DOCTYPE robot SYSTEM 'http://localhost:9/robot.dtd'>\n{ROBOT}",
        f"<!DOCTYPE robot PUBLIC 'x' 'http://localhost:9/robot.dtd'>\n{ROBOT}",
        f"<?xml version='1.0' standalone='yes'?><!DOCTYPE robot SYSTEM 'robot.dtd'>\n{ROBOT}",
        typed("%a;\n<!ENTITY b 'ha'>", "&b;"),
    ],
    ids=["a file", "an address", "a public identifier", "not needed", "an entity nobody declares"],
)
def test_a_document_type_from_outside_is_refused(text, tmp_path):
    refuse(tmp_path, text, "1: the DOCTYPE has internal or external declarations.*; remove")


def test_attributes_by_default_are_refused(tmp_path):
    many = ROBOT.replace("</robot>", "<a/>" * 100_000 + "</robot>")
    text = f"<!DOCTYPE robot [<!ATTLIST a x CDATA '{'x' * 100_000}'>]>{many}"
    refuse(tmp_path, text, "1: the DOCTYPE has internal .*; remove")


def test_a_document_type_that_only_has_a_name_is_passed_over():
    for declared in ("<!DOCTYPE robot>", "<?xml version='1.0'?>\n<!DOCTYPE  any >\n"):
        assert load_model(declared + ROBOT) == load_model(ROBOT)


# other kinds of file

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))

KINDS = {
    "a picture": (PNG, r"1: not XML, as .*: it begins with '\\x89PNG"),
    "a binary mesh": (b"\0" * 80 + b"\1\0\0\0" + b"\0" * 50, r"1: not XML, as "),
    "a mesh in words": (
        b"solid part\nfacet normal 0 0 1\n",
        r"1: not XML, as .* begins with 'solid part'",
    ),
    "JSON": (b'{"name": "r"}', r"1: not XML, as .* begins with '{"),
    "YAML": (b"robot:\n  name: r\n", r"1: not XML, as .* begins with 'robot:'"),
    "nothing": (b"", r"1: the file is empty"),
    "blanks": (b" \n\t\r\n ", r"3: the file is empty"),
    "zero bytes": (bytes(1000), r"1: not XML, as .* begins with '\\x00"),
    "a robot and a zero byte": (ROBOT.encode() + b"\n\0", r"2: not well-formed XML: .* b'\\x00'"),
    "COLLADA": (b"<COLLADA/>", r"1: the document is a <COLLADA>; a URDF <robot>, an MJCF"),
    "a web page": (b"<!DOCTYPE html><html><br></html>", r"1: not well-formed XML: mismatched tag"),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_file_of_another_kind_is_refused(kind, tmp_path):
    refuse(tmp_path, *kind)


def test_an_archive_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        archive.writestr("robot.urdf", ROBOT)
    refuse(tmp_path, (tmp_path / "r.zip").read_bytes(), "1: not XML, as ")


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_devices_and_pipes_are_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for file in ("/dev/zero", "/dev/null", tmp_path / "pipe"):
        for function in (load_model, check_file):
            with refused("is a device or a pipe: a robot file is expected", MissingFileError):
                function(file)


# size


@pytest.mark.slow
@pytest.mark.parametrize("count", [100_000_000, 50_000_000])
@pytest.mark.parametrize("where", ["before", "inside", "after", "in a tag"])
def test_megabytes_of_white_space_are_read_or_refused_in_little_memory(count, where, tmp_path):
    pytest.importorskip("resource")
    at = {"before": 0, "inside": ROBOT.index("<link"), "after": len(ROBOT)}
    at["in a tag"] = ROBOT.index(" name='a'")
    blank = b" " if where == "in a tag" else b"\n"
    file = tmp_path / "robot.urdf"
    data = ROBOT.encode()
    file.write_bytes(data[: at[where]] + blank * count + data[at[where] :])
    script = """
        import resource, sys, time
        import kinetree as kt
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        try:
            print(len(kt.load(sys.argv[1]).frames))
        except kt.errors.FileFormatError as e:
            print(str(e).removeprefix(sys.argv[1]))
        print(time.process_time() - start)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used) * 1024)
    """
    said, seconds, memory = run(script, file).splitlines()
    assert said == (
        "1" if count < LARGEST else ":1: the file is larger than 64 MiB, the limit for a robot file"
    )
    assert float(seconds) < SOON * unit()
    assert int(memory) < 5 * LARGEST


def test_a_long_text_is_refused_as_a_long_file_is():
    with refused(r"^<string>:1: the file is larger than 64 MiB"):
        load_model(ROBOT + " " * LARGEST)


def test_deep_nesting_is_refused(tmp_path):
    deep = "<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>"
    refuse(tmp_path, deep, f"1: elements are nested {DEEPEST} deep, the limit for a robot file")


@pytest.mark.slow
def test_elements_without_end_are_refused(tmp_path):
    with refused(f":1: more than {MOST_ELEMENTS} elements, the limit for a robot file"):
        load_model("<robot>" + "<a/>" * (MOST_ELEMENTS + 1) + "</robot>")


LONG = "x" * 1_000_000

LONG_TEXTS = {
    "link": ROBOT.replace("'a'", f"'{LONG}'"),
    "robot": ROBOT.replace("'r'", f"'{LONG}'"),
    "root tag": f"<{LONG}/>",
    "xacro tag": f"<robot><xacro:{LONG}/></robot>",
    "xacro expression": f"<robot><a b='${{{LONG}}}'/></robot>",
    "joint": JOINT.format(link="", joint="").replace("'j'", f"'{LONG}'"),
    "joint type": JOINT.format(link="", joint="").replace("'revolute'", f"'{LONG}'"),
    "child": JOINT.format(link="", joint="").replace("child link='b'", f"child link='{LONG}'"),
    "mimicked joint": JOINT.format(link="", joint=f"<mimic joint='{LONG}'/>"),
    "number": JOINT.format(
        link=f"<inertial><mass value='{'1' * 1_000_000}x'/></inertial>", joint=""
    ),
    "large number": JOINT.format(link="", joint=f"<axis xyz='0 {'1' * 1_000_000} 0'/>"),
    "list of numbers": JOINT.format(link="", joint=f"<origin xyz='{'1 ' * 500_000}'/>"),
    "encoding": f"<?xml version='1.0' encoding='{LONG}'?>{ROBOT}",
    "undeclared entity": ROBOT.replace("'a'", f"'&{LONG};'"),
}


@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS)
def test_a_message_about_something_long_is_short(text, tmp_path):
    refuse(tmp_path, text, r"\d: .")


def test_a_name_may_be_long_but_not_endless():
    name = "x" * LONGEST_NAME
    assert load_model(ROBOT.replace("'a'", f"'{name}'")).frames[0].name == name
    with refused(
        r":1: <link name='x.*\.\.\.'>: .* has 501 characters; a name may have at most 500"
    ):
        load_model(ROBOT.replace("'a'", f"'{name}x'"))


def test_a_path_without_end_is_named_shortly():
    with refused(r"^x+\.\.\. cannot be read", MissingFileError):
        load_model(LONG)


# characters

CHARACTERS = {
    "a zero byte": "\0",
    "an escape": "\x1b[31m",
    "a bell by number": "&#7;",
    "a zero by number": "&#0;",
    "half a surrogate pair by number": "&#xD800;",
    "a character beyond all": "&#x110000;",
    "an opening bracket": "<",
    "a lone ampersand": "&",
}


@pytest.mark.parametrize("character", CHARACTERS.values(), ids=CHARACTERS)
def test_a_name_with_a_character_xml_does_not_know_is_refused(character, tmp_path):
    text = f"<robot name='r'>\n<link name='a{character}b'/></robot>"
    refuse(tmp_path, text, "2: not well-formed XML")


def test_half_a_surrogate_pair_in_a_text_is_refused():
    with refused(r"^<string>:1: not well-formed XML"):
        load_model(ROBOT.replace("'a'", "'\ud800'"))


@pytest.mark.parametrize("name", ["a\u202eb", "a\x9b31mb", "a&#10;b"])
def test_a_message_shows_what_a_terminal_would_obey(name):
    with refused("a second link is named 'a[^\n\x9b\u202e]*b'"):
        load_model(f"<robot><link name='{name}'/><link name='{name}'/></robot>")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_needs_no_declaration(encoding, tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_bytes(ROBOT.replace("'a'", "'手'").encode(encoding))
    assert load_model(file).frames[0].name == "手"


@pytest.mark.parametrize(
    ("encoding", "letter"),
    [("iso-8859-1", "é"), ("latin-1", "é"), ("koi8-r", "я"), ("utf-8", "é"), ("utf-16", "é")],
)
def test_a_declared_encoding_is_taken_for_a_file_and_passed_over_in_a_text(
    encoding, letter, tmp_path
):
    text = f"<?xml version='1.0' encoding='{encoding}'?>" + ROBOT.replace("'a'", f"'{letter}'")
    file = tmp_path / "robot.urdf"
    file.write_bytes(text.encode(encoding))
    assert load_model(file).frames[0].name == load_model(text).frames[0].name == letter


@pytest.mark.parametrize(
    "data",
    [
        ROBOT.replace("'a'", "'é'").encode("latin-1"),
        b"<?xml version='1.0' encoding='utf-16'?>" + ROBOT.encode(),
        b"<?xml version='1.0' encoding='ascii'?>" + ROBOT.replace("'a'", "'é'").encode(),
        b"<?xml version='1.0' encoding='base64'?>" + ROBOT.encode(),
        b"<?xml version='1.0' encoding='undefined'?>" + ROBOT.encode(),
        ROBOT.encode("utf-16")[:-1],
        ROBOT.encode("utf-32"),
    ],
    ids=["bad UTF-8", "not UTF-16", "not ASCII", "base64", "undefined", "half a unit", "UTF-32"],
)
def test_bytes_that_are_not_in_their_encoding_are_refused(data, tmp_path):
    refuse(tmp_path, data, "1: not (well-formed|readable as) XML")


# numbers


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("nan", "a finite number is expected"),
        ("-NaN", "a finite number is expected"),
        ("inf", "a finite number is expected"),
        ("1e400", "a finite number is expected"),
        ("-1e999999999", "a finite number is expected"),
        ("1.#INF", "is not a number"),
        ("0x1p3", "is not a number"),
        ("0x10", "is not a number"),
        ("1,5", "is not a number"),
        ("1kg", "is not a number"),
        ("0.5m", "is not a number"),
        ("90deg", "is not a number"),
        ("1_000", "is not a number"),
        ("1.5.", "is not a number"),
        ("1e", "is not a number"),
        ("--1", "is not a number"),
        ("1/2", "is not a number"),
        ("pi", "is not a number"),
        ("½", "is not a number"),
        ("−1", "is not a number"),  # a minus sign, not a hyphen
        (".", "is not a number"),
        ("None", "is not a number"),
    ],
)
def test_a_word_that_is_no_number_is_refused_wherever_it_stands(word, message, tmp_path):
    inertia = "<inertia ixx='1' iyy='1' izz='1' ixy='{}'/>"
    inside_link = ["<mass value='{}'/>", "<origin xyz='0 0 {}'/>", inertia]
    inside_joint = ["<origin rpy='0 {} 0'/>", "<axis xyz='{} 0 1'/>", "<limit upper='{}'/>"]
    inside_joint += ["<dynamics damping='{}'/>", "<mimic joint='k' offset='{}'/>"]
    for part in inside_link:
        link = f"<inertial>{part.format(word)}</inertial>"
        refuse(
            tmp_path,
            JOINT.format(link=link, joint=""),
            rf"3: .*={re.escape(repr(word))}.*{message}",
        )
    for part in inside_joint:
        text = JOINT.format(link="", joint=part.format(word))
        refuse(tmp_path, text, rf"4: .*={re.escape(repr(word))}.*{message}")


OVERFLOWS = {
    "a mass far away": "<mass value='1e200'/><origin xyz='1e200 0 0'/>",
    "a point very far away": "<mass value='1'/><origin xyz='0 1e308 0'/>",
}


@pytest.mark.parametrize("inertial", OVERFLOWS.values(), ids=OVERFLOWS)
def test_numbers_whose_products_overflow_are_refused(inertial):
    text = JOINT.format(link=f"<inertial>{inertial}</inertial>", joint="")
    with refused("the inertia of body 'b' holds -?(inf|nan): every number must be", ModelError):
        load_model(text)
    assert check_file(text)[-1].severity == "error"


def test_fixed_joints_whose_offsets_add_up_to_infinity_are_refused():
    joint = "<joint name='{}' type='fixed'><parent link='{}'/><child link='{}'/>{}</joint>"
    far = "<origin xyz='1.7e308 0 0'/>"
    links = "".join(f"<link name='{name}'/>" for name in "abc")
    text = f"<robot>{links}{joint.format('i', *'ab', far)}{joint.format('j', *'bc', far)}</robot>"
    with refused("the placement of frame 'c' holds inf", ModelError):
        load_model(text)


@pytest.mark.parametrize("mass", ["1e-320", "1e-160", "1e160", "1e300"])
def test_absurd_inertias_that_are_finite_are_findings(mass):
    for moment in ("1e-320", "1e300"):
        inertia = f"<inertia ixx='{moment}' iyy='{moment}' izz='{moment}'/>"
        text = JOINT.format(link=f"<inertial><mass value='{mass}'/>{inertia}</inertial>", joint="")
        assert load_model(text).bodies[0].inertia.mass == float(mass)
        assert all(len(str(problem)) < SHORT for problem in check_file(text))


@pytest.mark.parametrize("size", ["1.7e308", "1e-323", "5e-324"])
def test_an_axis_of_any_length_is_normalised(size):
    axis = body(joint=f"<axis xyz='{size} {size} -{size}'/>").joint.axis
    assert relative_error([*axis], [3**-0.5, 3**-0.5, -(3**-0.5)]) <= EPS


@pytest.mark.parametrize("axis", ["1e-10 0 -1", "1e-5 2e-5 -1", "0 1e-320 -1", "0 0 -1", "1 1 -1"])
def test_the_axes_of_a_plane_that_is_upside_down_are_at_right_angles(axis):
    text = JOINT.format(link="", joint=f"<axis xyz='{axis}'/>").replace("revolute", "planar")
    (plane,) = load_model(text).bodies
    x, y, turn = plane.joint.subspace([0.0, 0.0, 0.0])
    axes = np.array([[*x.linear], [*y.linear], [*turn.angular]])
    assert relative_error(axes @ axes.T, np.eye(3)) < EXACT
    assert relative_error(np.linalg.det(axes), 1.0) < EXACT


# what is said twice, left out or added


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot>\n<link name='a' name='a'/></robot>", "2: .*duplicate attribute"),
        ("<robot>\n<link name='a'/>\n<link name='a'/></robot>", "3: a second link is named 'a'"),
        ("<robot>\n<link name='a'/>\n<link/></robot>", "3: <link>: the attribute 'name' is miss"),
        ("<robot>\n<link name=''/></robot>", "2: <link name=''>: the attribute 'name' is empty"),
        ("<robot>\n<link Name='a'/></robot>", "2: <link>: the attribute 'name' is missing"),
        (JOINT.format(link="<inertial><mass/></inertial>", joint=""), "3: .*'value' is missing"),
        (JOINT.format(link="", joint="<mimic/>"), "4: <mimic>: the attribute 'joint' is missing"),
        (JOINT.format(link="", joint="").replace("parent", "Parent"), "4: .*<parent link=...> is"),
    ],
)
def test_what_is_missing_or_said_twice_is_named(text, message, tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    with refused(rf"robot\.urdf:{message}", ModelError):
        load_model(file)


ODD = """<?xml version="1.0" ?>
<!-- much that is allowed -->
<?xml-model href="nowhere.xsd"?>
<robot name=" r " xmlns="http://drive.org/robot" xmlns:gazebo="http://gazebo.org" version="1.0">
  text between tags
  <gazebo:world><gazebo:link name="w"/></gazebo:world>
  <gazebo reference="b"><link name="not mine"/><joint name="nor this"/></gazebo>
  <material name="red"><color rgba="1 0 0 1"/><texture filename="${red}.png"/></material>
  <link name="a"/>
  <link name="b" kind="strange">
    <visual><geometry><box size="1 1 1"/></geometry><material name="red"/></visual>
    <visual name="v"><origin xyz="0 0 1"/><geometry><sphere radius="1"/></geometry></visual>
    <visual/>
    <visual><geometry/></visual>
    <visual><geometry><torus radius="1"/></geometry></visual>
    <collision><geometry><cylinder radius="1" length="2"/></geometry></collision>
    <contact><lateral_friction value="1"/></contact>
    <inertial><mass value=" \t+1.5e0 "/><origin xyz="&#10;1\n\t2  3.&#32;"/></inertial>
    <inertial><mass value="99"/></inertial>
  </link>
  <joint name="j" type="revolute">
    <parent link="a"/><child link="b"/>
    <axis xyz="-.0 0 1."/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
    <safety_controller k_velocity="10" k_position="15" soft_lower_limit="-9"/>
    <calibration rising="0"/>
  </joint>
  <transmission name="t"><type>simple</type><joint name="j"/><actuator name="m"/></transmission>
  <![CDATA[ <link name="c"/> ]]>
</robot>
"""


def test_what_is_allowed_but_odd_loads():
    model = load_model(ODD)
    (only,) = model.bodies
    assert (model.name, [f.name for f in model.frames]) == (" r ", ["a", "b"])
    assert (only.inertia.mass, only.inertia.moment) == (1.5, Vector3(1.5, 3.0, 4.5))
    assert (only.joint.axis, only.limits) == (Vector3(0.0, 0.0, 1.0), Limits(-1.0, 1.0, 1.0, 1.0))
    assert [shape.kind for shape in model.shapes] == ["box", "sphere", "cylinder"]


# other files


def run(script, *arguments):
    """What a script prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


MESHES = ("../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://localhost:9/a.stl")


def test_reading_a_urdf_opens_that_file_and_no_other(tmp_path):
    file = tmp_path / "robot.urdf"
    mesh = "<visual><geometry><mesh filename='{0}'/></geometry></visual>"
    mesh += "<collision><geometry><mesh filename='{0}'/></geometry></collision>"
    more = "<xi:include href='/etc/passwd'/><material name='m'><texture filename='/etc/passwd'/>"
    link = "".join(mesh.format(name) for name in MESHES)
    text = JOINT.format(link=link, joint="").replace("</robot>", f"{more}</material></robot>")
    file.write_text(f"<?xml-stylesheet href='file:///etc/passwd'?>\n{text}")
    script = """
        import sys
        from kinetree.robot.load import load_model
        touched = []
        kinds = ("open", "os.", "socket.", "subprocess.", "urllib.", "glob.", "import")
        hook = lambda event, details: event.startswith(kinds) and touched.append((event, *details))
        sys.addaudithook(hook)
        model = load_model(sys.argv[1])
        print([(event, first) for event, first, *_ in touched])
        print([shape.file for shape in model.shapes])
    """
    touched, files = run(script, file).splitlines()
    assert touched == str([("open", str(file))])
    assert files == str([*MESHES, *MESHES])


def mjcf(folder, compiler="", asset="", include=""):
    """An MJCF file in a folder of its own, and beside that folder a mesh and an include."""
    corners = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"]
    faces = ["1 3 2", "1 2 4", "1 4 3", "2 3 4"]
    mesh = "\n".join([*(f"v {c}" for c in corners), *(f"f {f}" for f in faces)])
    (folder / "outside.obj").write_text(mesh)
    (folder / "outside.xml").write_text("<mujocoinclude/>")
    file = folder / "inside" / "robot.xml"
    file.parent.mkdir(exist_ok=True)
    (file.parent / "mesh.obj").write_text(mesh)
    geom = "<geom type='mesh' mesh='m'/>" if "'m'" in asset else "<geom size='1'/>"
    world = f"<worldbody><body><joint/>{geom}</body></worldbody>"
    asset = f"<asset>{asset}</asset>"
    file.write_text(f"<mujoco>\n<compiler {compiler}/>\n{asset}\n{include}{world}</mujoco>")
    return file


def test_mjcf_reads_meshes_from_its_folder(tmp_path):
    pytest.importorskip("mujoco")
    (shape,) = load_model(mjcf(tmp_path, asset="<mesh name='m' file='mesh.obj'/>")).shapes
    assert shape.file.endswith("mesh.obj")


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (3, {"asset": "<mesh name='m' file='../outside.obj'/>"}),
        (3, {"asset": "<mesh name='m' file='{}/outside.obj'/>"}),
        (3, {"asset": "<mesh name='m' file='mesh.obj/../../outside.obj'/>"}),
        (3, {"asset": "<mesh name='m' file='outside.obj'/>", "compiler": "meshdir='..'"}),
        (3, {"asset": "<mesh name='m' file='outside.obj'/>", "compiler": "meshdir='{}'"}),
        (3, {"asset": "<mesh name='m' file='outside.obj'/>", "compiler": "assetdir='..'"}),
        (3, {"asset": "<texture name='t' type='cube' fileright='../outside.png'/>"}),
        (3, {"asset": "<hfield name='h' file='../outside.png' size='1 1 1 1'/>"}),
        (4, {"include": "<include file='../outside.xml'/>"}),
        (4, {"include": "<include file='{}/outside.xml'/>"}),
    ],
)
def test_mjcf_that_names_a_file_outside_its_folder_is_refused(line, parts, tmp_path):
    pytest.importorskip("mujoco")
    file = mjcf(tmp_path, **{key: value.format(tmp_path) for key, value in parts.items()})
    with refused(
        rf"robot\.xml:{line}: .* points outside the folder .*; allow a larger folder with folder"
    ):
        load_model(file)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_mjcf_that_goes_outside_by_a_link_is_refused(tmp_path):
    pytest.importorskip("mujoco")
    file = mjcf(tmp_path, asset="<mesh name='m' file='link.obj'/>")
    (file.parent / "link.obj").symlink_to(tmp_path / "outside.obj")
    with refused("points outside the folder"):
        load_model(file)


def test_mjcf_that_goes_outside_by_a_file_it_includes_is_refused(tmp_path):
    pytest.importorskip("mujoco")
    mesh = "<mesh name='m' file='outside.obj'/>"
    file = mjcf(tmp_path, asset=mesh, include="<include file='settings.xml'/>")
    settings = "<mujocoinclude><compiler meshdir='..'/></mujocoinclude>"
    (file.parent / "settings.xml").write_text(settings)
    with refused("points outside the folder"):
        load_model(file)


def test_mjcf_that_goes_outside_by_a_model_it_attaches_is_refused(tmp_path):
    pytest.importorskip("mujoco")
    file = mjcf(tmp_path, asset="<model name='o' file='other.xml'/>")
    text = file.read_text()
    mesh = "<mesh name='m' file='outside.obj'/>"
    other = "<worldbody><body name='b'><geom type='mesh' mesh='m'/></body></worldbody>"
    (file.parent / "other.xml").write_text(
        f"<mujoco><compiler meshdir='..'/><asset>{mesh}</asset>{other}</mujoco>"
    )
    file.write_text(text.replace("</body>", "<attach model='o' body='b' prefix='o'/></body>"))
    with refused("points outside the folder"):
        load_model(file)


def test_an_mjcf_text_can_name_no_file():
    pytest.importorskip("mujoco")
    text = "<mujoco><asset><mesh file='/etc/passwd'/></asset></mujoco>"
    with refused(r"^<string>:1: <mesh>: file='/etc/passwd': a model given as text cannot"):
        load_model(text)


# warnings

DOUBTFUL = JOINT.format(
    link="<inertial><mass value='-1'/></inertial>",
    joint="<axis xyz='0 0 2'/>",
)


def test_what_is_doubtful_is_one_warning_at_the_users_call_and_the_worst_comes_first():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kt.load(DOUBTFUL)
    (only,) = caught
    assert only.filename == __file__
    assert str(only.message) == (
        "<string>:3: error: link 'b': its mass is negative: -1 kg; and 2 more "
        "('kinetree check' lists everything)"
    )


# numbers that overflow together

MIMIC = """<robot name='r'><link name='a'/><link name='b'/><link name='c'/>
<joint name='j' type='revolute'><parent link='a'/><child link='b'/>
<limit lower='-{limit}' upper='{limit}'/></joint>
<joint name='k' type='revolute'><parent link='b'/><child link='c'/><dynamics damping='1'/>
<mimic joint='j' multiplier='{ratio}' offset='{offset}'/></joint></robot>"""


@pytest.mark.parametrize(
    ("ratio", "offset", "limit", "message"),
    [
        ("1e200", "0", "1e200", r"joint 'k' mimics 'j' with multiplier 1e\+200 .* too large"),
        ("1e308", "1.7e308", "1", r"joint 'k' mimics 'j' with multiplier 1e\+308 .* too large"),
        (
            "1e200",
            "0",
            "1",
            r"the drive of joint 'k', seen through its multiplier 1e\+200, holds inf",
        ),
    ],
)
def test_a_mimic_whose_numbers_overflow_is_refused(ratio, offset, limit, message):
    with refused(message, ModelError):
        load_model(MIMIC.format(ratio=ratio, offset=offset, limit=limit))


def test_a_mimic_that_overflows_where_its_leader_is_locked_is_refused():
    text = MIMIC.format(ratio="1e200", offset="0", limit="1")
    with refused("joint 'k' mimics 'j', which is locked: .* overflows", ModelError):
        load_model(text, locked={"j": 1e200})


def test_limits_of_zero_and_minus_zero_are_a_range():
    for lower, upper in (("0", "-0"), ("-0", "0")):
        limit = f"<limit lower='{lower}' upper='{upper}'/>"
        assert kt.load(JOINT.format(link="", joint=limit)).random(0).tolist() == [0.0]


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1.7e308])
def test_a_quaternion_of_any_length_but_zero_locks_a_joint(size):
    a = kt.Assembly("r")
    a.add("b", "base", kt.joints.Ball(), mass=1.0)
    placed = a.robot().edit.lock({"b_joint": [size, 0.0, 0.0, size]}).model.frame("b").placement
    assert relative_error(placed.rotation.rows[1].z, -1.0) < EXACT
