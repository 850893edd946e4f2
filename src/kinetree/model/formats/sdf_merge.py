"""Included models whose contents become those of the model around them: <include merge="true">.

A proxy frame, `_merged__NAME__model__`, replaces the model's frame: elements relative to the model
become relative to it. Source: the SDFormat specification 1.9, "Merge-include".
"""

from __future__ import annotations

from dataclasses import replace

from kinetree.model.formats.sdf_frames import MODEL
from kinetree.model.formats.xml import Element

NAMED = ("relative_to", "attached_to", "expressed_in", "frame")
"""Attributes that name frames."""
PLACED = ("link", "model", "frame")
"""Elements that are relative to the model by default."""
DROPPED = ("pose", "static", "self_collide", "enable_wind", "allow_auto_disable")
"""Settings of a model that the outer model overrides."""


def merged(model: Element, include: Element) -> list[Element]:
    """The contents of a model as parts of another one.

    Arguments:
        model: with the overrides of its <include>.
        include: for messages.
    """
    proxy = f"_merged__{model.name()}__model__"
    links = [x for x in model.children if x.tag in ("link", "model")]
    canonical = model.attributes.get("canonical_link") or (links[0].name() if links else "")
    if not canonical:
        raise include.error("a model without a link cannot be merged")
    attributes = {"name": proxy, "attached_to": canonical}
    if placed := model.attributes.get("placement_frame"):
        attributes["placement_frame"] = placed
    pose = model.first("pose") or _new("pose", include)
    pose = replace(pose, attributes={"relative_to": MODEL, **pose.attributes})
    frame = _new("frame", include, attributes, [pose])
    inner = (x for x in model.children if x.tag not in DROPPED)
    return [frame, *(_moved(x, proxy) for x in inner)]


def _moved(element: Element, proxy: str) -> Element:
    """A part of a merged model, relative to its proxy frame."""
    element = _renamed(element, proxy)
    attached = element.tag == "frame" and "attached_to" in element.attributes
    if element.tag == "frame" and not attached:
        element = replace(element, attributes={**element.attributes, "attached_to": proxy})
    if element.tag not in PLACED or attached:
        return element
    pose = element.first("pose") or _new("pose", element)
    if "relative_to" not in pose.attributes and "frame" not in pose.attributes:
        pose = replace(pose, attributes={**pose.attributes, "relative_to": proxy})
    others = [x for x in element.children if x.tag != "pose"]
    return replace(element, children=[pose, *others])


def _renamed(element: Element, proxy: str) -> Element:
    """An element in which references to the model name its proxy frame."""
    attributes = {
        key: proxy if key in NAMED and value == MODEL else value
        for key, value in element.attributes.items()
    }
    content = element.content
    if element.tag in ("parent", "child") and content.strip() == MODEL:
        content = proxy
    inside = element.tag != "model"  # names in a model are its own
    children = [_renamed(x, proxy) if inside or x.tag == "pose" else x for x in element.children]
    return replace(element, attributes=attributes, content=content, children=children)


def _new(
    tag: str,
    where: Element,
    attributes: dict[str, str] | None = None,
    children: list[Element] | None = None,
) -> Element:
    return Element(tag, attributes or {}, where.line, where.file, children or [])
