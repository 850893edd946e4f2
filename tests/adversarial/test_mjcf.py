"""Hostile MJCF: MuJoCo sees nothing but what was checked, and is kept busy by nothing for long."""

import math
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib
from xml.sax.saxutils import quoteattr

import mujoco
import pytest

from kinetree.errors import FileFormatError
from kinetree.model.formats.mjcf_limits import (
    LARGEST_NUMBER,
    MOST_PIXELS,
    MOST_REPEATED,
    MOST_WRITTEN,
)
from kinetree.model.formats.mjcf_source import source
from kinetree.model.formats.xml import parse
from kinetree.robot.load import check_file, load_model

GEOM = '<geom size="0.1"/>'
BODY = f'<body name="one"><joint name="hinge" axis="0 1 0"/>{GEOM}</body>'
WORLD = f"<worldbody>{BODY}</worldbody>"
ESCAPED = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
SECONDS = 60.0  # for what took for ever, and takes less than one


def mjcf(inside):
    return f"<mujoco>{inside}</mujoco>"


def given(text):
    """What MuJoCo is given of a text."""
    return source(parse(text.encode(), "<string>"), None)


def write(folder, **files):
    """Files in a folder, MJCF if they are text; the path of the first."""
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_xml", ".xml").replace("_obj", ".obj")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else mjcf(content).encode())
    return folder / "main.xml"


def tetrahedron(edge=1.0):
    corners = [(0, 0, 0), (edge, 0, 0), (0, edge, 0), (0, 0, edge)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    return "\n".join([*lines, "f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4", ""]).encode()


def picture(width=4, height=4):
    """A PNG picture, black."""
    rows = zlib.compress((b"\0" + b"\0" * 3 * width) * height)

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*pair) for pair in chunks)


# one document, not two

NOTATION = """<!DOCTYPE mujoco [<!NOTATION x SYSTEM "]>
<mujoco><include file='../secret.xml'/></mujoco><!--">]>"""
DECLARED = "the DOCTYPE has internal"


def test_a_document_type_that_parsers_take_to_end_elsewhere_is_refused(tmp_path):
    # one sees a notation, the other the end of the document type and a document that reads a file
    text = f"{NOTATION}{mjcf(WORLD)}<!-- -->"
    (tmp_path / "secret.xml").write_text(mjcf(WORLD.replace("one", "secret")))
    tmp_path = tmp_path / "robot"
    with pytest.raises(FileFormatError, match=rf"^<string>:1: {DECLARED}"):
        load_model(text)
    with pytest.raises(FileFormatError, match=rf"main\.xml:1: {DECLARED}"):
        load_model(write(tmp_path, main_xml=text.encode()))
    outside = {
        "an include": {"main_xml": '<include file="inner.xml"/>', "inner_xml": text.encode()},
        "a model": {
            "main_xml": '<asset><model name="o" file="inner.xml"/></asset>' + WORLD,
            "inner_xml": text.encode(),
        },
    }
    for files in outside.values():
        with pytest.raises(FileFormatError, match=rf"inner\.xml:1: {DECLARED}"):
            load_model(write(tmp_path, **files))


HIDDEN = '<include file="/etc/passwd"/>'
SEEN_OTHERWISE = {
    "a comment": f"<!-- {HIDDEN} -->",
    "a comment of comments": f"<!--<!- -{HIDDEN}- ->-->",
    "character data": f"<![CDATA[{HIDDEN}]]>",
    "an instruction": f"<?x {HIDDEN}?>",
    "text": "&lt;include file='/etc/passwd'/&gt; ]]&gt; text",
}


@pytest.mark.parametrize("what", SEEN_OTHERWISE)
def test_what_is_no_element_is_not_passed_on(what):
    text = f"<?xml version='1.0'?><!DOCTYPE mujoco>{mjcf(SEEN_OTHERWISE[what] + WORLD)}<!-- -->"
    passed = given(text).text
    assert passed == given(mjcf(WORLD)).text
    for mark in ("<!", "<?", "include", "]]"):
        assert mark not in passed
    assert load_model(text) == load_model(mjcf(WORLD))


