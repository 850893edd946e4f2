"""Reading URDF: links, joints, inertias, shapes, motors; other elements are kept and named."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kinetree.errors import FileFormatError
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.equipment import Equipment
from kinetree.model.formats.collision_shapes import colliders_of
from kinetree.model.formats.urdf_transmissions import motors, transmissions
from kinetree.model.formats.urdf_unread import unread
from kinetree.model.formats.xml import Element, brief
from kinetree.model.joints import Ball, Floating, Joint, Prismatic, Revolute, planar
from kinetree.model.model import Drive, Limits, Shape
from kinetree.model.plane import plane_axes
from kinetree.model.problem import Problem
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

UNLIMITED = 1e300  # means no limit, where the format requires a number
AXIS_ROUNDING = 1e-3  # the tolerance of axis lengths: files round the entries of slanted axes


READ: dict[str, set[str]] = {
    "robot": {"link", "joint", "material", "transmission", "ros2_control"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
    "inertial": {"origin", "mass", "inertia"},
    "visual": {"origin", "geometry", "material"},
    "collision": {"origin", "geometry"},
}
"""The children of each element that are read. Others are not looked into."""
PASSED_OVER: dict[str, tuple[str, str]] = {
    "gazebo": ("note", "it is for Gazebo alone"),
    "sensor": ("note", "what it measures is left out"),
    "safety_controller": ("note", "no controller keeps to it"),
    "calibration": ("note", "it has no effect on motion"),
    "verbose": ("note", "it has no effect on motion"),
    "contact": ("note", "contact= of kinetree.load says what can touch, and how"),
    "contact_coefficients": ("note", "contact= of kinetree.load says what can touch, and how"),
    "self_collision_checking": ("note", "self_collision= of kinetree.load says it"),
    "group": ("note", "it has no effect on motion"),
    "audio_bumper": ("note", "it has no effect on motion"),
    "mujoco": ("note", "it is for MuJoCo alone"),
    "material": ("note", "it has no effect on motion"),
    "texture": ("note", "it has no effect on motion"),
}
"""The loss with an element that is not read."""


def read_urdf(robot: Element, mimic: bool = True) -> Description:
    """The links and joints of a URDF document's <robot>, as they are written.

    Arguments:
        mimic: whether <mimic> is read, or ignored.
    """
    if robot.tag != "robot":
        raise FileFormatError(
            f"{robot.where}: the document is a <{brief(robot.tag)}>; a URDF <robot>, an "
            "MJCF <mujoco> or an <sdf> is expected"
        )
    remarks: list[Problem] = list(_unread(robot))
    links, joints = list(robot.all("link")), list(robot.all("joint"))
    connections = [_connection(element, mimic, remarks) for element in joints]
    driven = {c.name for c in connections if c.joint is not None and c.joint.nq == 1}
    materials = _materials(robot)
    shapes = [shape for element in links for shape in _shapes(element, materials, remarks)]
    said: list[str] = []
    colliders = colliders_of(shapes, said)
    remarks += [Problem("warning", "the model", message, robot.where) for message in said]
    return Description(
        robot.name(default="robot"),
        [_link(element) for element in links],
        connections,
        shapes=shapes,
        remarks=remarks,
        equipment=Equipment(actuators=tuple(motors(robot, driven))),
        colliders=colliders,
        unread=tuple(unread(robot, transmissions(robot, driven))),
    )


def _unread(robot: Element) -> Iterator[Problem]:
    """A remark for each kind of ignored element, at the first of them."""
    seen: set[tuple[str, str]] = set()
    pending = [robot]
    while pending:
        element = pending.pop()
        known = READ[element.tag]
        for child in element.children:
            if child.tag not in known and (element.tag, child.tag) not in seen:
                seen.add((element.tag, child.tag))
                unknown = ("warning", "the element is unknown, and its content is lost")
                severity, lost = PASSED_OVER.get(child.tag, unknown)
                message = f"<{brief(child.tag)}> is not read: {lost}"
                yield Problem(severity, f"<{element.tag}>", message, child.where)
        pending += [x for x in reversed(element.children) if x.tag in known and x.tag in READ]


def is_xacro(robot: Element) -> bool:
    """Whether a document has xacro macros, which must be expanded.

    Arguments:
        robot: its root element.
    """
    for element in robot.walk():
        written = () if element.tag in ("mesh", "texture") else element.attributes.values()
        if element.tag.startswith("xacro:") or any("${" in x or "$(" in x for x in written):
            return True
    return False


def _link(element: Element) -> Link:
    inertial = element.first("inertial")
    inertia = Inertia.zero() if inertial is None else _inertia(inertial)
    return Link(element.name(), inertia, element.where)


class Material(NamedTuple):
    """The look of a shape: its colour, and the file of its texture; each empty if there is none."""

    color: tuple[float, ...] = ()
    texture: str = ""


def _materials(robot: Element) -> dict[str, Material]:
    """Materials by name, wherever in the file they are defined."""
    named = (element for element in robot.walk() if element.tag == "material")
    found = {element.attributes.get("name", ""): _material(element) for element in named}
    return {name: material for name, material in found.items() if name and any(material)}


def _material(element: Element) -> Material:
    texture = element.first("texture")
    file = "" if texture is None else texture.attributes.get("filename", "")
    return Material(_color(element), file)


def _color(material: Element) -> tuple[float, ...]:
    """The colour of a material; empty if it has none that can be shown."""
    color = material.first("color")
    try:
        rgba = () if color is None else color.numbers("rgba", 4, ())
    except FileFormatError:
        return ()
    return tuple(min(max(x, 0.0), 1.0) for x in rgba)


def _look(visual: Element, materials: Mapping[str, Material]) -> Material:
    """The material of a visual, which may be defined elsewhere."""
    element = visual.first("material")
    if element is None or visual.tag != "visual":
        return Material()
    own = _material(element)
    return own if any(own) else materials.get(element.attributes.get("name", ""), own)


def _shapes(
    link: Element, materials: Mapping[str, Material], remarks: list[Problem]
) -> Iterator[Shape]:
    """The shapes of <visual> and <collision>; unreadable ones are left out with a remark."""
    name = link.name()
    for role in ("visual", "collision"):
        for element in link.all(role):
            geometry = element.first("geometry")
            for shape in () if geometry is None else geometry.children:
                try:
                    kept = _geometry(shape)
                    if kept is not None:
                        kind, size, file = kept
                        look = _look(element, materials)._asdict()
                        yield Shape(name, role, kind, size, _origin(element), file, **look)
                except FileFormatError as e:
                    message = f"its {role} is ignored: {e}"
                    remarks.append(Problem("warning", f"link {name!r}", message, shape.where))


def _geometry(shape: Element) -> tuple[str, tuple[float, ...], str] | None:
    """The kind, size and file of a shape."""
    if shape.tag == "mesh":
        return "mesh", shape.numbers("scale", 3, (1.0, 1.0, 1.0)), shape.text("filename")
    if shape.tag == "box":
        return "box", shape.numbers("size", 3, (0.0, 0.0, 0.0)), ""
    if shape.tag == "sphere":
        return "sphere", (shape.number("radius"),), ""
    if shape.tag in ("cylinder", "capsule"):
        return shape.tag, (shape.number("radius"), shape.number("length")), ""
    return None


def _inertia(inertial: Element) -> Inertia:
    """An <inertial>: mass and inertia about its origin, turned into the link's frame."""
    mass = inertial.first("mass")
    tensor = inertial.first("inertia")
    m = 0.0 if mass is None else mass.number("value")
    if tensor is None:
        rotational = Symmetric3.diagonal(0.0)
    else:
        diagonal = (tensor.number(key) for key in ("ixx", "iyy", "izz"))
        products = (tensor.number(key, 0.0) for key in ("ixy", "ixz", "iyz"))
        rotational = Symmetric3(*diagonal, *products)
    pose = _origin(inertial)
    return Inertia.about_center(m, pose.translation, pose.rotation.turn_symmetric(rotational))


