"""Lines of the parts of a compiled MuJoCo model in its file, for remarks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kinetree.model.formats.xml import Element

PART = re.compile(r"(\w+) '(.*)'")
LAST_NUMBER = re.compile(r"(\d{1,9})$")
SECTIONS = ("actuator", "equality", "sensor", "tendon")
"""Kinds of parts that are always in a section of that name."""
OTHER_TAGS = {"joint": ("joint", "freejoint"), "flex": ("flex", "flexcomp")}


def place(lines: Sequence[Element], part: str) -> str:
    """The file and the line of a part; empty if it is not found.

    Arguments:
        lines: all elements, with those of included files inserted.
        part: its kind and its name as remarks have them, such as "sensor 'skin'".
    """
    said = PART.fullmatch(part)
    if said is None:
        return ""
    kind, name = said.groups()
    of_kind = list(_of_kind(lines, kind))
    for element in of_kind:
        if element.attributes.get("name") == name:
            return element.where
    number = LAST_NUMBER.search(name)  # of a part without a name
    if kind in SECTIONS and number is not None and int(number[1]) < len(of_kind):
        found = of_kind[int(number[1])]
        return "" if "name" in found.attributes else found.where
    return ""


def _of_kind(lines: Sequence[Element], kind: str) -> Iterator[Element]:
    elements = {id(x): x for x in lines}.values()  # an element over several lines is listed twice
    if kind in SECTIONS:
        for section in elements:
            if section.tag == kind and "name" not in section.attributes:
                yield from section.children
        return
    tags = OTHER_TAGS.get(kind, (kind,))
    yield from (element for element in elements if element.tag in tags)