NAMES = [
    "a b",
    "\"q\" 'q'",
    "<a>&amp;b]]>",
    "two\nlines\r\tand",
    "关节 \U0001f9be",
    "\x85",
    "a&#0;",
]


def test_what_is_passed_on_reads_as_what_was_checked():
    bodies = "".join(
        f"<body name={quoteattr(name, ESCAPED)}><joint name='j{i}'/>{GEOM}</body>"
        for i, name in enumerate(NAMES)
    )
    text = mjcf(f"<worldbody>{bodies}</worldbody>")
    passed = ET.fromstring(given(text).text)
    assert [element.attrib["name"] for element in passed.iter("body")] == NAMES
    assert {body.name for body in load_model(text).bodies} == set(NAMES)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_file_of_any_encoding_and_line_ends_is_the_same_robot(encoding, end, tmp_path):
    text = mjcf(end + WORLD.replace('"one"', f'"é{end}x"') + end)
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    data = f"<?xml version='1.0' encoding='{declared}'?>{end}{text}".encode(encoding)
    (body,) = load_model(write(tmp_path, main_xml=data)).bodies
    assert body.name == "é x"  # as XML has it: a line end in an attribute is a blank


def test_an_attribute_that_is_there_twice_is_refused():
    twice = mjcf(WORLD.replace('name="one"', 'name="one" name="two"'))
    with pytest.raises(FileFormatError, match="<string>:1: not well-formed XML: duplicate attri"):
        load_model(twice)


# includes


def test_includes_are_put_in_their_places_relative_to_the_main_file_or_their_own(tmp_path):
    file = write(
        tmp_path,
        main_xml="""<include file="parts/a.xml"/>
            <worldbody><include file="parts/b.xml"/></worldbody>""",
        parts__a_xml='<include file="parts/c.xml"/><option gravity="0 0 -1"/>',
        parts__b_xml=f'{BODY}<body name="two"><include file="d.xml"/></body>',
        parts__c_xml='<compiler angle="radian"/>',
        parts__d_xml=f'<joint name="slide" type="slide"/>{GEOM}',
    )
    model = load_model(file)
    assert [body.joint_name for body in model.bodies] == ["hinge", "slide"]
    assert tuple(model.gravity) == (0.0, 0.0, -1.0)
    peer = mujoco.MjModel.from_xml_path(str(file))
    assert [peer.joint(j).name for j in range(peer.njnt)] == ["hinge", "slide"]


BROKEN = {
    "twice": ("is included a second time", '<include file="b.xml"/><include file="./b.xml"/>'),
    "itself": ("is included a second time", '<include file="main.xml"/>'),
    "not there": ("there is no such file in ", '<include file="none.xml"/>'),
    "nothing": ("the document has no elements to include", '<include file="empty.xml"/>'),
    "with children": ("an include has no children", '<include file="b.xml"><a/></include>'),
    "without a file": ("the attribute 'file' is missing", "<include/>"),
    "in capitals": ("a <INCLUDE> names no file", '<INCLUDE file="b.xml"/>'),
    "by another element": ("a <body> names no file", '<body file="b.xml"/>'),
    "by another attribute": ("a <mesh> names no file", '<mesh filename="b.xml"/>'),
    "a directory": ("there is no such file in ", '<include file="."/>'),
    "a long name": ("there is no such file in ", f'<include file="{"x" * 5000}"/>'),
    "a text": ("not XML, as ", '<include file="text.xml"/>'),
}


