"""Elements of a URDF document besides links, joints, materials and motors, kept as text."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kinetree.errors import ModelError
from kinetree.model.formats.write_xml import quoted
from kinetree.model.formats.xml import LONGEST_NAME, Element
from kinetree.model.unread import Unread

READ = {
    "robot": ("link", "joint", "material", "transmission"),
    "link": ("inertial", "visual", "collision"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
}
"""The children that are read of an element."""
LONGEST = 100
"""The characters of a tag that are kept, for messages."""


def unread(robot: Element, motors: Collection[Element]) -> Iterator[Unread]:
    """The elements of a document that are kept as they are.

    Arguments:
        robot: its root element.
        motors: its transmissions that are read.
    """
    read = {id(element) for element in motors}
    for child in robot.children:
        if child.tag == "transmission" and id(child) not in read:
            driven = (x.attributes.get("name", "") for x in child.all("joint"))
            yield Unread(child.tag, names=tuple(driven), text=_text(child))
        elif child.tag in ("link", "joint"):
            owner = child.attributes.get("name", "")
            for x in child.children:
                if x.tag not in READ[child.tag]:
                    yield Unread(x.tag[:LONGEST], child.tag, owner, text=_text(x))
        elif child.tag not in READ["robot"]:
            names = tuple(_references(child))
            yield Unread(child.tag[:LONGEST], names=names, text=_text(child))


def _references(element: Element) -> Iterator[str]:
    """The links and joints that an element of a robot is about."""
    if element.attributes.get("reference"):
        yield element.attributes["reference"]
    if element.tag == "ros2_control":
        yield from (x.attributes.get("name", "") for x in element.all("joint"))


def _text(element: Element) -> str:
    """An element as XML; empty if it cannot be written back."""
    try:
        return "\n".join(_lines(element)) if all(map(_is_whole, element.walk())) else ""
    except ModelError:  # characters that XML cannot represent
        return ""


def _is_whole(element: Element) -> bool:
    """Whether an element was read to its end, and means the same without the rest of its file."""
    named = (element.tag, *element.attributes)
    return len(element.content) < LONGEST_NAME and not any(":" in name for name in named)


def _lines(element: Element, depth: int = 0) -> Iterator[str]:
    """An element as XML, one element a line."""
    space, content = "  " * depth, element.content.strip()
    attributes = "".join(f' {key}="{quoted(value)}"' for key, value in element.attributes.items())
    start = f"{space}<{element.tag}{attributes}"
    if not element.children:
        yield f"{start}>{quoted(content)}</{element.tag}>" if content else f"{start}/>"
        return
    yield f"{start}>{quoted(content)}"
    for child in element.children:
        yield from _lines(child, depth + 1)
    yield f"{space}</{element.tag}>"
