"""A bad MJCF document spoils nothing: what is loaded after it is loaded as before."""

import json
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import mujoco
import pytest

from kinetree.errors import FileFormatError
from kinetree.robot.load import load_model

SECONDS = 120.0  # for what took for ever, and takes a few
GOOD = '<mujoco><worldbody><body><joint/><geom size="0.1"/></body></worldbody></mujoco>'
NO_FILE = '<mujoco><asset>\n<model name="child"/></asset></mujoco>'
DOCUMENTS = 400
RICH = """<mujoco><default><joint damping="1"/><default class="c"><geom size=".2"/></default>
</default>
<asset><mesh name="a" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/><hfield name="h" nrow="2" ncol="2"
 size="1 1 1 1"/><texture name="t" type="2d" builtin="checker" width="8" height="8"/>
<material name="m" texture="t"/></asset><worldbody><geom type="hfield" hfield="h"/>
<body name="b"><freejoint/><geom type="mesh" mesh="a" material="m"/><site name="s"/></body>
<replicate count="3" offset="1 0 0"><body name="r"><joint/><geom size=".1"/></body></replicate>
<frame pos="1 0 0"><body name="q"><joint name="j"/><geom size="1 1 1" type="box"/>
<site name="o" pos="0 0 1"/></body></frame><flexcomp name="f" type="grid" count="3 3 1" dim="2"
 spacing=".1 .1 .1" mass="1"/></worldbody><tendon><spatial name="t"><site site="s"/><site site="o"/>
</spatial><fixed name="u"><joint joint="j" coef="1"/></fixed></tendon><actuator><motor joint="j"/>
<muscle tendon="t"/></actuator><equality><weld body1="b" body2="q"/><joint joint1="j"/></equality>
<sensor><jointpos joint="j"/></sensor></mujoco>"""
WORDS = ["", "0", "1", "-1", "2", "1e-9", "1e14", "true", "a", "b", "main", "world", "mesh", "free"]
WORDS += ["ball", "0 0 0", "1 0 0 0", "0 0 0 0", "sphere", "cable", "3 3 3", "1 -1", "0 " * 20]

LOADING = """
import json, sys, warnings
import mujoco
from kinetree.errors import KinetreeError
from kinetree.robot.load import load_model
from kinetree.model.formats.mjcf import in_own_thread
warnings.simplefilter("ignore")
unchecked = lambda text: in_own_thread(mujoco.MjModel.from_xml_string, text)
for text in json.load(sys.stdin):
    try:
        {load}(text)
    except {error}:
        pass
    print(load_model(sys.argv[1]).nv)
"""


def velocities_after(documents, load="load_model", error="KinetreeError"):
    """How many velocities a good document has, loaded after each of these by another process."""
    run = subprocess.run(
        [sys.executable, "-c", LOADING.format(load=load, error=error), GOOD],
        input=json.dumps(documents),
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    return run.stdout.split()


def schema():
    """The attributes of each element of MJCF that take no file."""
    found, tag = {}, ""
    for line in mujoco.mj_printSchema(False, False).splitlines():
        start = re.match(r" *(\S+) \(.\)(.*)", line)
        tag, rest = (start[1], start[2]) if start else (tag, line)
        found.setdefault(tag, []).extend(x for x in rest.split() if "file" not in x)
    return {tag: attributes or ["name"] for tag, attributes in found.items() if tag.isalnum()}


def mutated(rng, known):
    """A document with a few changes: elements and attributes that go, come, move and change."""
    root = ET.fromstring(RICH)
    for _ in range(rng.randint(1, 4)):
        elements = list(root.iter())
        chosen, parent = rng.choice(elements), rng.choice(elements)
        what = rng.choice(("remove", "forget", "set", "set", "set", "add", "rename"))
        if what == "remove":
            for element in elements:
                if chosen in list(element):
                    element.remove(chosen)
        elif what == "forget" and chosen.attrib:
            del chosen.attrib[rng.choice(sorted(chosen.attrib))]
        elif what == "set":
            chosen.set(rng.choice(known.get(chosen.tag, ["name"])), rng.choice(WORDS))
        elif what == "add":
            tag = rng.choice(sorted(known))
            ET.SubElement(parent, tag, {rng.choice(known[tag]): rng.choice(WORDS)})
        elif what == "rename":
            chosen.tag = rng.choice(sorted(known))
    return ET.tostring(root, encoding="unicode")


def test_a_model_to_attach_without_a_file_is_refused_before_mujoco_sees_it():
    with pytest.raises(FileFormatError, match=r"^<string>:2: <model.*'file' is missing"):
        load_model(NO_FILE)


def test_an_error_handler_that_mujoco_leaves_behind_ends_with_its_thread():
    documents = [NO_FILE, "<mujoco><asset><model/></asset></mujoco>"]
    assert velocities_after(documents, "unchecked", "RuntimeError") == ["1", "1"]


@pytest.mark.slow
def test_no_mutation_of_a_document_spoils_the_next_one():
    rng, known = random.Random(0), schema()
    documents = [mutated(rng, known) for _ in range(DOCUMENTS)]
    assert velocities_after([*documents, NO_FILE]) == ["1"] * (DOCUMENTS + 1)