@pytest.mark.parametrize("how", BROKEN)
def test_an_include_that_cannot_be_is_said_with_its_place(how, tmp_path):
    message, inside = BROKEN[how]
    others = {"b_xml": "<option/>", "empty_xml": "", "text_xml": b"hello"}
    file = write(tmp_path, main_xml=inside + WORLD, **others)
    with pytest.raises(FileFormatError, match=rf"xml:1: .*{message}"):
        load_model(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.xml")
    with pytest.raises(FileFormatError, match="there is no such file"):
        load_model(write(tmp_path, main_xml='<include file="pipe.xml"/>'))


def test_documents_that_together_are_too_deep_are_refused(tmp_path):
    deep = "<frame>" * 400 + '<include file="inner.xml"/>' + "</frame>" * 400
    file = write(
        tmp_path, main_xml=f"<worldbody>{deep}</worldbody>", inner_xml="<a>" * 200 + "</a>" * 200
    )
    with pytest.raises(FileFormatError, match=r"inner\.xml:1: .* nested 500 deep"):
        load_model(file)


# other files

MESH = '<asset><mesh name="m" file="{}"/></asset>'
SHAPE = """<worldbody><body name="one"><joint name="hinge"/><geom type="mesh" mesh="m"/></body>
    </worldbody>"""
PLACES = {
    "beside it": {"main_xml": MESH.format("m.obj") + SHAPE, "m_obj": ...},
    "below it": {"main_xml": MESH.format("sub/m.obj") + SHAPE, "sub__m_obj": ...},
    "by meshdir": {
        "main_xml": '<compiler meshdir="sub"/>' + MESH.format("m.obj") + SHAPE,
        "sub__m_obj": ...,
    },
    "by assetdir": {
        "main_xml": '<compiler assetdir="sub" texturedir="x"/>' + MESH.format("m.obj") + SHAPE,
        "sub__m_obj": ...,
    },
    "by the last setting": {
        "main_xml": '<compiler meshdir="x"/><include file="set.xml"/>'
        + MESH.format("m.obj")
        + SHAPE,
        "set_xml": '<compiler meshdir="sub"/>',
        "sub__m_obj": ...,
    },
    "without its folders": {
        "main_xml": '<compiler strippath="true" meshdir="sub"/>' + MESH.format("a/b/m.obj") + SHAPE,
        "sub__m_obj": ...,
    },
    "beside the main file, not the include": {
        "main_xml": '<include file="sub/in.xml"/>' + SHAPE,
        "sub__in_xml": MESH.format("m.obj"),
        "m_obj": ...,
    },
    "beside the include": {
        "main_xml": '<include file="sub/in.xml"/>' + SHAPE,
        "sub__in_xml": MESH.format("m.obj"),
        "sub__m_obj": ...,
    },
    "from another system": {"main_xml": MESH.format("sub\\m.obj") + SHAPE, "sub__m_obj": ...},
    "with a name of any letters": {"main_xml": MESH.format("ü é.obj") + SHAPE, "ü é_obj": ...},
}


@pytest.mark.parametrize("where", PLACES)
def test_a_mesh_is_found_where_mujoco_finds_it(where, tmp_path):
    files = {k: tetrahedron(0.2) if v is ... else v for k, v in PLACES[where].items()}
    file = write(tmp_path, **files)
    model, peer = load_model(file), mujoco.MjModel.from_xml_path(str(file))
    assert model.bodies[0].inertia.mass == pytest.approx(float(peer.body_mass[1]), rel=1e-12)
    (shape,) = model.shapes
    assert f'file="{shape.file}"' in "".join(v for v in files.values() if isinstance(v, str))


def test_a_mesh_without_a_name_has_that_of_its_file(tmp_path):
    inside = '<asset><mesh file="sub/m.v2.obj"/></asset>' + SHAPE.replace('"m"', '"m.v2"')
    model = load_model(write(tmp_path, main_xml=inside, **{"sub__m.v2_obj": tetrahedron()}))
    assert model.shapes[0].file == "sub/m.v2.obj"


def test_textures_height_fields_and_models_are_found(tmp_path):
    file = write(
        tmp_path,
        main_xml='<compiler texturedir="t"/><asset><texture type="2d" file="a.png" embed="false"/>'
        '<texture name="c" type="cube" fileup="a.png" fileleft="a.png"/>'
        '<material name="u" texture="a"/><hfield file="h.png" size="1 1 1 1"/>'
        '<model name="o" file="sub/o.xml"/></asset><worldbody><geom type="hfield" hfield="h"/>'
        '<geom size="1" material="u"/><attach model="o" body="one" prefix="p_"/></worldbody>',
        sub__o_xml='<compiler meshdir="../m"/><include file="set.xml"/>'
        + MESH.format("m.obj")
        + SHAPE,
        sub__set_xml='<option gravity="0 0 -2"/>',
        m__m_obj=tetrahedron(),
        **{"t__a.png": picture(), "h.png": picture()},
    )
    (body,) = load_model(file).bodies
    assert body.joint_name == "p_hinge"
    assert body.inertia.mass == pytest.approx(1000.0 / 6.0)


def test_two_meshes_of_one_name_are_not_taken_for_each_other(tmp_path):
    # MuJoCo keeps what it has read by name
    inside, masses = MESH.format("m.obj") + SHAPE, []
    for edge in (0.1, 0.2):
        folder = tmp_path / f"{edge}"
        model = load_model(write(folder, main_xml=inside, m_obj=tetrahedron(edge)))
        masses.append(model.bodies[0].inertia.mass)
    assert masses[1] == pytest.approx(8.0 * masses[0])


def test_two_files_of_the_same_content_keep_their_names(tmp_path):
    inside = """<asset><mesh file="a.obj"/><mesh file="b.obj"/></asset><worldbody><body><joint/>
        <geom type="mesh" mesh="a"/><geom type="mesh" mesh="b"/></body></worldbody>"""
    file = write(tmp_path, main_xml=inside, a_obj=tetrahedron(), b_obj=tetrahedron())
    assert [shape.file for shape in load_model(file).shapes] == ["a.obj", "b.obj"]


def test_a_file_that_is_not_there_is_named_by_mujoco_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "robot", main_xml=MESH.format("none.obj") + SHAPE)
    with pytest.raises(FileFormatError, match=r"main\.xml: MuJoCo cannot .*'none\.obj'"):
        load_model(file)


