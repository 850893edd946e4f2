"""Values in SDF documents: numbers, flags and poses between tags, versions."""

from __future__ import annotations

import math

from kinetree.model.formats.xml import Element, brief
from kinetree.spatial import Rotation, Transform, Vector3

NEWEST = (1, 12)
Version = tuple[int, int]


def version_of(root: Element) -> Version:
    """The version of a document, such as (1, 7); the newest if it has none."""
    written = root.attributes.get("version", "")
    words = written.strip().split(".")
    if not written:
        return NEWEST
    if len(words) < 2 or not all(word.isascii() and word.isdecimal() for word in words[:2]):
        raise root.error(f"version={brief(written)!r} is not a version, such as '1.9'")
    found = int(words[0][:9]), int(words[1][:9])
    if found[0] != 1:
        raise root.error(f"version={brief(written)!r}: versions 1.0 to 1.12 are read")
    return found


def number(element: Element, tag: str, default: float) -> float:
    """The number in a child of an element; a default if there is no such child."""
    child = element.first(tag)
    return default if child is None else child.value()


def maybe_infinite(element: Element, tag: str, default: float) -> float:
    """As `number`, where "inf" stands for no limit."""
    child = element.first(tag)
    if child is None:
        return default
    word = child.content.strip().lower()
    if word.lstrip("+-") in ("inf", "infinity"):
        return -math.inf if word.startswith("-") else math.inf
    return child.value()


def numbers(
    element: Element, tag: str, count: int, default: tuple[float, ...]
) -> tuple[float, ...]:
    """The numbers in a child of an element; a default if there is no such child."""
    child = element.first(tag)
    return default if child is None else child.values(count)


def text(element: Element, tag: str, default: str | None = None) -> str:
    """The text in a child of an element."""
    child = element.first(tag)
    if child is None:
        if default is None:
            raise element.error(f"<{tag}> is missing")
        return default
    return " ".join(child.words())


def flag(element: Element, tag: str) -> bool:
    """Whether a child of an element says true; false if there is none."""
    child = element.first(tag)
    return child is not None and is_true(child, child.content)


def is_true(element: Element, word: str) -> bool:
    """Whether a word is SDF's for true; an error if it is not one for false."""
    lower = word.strip().lower()
    if lower not in ("1", "true", "0", "false", ""):
        raise element.error(f"{brief(word)!r}: true or false is expected")
    return lower in ("1", "true")


def pose_of(element: Element) -> Transform:
    """The numbers of the <pose> of an element, whatever it is relative to; else the identity."""
    pose = element.first("pose")
    if pose is None or not pose.content.strip():
        return Transform.identity()
    keys = pose.attributes
    if keys.get("rotation_format", "euler_rpy") == "quat_xyzw":
        x, y, z, *quaternion = pose.values(7)
        length = math.hypot(*quaternion)
        if not length or not math.isfinite(length):
            raise pose.error("the quaternion has no length")
        turn = Rotation.quat_xyzw(*(q / length for q in quaternion))
        return Transform(turn, Vector3(x, y, z))
    x, y, z, *angles = pose.values(6)
    if is_true(pose, keys.get("degrees", "")):
        angles = [math.radians(angle) for angle in angles]
    return Transform(Rotation.rpy(*angles), Vector3(x, y, z))


def relative_to(element: Element) -> str:
    """The frame that the <pose> of an element is relative to; empty if it names none."""
    pose = element.first("pose")
    if pose is None:
        return ""
    # before SDF 1.7 the attribute was called frame
    return pose.attributes.get("relative_to", pose.attributes.get("frame", ""))


def direction(element: Element) -> Vector3:
    """The direction of three numbers, of length one."""
    written = element.values(3)
    if not any(written):
        raise element.error("the axis is zero: a direction is expected, such as '0 0 1'")
    # scaled by a power of two, which is exact: squares of very large or small numbers would
    _, power = math.frexp(max(map(abs, written)))
    x, y, z = (math.ldexp(entry, -power) for entry in written)
    length = math.hypot(x, y, z)
    return Vector3(x / length, y / length, z / length)
