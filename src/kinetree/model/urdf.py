"""Reading URDF: links, joints, inertias; what does not bear on dynamics is passed over."""

from __future__ import annotations

import math

from kinetree.model.description import Connection, Link, Mimicry
from kinetree.model.joints import Floating, Joint, Prismatic, Revolute, planar
from kinetree.model.model import Drive, Limits
from kinetree.model.xml import Element
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3


def read_urdf(robot: Element, mimic: bool = True) -> tuple[str, list[Link], list[Connection]]:
    """The name, links and joints of a URDF document's <robot>, as they are written.

    Arguments:
        mimic: whether <mimic> is taken up, or passed over.
    """
    return (
        robot.attributes.get("name", "robot"),
        [_link(element) for element in robot.all("link")],
        [_connection(element, mimic) for element in robot.all("joint")],
    )


def _link(element: Element) -> Link:
    inertial = element.first("inertial")
    inertia = Inertia.zero() if inertial is None else _inertia(inertial)
    return Link(element.text("name"), inertia, element.where)


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


def _connection(element: Element, mimic: bool) -> Connection:
    return Connection(
        element.text("name"),
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
        mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    )


def _named_link(element: Element, role: str) -> str:
    end = element.first(role)
    if end is None:
        raise element.error(f"<{role} link=...> is missing: a joint names both its links")
    return end.text("link")


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
    if kind == "planar":
        return planar(*_across(_axis(element)))
    raise element.error(
        f"the joint type {kind!r} is not known; known are revolute, continuous, prismatic, "
        "fixed, floating, planar"
    )


def _across(normal: Vector3) -> tuple[Vector3, Vector3]:
    """The x and y axes of a plane, turned from the z axis to its normal by the shortest way."""
    if normal.z < 0.0 and normal.x == normal.y == 0.0:  # upside down: about the x axis
        return Vector3(1.0, 0.0, 0.0), Vector3(0.0, -1.0, 0.0)
    k = 1.0 / (1.0 + normal.z)
    x, y = normal.x, normal.y
    return Vector3(1.0 - k * x * x, -k * x * y, -x), Vector3(-k * x * y, 1.0 - k * y * y, -y)


def _axis(element: Element) -> Vector3:
    axis = element.first("axis")
    x, y, z = (1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3, (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z)
    if length == 0.0:
        raise element.error("the axis is zero: a direction is expected, such as '0 0 1'")
    return Vector3(x / length, y / length, z / length)


def _limits(element: Element) -> Limits:
    limit = element.first("limit")
    if limit is None:
        return Limits()
    free = element.attributes.get("type") == "continuous"
    return Limits(
        lower=-math.inf if free else limit.number("lower", 0.0),
        upper=math.inf if free else limit.number("upper", 0.0),
        velocity=limit.number("velocity", math.inf),
        effort=limit.number("effort", math.inf),
    )