def test_a_model_that_attaches_itself_or_is_no_mjcf_is_refused(tmp_path):
    asset = '<asset><model name="o" file="{}.xml"/></asset>' + WORLD
    file = write(
        tmp_path, main_xml=asset.format("o"), o_xml=asset.format("p"), p_xml=asset.format("o")
    )
    with pytest.raises(FileFormatError, match=r"p\.xml:1: <model .*: the model attaches itself"):
        load_model(file)
    write(tmp_path, o_xml=b"<robot name='r'><link name='a'/></robot>")
    with pytest.raises(FileFormatError, match="an MJCF file is expected, not <robot name='r'>"):
        load_model(file)


def test_models_that_attach_one_another_without_end_are_refused(tmp_path):
    files = {f"m{i}_xml": f'<asset><model file="m{i + 1}.xml"/></asset>{WORLD}' for i in range(60)}
    file = write(tmp_path, main_xml='<asset><model file="m0.xml"/></asset>' + WORLD, **files)
    with pytest.raises(
        FileFormatError,
        match=r"m49\.xml:1: .* models are attached, or attachments are nested more than 50",
    ):
        load_model(file)


def test_errors_have_the_lines_of_the_files_they_are_in(tmp_path):
    bad = '<body name="b">\n\n<joint typ="x"/></body>'
    files = {
        "main": {"main_xml": f"\n\n<worldbody>\n{bad}</worldbody>"},
        "part": {
            "main_xml": '<worldbody>\n<include file="part.xml"/></worldbody>',
            "part_xml": bad,
        },
        "model": {
            "main_xml": '<asset>\n<model name="o" file="model.xml"/></asset>' + WORLD,
            "model_xml": f"<worldbody>{bad}</worldbody>",
        },
    }
    expected = {
        "main": r"'joint', line 6$",
        "part": r"'joint', line 3 of .*part\.xml$",
        "model": r"'joint', line 3 of .*model\.xml Element 'model', line 2$",
    }
    for name, message in expected.items():
        with pytest.raises(FileFormatError, match=f"MuJoCo cannot compile it: .*{message}"):
            load_model(write(tmp_path, **files[name]))
    body = '<body>\n<joint name="i"/></body>'
    with pytest.raises(
        FileFormatError, match=r"larger than mjMINVAL Element name '', id 1, line 2$"
    ):
        load_model(mjcf(f"<worldbody>\n{body}</worldbody>"))