def _origin(element: Element) -> Transform:
    origin = element.first("origin")
    if origin is None:
        return Transform.identity()
    zeros = (0.0, 0.0, 0.0)
    return Transform(
        Rotation.rpy(*origin.numbers("rpy", 3, zeros)),
        Vector3(*origin.numbers("xyz", 3, zeros)),
    )


def _connection(element: Element, mimic: bool, remarks: list[Problem]) -> Connection:
    remarks += _axis_remarks(element)
    return Connection(
        element.name(),
        _named_link(element, "parent"),
        _named_link(element, "child"),
        _origin(element),
        _joint(element),
        _limits(element),
        element.where,
        _drive(element),
        _mimicry(element) if mimic else None,
    )


def _drive(element: Element) -> Drive:
    dynamics = element.first("dynamics")
    if dynamics is None:
        return Drive()
    return Drive(damping=dynamics.number("damping", 0.0), friction=dynamics.number("friction", 0.0))


def _mimicry(element: Element) -> Mimicry | None:
    mimic = element.first("mimic")
    if mimic is None:
        return None
    return Mimicry(
        mimic.name("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    )


def _named_link(element: Element, role: str) -> str:
    end = element.first(role)
    if end is None:
        raise element.error(f"<{role} link=...> is missing: a joint must name both its links")
    return end.name("link")


def _joint(element: Element) -> Joint | None:
    kind = element.text("type")
    if kind == "fixed":
        return None
    if kind == "floating":
        return Floating()
    if kind in ("revolute", "continuous"):
        return Revolute(_axis(element))
    if kind == "prismatic":
        return Prismatic(_axis(element))
    if kind == "spherical":  # not in the specification; PyBullet and others write it
        return Ball()
    if kind == "planar":
        return planar(*plane_axes(_axis(element)))
    raise element.error(
        f"the joint type {brief(kind)!r} is unknown; known types are revolute, continuous, "
        "prismatic, fixed, floating, planar, spherical"
    )


def _axis_as_written(element: Element) -> tuple[float, ...]:
    axis = element.first("axis")
    return (1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3, (1.0, 0.0, 0.0))


def _axis_remarks(element: Element) -> Iterator[Problem]:
    if element.attributes.get("type") in ("revolute", "continuous", "prismatic", "planar"):
        length = math.hypot(*_axis_as_written(element))
        if abs(length - 1.0) > AXIS_ROUNDING:
            message = f"its axis has length {length:g} instead of 1; only its direction is used"
            yield Problem("warning", f"joint {element.name()!r}", message, element.where)


def _axis(element: Element) -> Vector3:
    written = _axis_as_written(element)
    if not any(written):
        raise element.error("the axis is zero: a direction is expected, such as '0 0 1'")
    # scaled by a power of two, which is exact: squares of very large or small numbers would
    _, power = math.frexp(max(map(abs, written)))
    x, y, z = (math.ldexp(entry, -power) for entry in written)
    length = math.hypot(x, y, z)
    return Vector3(x / length, y / length, z / length)


def _limits(element: Element) -> Limits:
    limit = element.first("limit")
    if limit is None:
        return Limits()
    free = element.attributes.get("type") == "continuous"
    return Limits(
        lower=-math.inf if free else _bound(limit.number("lower", 0.0)),
        upper=math.inf if free else _bound(limit.number("upper", 0.0)),
        velocity=_bound(limit.number("velocity", math.inf)),
        effort=_bound(limit.number("effort", math.inf)),
    )


def _bound(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value