# numbers

TOO_LARGE = (
    "1e16",
    "-1.7e308",
    "0x1p60",
    "0X1P+1000",
    "1e999",
    "inf",
    "-Infinity",
    "nan",
    "NaN(1)",
)


@pytest.mark.parametrize("word", TOO_LARGE)
def test_a_number_that_no_robot_has_is_said_with_its_place_and_what_is_allowed(word, tmp_path):
    body = BODY.replace('name="one"', f'name="one"\npos="0 0 {word}"')
    file = write(tmp_path, main_xml=f"<worldbody>\n{body}</worldbody>")
    allowed = r"the accepted range of ±1e\+15|a finite number is expected"
    place = re.escape(f"main.xml:2: <body name='one'>: pos='0 0 {word}': ")
    with pytest.raises(FileFormatError, match=f"{place}.*({allowed})"):
        load_model(file)


def test_numbers_up_to_the_bound_names_and_ranges_are_taken():
    for inside in (
        WORLD.replace("<joint", f'<joint range="-1e300 1e300" stiffness="{LARGEST_NUMBER}"'),
        WORLD.replace('"one"', '"1e999"'),
        WORLD.replace('"hinge"', '"123456789012345678901234567890"')
        + '<actuator><motor joint="123456789012345678901234567890" ctrlrange="0 3e38"/></actuator>',
        '<custom><text name="t" data="1e999 nan"/><numeric name="n" data="1e300"/></custom>'
        + WORLD,
        WORLD.replace("<geom", '<geom user="1e300"'),
    ):
        assert load_model(mjcf(inside)).nv == 1


def test_numbers_of_includes_and_attached_models_are_checked_too(tmp_path):
    bad = BODY.replace("<geom", '<geom pos="1e200 0 0"')
    for main in (
        '<include file="b.xml"/>',
        '<asset><model name="o" file="b.xml"/></asset>' + WORLD,
    ):
        file = write(tmp_path, main_xml=main, b_xml=f"<worldbody>{bad}</worldbody>")
        with pytest.raises(
            FileFormatError, match=r"b\.xml:1: <geom>: pos='1e200 0 0': 1e\+200 is outside"
        ):
            load_model(file)


# time


def seconds(text):
    """How a text is loaded by another process, which is not waited for longer than bearable."""
    code = """
import sys, warnings
from kinetree.errors import KinetreeError
from kinetree.robot.load import load_model
warnings.simplefilter("ignore")
try:
    print("loaded", load_model(sys.stdin.read()).nv)
except KinetreeError as e:
    print("refused", e)
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    return run.stdout.strip()


TENDON = """<tendon><spatial name="t"><site site="s"/><site site="o"/></spatial></tendon>
    <actuator><muscle tendon="t"/></actuator>"""


def test_a_tendon_from_far_away_is_refused_at_once():
    far = f'<body pos="0 0 -1e308"><joint/>{GEOM}<site name="s"/></body><site name="o"/>'
    text = mjcf(f"\n<worldbody>{far}</worldbody>{TENDON}")
    assert seconds(text).startswith(
        "refused <string>:2: <body>: pos='0 0 -1e308': -1e+308 is outside"
    )


@pytest.mark.slow
def test_a_muscle_whose_length_range_no_simulation_finds_is_loaded():
    # MuJoCo starts a simulation again that diverges, and never comes to its end
    far = """<body><joint pos="0 -0.5 -0.5"/><geom size="1"/><site name="s"/><body pos="2 1e8 0">
        <joint/><inertial pos="2 1 2" mass="0.3" diaginertia="2 2 0.3"/></body></body>
        <site name="o"/>"""
    text = mjcf(f"<worldbody>{far}</worldbody>{TENDON}")
    assert seconds(text) == "loaded 2"
    slow = '<compiler><lengthrange inttotal="1e12" timestep="1e-9"/></compiler>'
    assert seconds(text.replace("<worldbody>", f"{slow}<worldbody>")) == "loaded 2"
    options = '<compiler><lengthrange inttotal="much"/></compiler>'
    refused = seconds(text.replace("<worldbody>", f"{options}<worldbody>"))
    assert refused.startswith("refused <string>:1: <lengthrange>: inttotal='much'")


def test_a_solver_that_is_told_to_go_on_is_not_asked():
    apart = "".join(
        f'<body name="{name}" pos="{x} 0 0"><freejoint/><geom size="1"/></body>'
        for name, x in (("a", 0), ("b", 1))
    )
    weld = '<equality><weld body1="a" body2="b" relpose="5 0 0 1 0 0 0"/></equality>'
    endless = """<option iterations="2000000000" noslip_iterations="2000000000" tolerance="0"
        ls_iterations="2000000000" solver="PGS"/><size nkey="2000000000" memory="1E"/>"""
    assert seconds(mjcf(f"{endless}<worldbody>{apart}</worldbody>{weld}")) == "loaded 12"


def replicated(*counts, inside="<body/>"):
    for count in counts:
        inside = f'<replicate count="{count}">{inside}</replicate>'
    return f"<worldbody>{inside}</worldbody>"


def flexible(**attributes):
    said = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    return f'<worldbody><body name="b"><flexcomp name="f" {said}/></body></worldbody>'


def doubled(times):
    """Bodies each of which holds the one before twice more."""
    bodies = ['<body name="b0"/>']
    for i in range(times):
        again = "".join(f'<attach body="b{i}" prefix="{x}{i}"/>' for x in "pq")
        bodies.append(f'<body name="b{i + 1}">{again}</body>')
    return f"<worldbody>{''.join(bodies)}</worldbody>"


MOTORS = "<actuator>" + '<motor joint="j"/>' * 100 + "</actuator>"
REPEATED = {
    "a count": replicated(MOST_REPEATED + 2),
    "counts of counts": replicated(*[10] * 12),
    "a count that is no whole number": replicated("1e14"),
    "what refers to a repeated body": replicated(300, inside='<body><joint name="j"/></body>')
    + MOTORS,
    "attaching to itself": doubled(40),
    "a cloth": flexible(type="grid", dim=2, count="200 200 1"),
    "a block": flexible(type="box", dim=3, count="100000 100000 100000"),
    "cells": flexible(type="grid", dof="trilinear", count="4 4 4", cellcount="100 100 100"),
    "points": flexible(type="direct", dim=2, point="0 0 0 " * (MOST_REPEATED + 10)),
    "ropes": '<worldbody><body><composite type="cable" count="10000 10 1"/></body></worldbody>',
}


@pytest.mark.parametrize("what", REPEATED)
def test_what_repeats_others_too_often_is_refused(what):
    expected = rf"^<string>:2: .*: it generates more than {MOST_REPEATED} elements, the limit"
    with pytest.raises(FileFormatError, match=expected):
        given(mjcf("\n" + REPEATED[what]))
    (problem,) = check_file(mjcf(REPEATED[what]))
    assert problem.severity == "error"


def test_what_attaches_itself_without_end_is_refused(tmp_path):
    itself = (
        '<worldbody><body name="a"><body><attach body="a" prefix="p"/></body></body></worldbody>'
    )
    with pytest.raises(FileFormatError, match="it attaches itself recursively"):
        given(mjcf(itself))
    twice = """<asset><model name="o" file="{0}.xml"/></asset>
        <worldbody><body name="b">{1}</body></worldbody>"""
    both = '<attach model="o" body="b" prefix="p"/><attach model="o" body="b" prefix="q"/>'
    files = {f"m{i}_xml": twice.format(f"m{i + 1}", both) for i in range(30)}
    file = write(tmp_path, main_xml=twice.format("m0", both), m30_xml=WORLD, **files)
    with pytest.raises(FileFormatError, match="elements, the limit"):
        load_model(file)


REPEATED_LITTLE = {
    "a hundred bodies": (replicated(100, inside=BODY), 100),
    "rows of rows": (replicated(10, 10, 10), 0),
    "with what refers to them": (
        replicated(20, inside='<body><joint name="j"/><geom size="1"/></body>') + MOTORS,
        20,
    ),
    "a body attached thrice more": (
        doubled(1).replace('<body name="b0"/>', BODY.replace("one", "b0")),
        3,
    ),
}


@pytest.mark.parametrize("what", REPEATED_LITTLE)
def test_what_repeats_others_as_robots_do_is_loaded(what):
    inside, count = REPEATED_LITTLE[what]
    assert load_model(mjcf(inside)).nv == count


@pytest.mark.slow
def test_a_document_of_too_many_elements_is_refused(tmp_path):
    many = f"<worldbody>\n{'<body/>' * MOST_WRITTEN}</worldbody>"
    with pytest.raises(FileFormatError, match=rf"<string>:2: .* more than {MOST_WRITTEN} elements"):
        given(mjcf(many))
    half = "<body/>" * (MOST_WRITTEN // 2)
    files = {f"p{i}_xml": f"<worldbody>{half}</worldbody>" for i in range(2)}
    file = write(tmp_path, main_xml='<include file="p0.xml"/><include file="p1.xml"/>', **files)
    with pytest.raises(FileFormatError, match=rf"p1\.xml:1: .* more than {MOST_WRITTEN} elements"):
        load_model(file)


COUNTS = {
    "texture": '<asset><texture name="t" type="2d" builtin="flat" width="{}" height="1"/></asset>',
    "hfield": '<asset><hfield name="h" nrow="2" ncol="{}" size="1 1 1 1"/></asset>',
    "mesh": '<asset><mesh name="m" builtin="cone" params="{} 1"/></asset>',
    "camera": '<worldbody><camera resolution="{} 2"/></worldbody>',
    "user": '<sensor><user name="u" dim="{}"/></sensor>',
    "motor": '<actuator><motor joint="hinge" nsample="{}"/></actuator>',
}


@pytest.mark.parametrize("tag", COUNTS)
def test_what_mujoco_would_make_too_large_is_refused(tag):
    for count in ("20000", "2000000000"):
        with pytest.raises(
            FileFormatError, match=rf"<string>:1: <{tag}.* is outside the accepted range of ±\d+"
        ):
            given(mjcf(COUNTS[tag].format(count)))
    assert given(mjcf(COUNTS[tag].format("100")))


@pytest.mark.slow
def test_a_mesh_whose_hull_is_a_circle_of_many_points_is_loaded(tmp_path):
    # to find the hull takes time that grows with the square of their number
    turns = [2.0 * math.pi * i / 40_000 for i in range(40_000)]
    circle = [f"v {math.cos(turn):.9f} {math.sin(turn):.9f} 0" for turn in turns]
    sides = [f"f {i + 1} {(i + 1) % 40_000 + 1} 40001" for i in range(40_000)]
    base = [f"f 1 {i + 1} {i}" for i in range(2, 40_000)]
    cone = "\n".join([*circle, "v 0 0 1", *sides, *base, ""]).encode()
    for hull in ("", ' maxhullvert="-1"'):
        mesh = MESH.format("m.obj").replace(" file", f"{hull} file")
        assert seconds(str(write(tmp_path, main_xml=mesh + SHAPE, m_obj=cone))) == "loaded 1"


def test_a_picture_of_too_many_pixels_is_refused(tmp_path):
    texture = '<asset><texture type="2d" file="t.png"/></asset>' + WORLD
    small = picture()
    large = small[:16] + struct.pack(">II", 60_000, 60_000) + small[24:]
    file = write(tmp_path, main_xml=texture, **{"t.png": large})
    expected = rf"main\.xml:1: .*file='t\.png': 60000 x 60000 pixels; at most {MOST_PIXELS}"
    with pytest.raises(FileFormatError, match=expected):
        load_model(file)
    write(tmp_path, **{"t.png": small})
    assert load_model(file).nv == 1


def test_contacts_and_sensors_are_not_computed():
    m = mujoco.MjModel.from_xml_string(
        given(mjcf('<option><flag contact="enable"/></option>')).text
    )
    for flag in ("CONTACT", "SENSOR"):
        assert m.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    assert not m.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)


LINKAGE = f"""<worldbody><site name="w"/><body name="a"><joint name="i"/>{GEOM}<site name="s"/>
    <body name="b" pos="1 0 0"><joint name="j"/>{GEOM}<site name="t"/></body></body>
    <body name="c" pos="2 0 0"><joint name="k" type="ball"/>{GEOM}</body></worldbody>"""
MALFORMED = {
    '<connect body1="a" body2="nobody" anchor="0 0 0"/>': "nobody",
    '<connect body1="a" body2="a" anchor="0 0 0"/>': "'a' is repeated",
    '<connect body1="a" body2="b"/>': "anchor",
    '<connect body1="a" body2="b" anchor="0 0"/>': "anchor",
    '<connect body1="a" body2="b" anchor="nan 0 0"/>': "anchor",
    '<connect body1="a" body2="b" anchor="1e300 0 0"/>': "anchor",
    '<connect site1="s" body2="b" anchor="0 0 0"/>': "site1",
    '<connect site1="s"/>': "site2",
    '<connect site1="s" site2="nowhere"/>': "nowhere",
    '<weld body1="a" body2="b" relpose="0 0 0 inf 0 0 0"/>': "relpose",
    '<weld body1="a" body2="b" torquescale="x"/>': "torquescale",
    '<joint joint1="i" joint2="i"/>': "'i' is repeated",
    '<joint joint1="i" joint2="k"/>': "HINGE and SLIDE",
    '<joint joint1="i" joint2="nothing"/>': "nothing",
    '<joint joint1="i" joint2="j" polycoef="0 nan"/>': "polycoef",
    '<joint joint1="i" joint2="j" polycoef="0 1 2 3 4 5 6"/>': "polycoef",
    '<joint joint1="i" name="x"/><joint joint1="j" name="x"/>': "repeated name 'x'",
    '<loop body1="a"/>': "loop",
}


@pytest.mark.parametrize("element", MALFORMED)
def test_a_malformed_equality_is_a_sentence_that_names_what_is_wrong(element):
    with pytest.raises(FileFormatError, match="<string>") as refused:
        load_model(mjcf(f"{LINKAGE}<equality>{element}</equality>"))
    assert MALFORMED[element] in str(refused.value)


@pytest.mark.parametrize(
    "element",
    [
        '<connect body1="a" body2="c" anchor="1e15 1e15 -1e15"/>',
        '<weld body1="a" body2="c" anchor="-1e15 1e15 0" relpose="1e15 0 0 1e-15 1 0 0"/>',
        '<joint joint1="i" joint2="j" polycoef="1e15 1e15 1e15 1e15 -1e15"/>',
        '<joint joint1="i" joint2="j" polycoef="0 1e-300 1e-300 0 0"/>',
        '<joint joint1="i" joint2="j" polycoef="1 0 0 0 0"/>',
    ],
)
@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_numbers_far_beyond_any_robot_do_not_break_what_is_said_of_loops(element):
    document = mjcf(f"{LINKAGE}<equality>{element}</equality>")
    load_model(document)
    assert all(problem.severity in ("note", "warning") for problem in check_file(document))


def test_thousands_of_equalities_in_a_row_are_read_at_once():
    count = 1500
    bodies = "".join(f'<body><joint name="j{k}"/>{GEOM}</body>' for k in range(count))
    pairs = (f'<joint joint1="j{k}" joint2="j{k + 1}"/>' for k in reversed(range(count - 1)))
    chain = mjcf(f"<worldbody>{bodies}</worldbody><equality>{''.join(pairs)}</equality>")
    assert load_model(chain).nv == 1
