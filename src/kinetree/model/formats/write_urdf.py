"""Writing URDF: links, joints, inertias, shapes, motors, and unread elements that were kept.

Every number is written so that reading it gives the same bits. Rotations become roll, pitch and
yaw, and inertias move to the centre of mass, which rounds them. A joint that is several in series
(universal, cylindrical, Euler angles) is written as several joints, with links without inertia
between them; so is a joint whose axis is not at its body's origin. A joint that URDF does not have
is an error; anything else that it does not have is a warning.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

from kinetree.errors import ModelError, ModelWarning
from kinetree.model.description import ROOT_JOINT, Connection, Description, Link
from kinetree.model.disassemble import disassemble, fresh
from kinetree.model.formats.collision_shapes import shape_of
from kinetree.model.formats.urdf import UNLIMITED
from kinetree.model.formats.write_urdf_transmissions import lost_parts, write_motors
from kinetree.model.formats.write_xml import Writer, listed, number, numbers
from kinetree.model.joints import Floating, Joint
from kinetree.model.model import Model, Shape
from kinetree.model.orientation import roll_pitch_yaw
from kinetree.model.unread import Unread, counted
from kinetree.spatial import Inertia, Rotation, Transform, Vector3


def write_urdf(model: Model) -> str:
    """The text of a URDF file.

    A free base is not written: load the file with base="floating". A root link that is mounted in
    the world gets a parent link for the world.
    """
    description = _in_single_joints(_on_the_world(disassemble(model)))
    _warn_of_losses(model, description)
    out = Writer()
    shapes: dict[str, list[Shape]] = {}
    for shape in _shapes(description):
        shapes.setdefault(shape.link, []).append(shape)
    kept = _kept(model, description)
    rank = {frame.name: i for i, frame in enumerate(model.frames)}  # from the root outwards
    with out.element("robot", name=description.name):
        last = len(rank)
        for link in sorted(description.links, key=lambda x: rank.get(x.name, last)):
            _link(out, link, shapes.get(link.name, []), kept.get(("link", link.name), []))
        for connection in sorted(description.connections, key=lambda c: rank.get(c.child, last)):
            _joint(out, connection, kept.get(("joint", connection.name), []))
        write_motors(out, model.equipment)
        _copy(out, kept.get(("robot", ""), []))
    return out.text()


def _shapes(description: Description) -> list[Shape]:
    """The shapes of the links, with those of colliders that are not among them."""
    found = list(description.shapes)
    for c in description.colliders:
        shape = shape_of(c)
        if shape is not None and c.frame is not None and shape not in found:
            found.append(shape)
    return found


def _kept(model: Model, description: Description) -> dict[tuple[str, str], list[Unread]]:
    """The elements that are written back as they were read, by their link or joint."""
    names = {x.name for x in description.links} | {c.name for c in description.connections}
    found: dict[tuple[str, str], list[Unread]] = {}
    for x in model.unread:
        if x.belongs(names):
            found.setdefault((x.inside, x.owner), []).append(x)
    return found


def _copy(out: Writer, elements: list[Unread]) -> None:
    for x in elements:
        out.copied(x.text)


def _link(out: Writer, link: Link, shapes: list[Shape], kept: list[Unread]) -> None:
    with out.element("link", name=link.name):
        if link.inertia != Inertia.zero():
            _inertial(out, link)
        for shape in shapes:
            if shape.kind == "ellipsoid":
                continue  # URDF has none; the warning of losses says so
            with out.element(shape.role):
                _origin(out, shape.placement)
                with out.element("geometry"):
                    _geometry(out, shape)
                if shape.role == "visual" and (shape.color or shape.texture):
                    _material(out, shape)
        _copy(out, kept)


def _material(out: Writer, shape: Shape) -> None:
    """A material, named after its content, because other readers share materials by name."""
    color = "color_" + "".join(f"{round(255 * x):02x}" for x in shape.color)
    name = f"texture_{shape.texture}" if shape.texture else color
    with out.element("material", name=name):
        if shape.color:
            out.leaf("color", rgba=numbers(shape.color))
        if shape.texture:
            out.leaf("texture", filename=shape.texture)


def _inertial(out: Writer, link: Link) -> None:
    center, about = link.inertia.center_and_rotational()
    with out.element("inertial"):
        _origin(out, Transform(Rotation.identity(), center))
        out.leaf("mass", value=number(link.inertia.mass))
        keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        out.leaf("inertia", **{k: number(x) for k, x in zip(keys, about, strict=True)})


def _geometry(out: Writer, shape: Shape) -> None:
    if shape.kind == "mesh":
        scale = {} if shape.size == (1.0, 1.0, 1.0) else {"scale": numbers(shape.size)}
        out.leaf("mesh", filename=shape.file, **scale)
    elif shape.kind == "box":
        out.leaf("box", size=numbers(shape.size))
    elif shape.kind == "sphere":
        out.leaf("sphere", radius=number(shape.size[0]))
    else:
        out.leaf(shape.kind, radius=number(shape.size[0]), length=number(shape.size[1]))


def _joint(out: Writer, c: Connection, kept: list[Unread]) -> None:
    kind, axis = _kind(c)
    with out.element("joint", name=c.name, type=kind):
        out.leaf("parent", link=c.parent)
        out.leaf("child", link=c.child)
        _origin(out, c.placement)
        if axis is not None:
            out.leaf("axis", xyz=numbers(axis))
        limits = {} if c.joint is None else _limits(c, kind)
        if limits:
            out.leaf("limit", **{key: number(value) for key, value in limits.items()})
        drive = {k: number(getattr(c.drive, k)) for k in ("damping", "friction")}
        if c.drive.damping or c.drive.friction:
            out.leaf("dynamics", **drive)
        if c.mimicry is not None:
            copied = c.mimicry
            ratio, offset = number(copied.multiplier), number(copied.offset)
            out.leaf("mimic", joint=copied.joint, multiplier=ratio, offset=offset)
        _copy(out, kept)


def _kind(c: Connection) -> tuple[str, Vector3 | None]:
    """The type and axis of a joint."""
    if c.joint is None:
        return "fixed", None
    element = c.joint.urdf()
    if element is None:
        raise ModelError(
            f"joint {c.name!r} is a {type(c.joint).__name__}, which URDF does not have; it has "
            "revolute, prismatic, planar and floating joints, and chains of them; rechart('zyx') "
            "converts ball joints to such a chain"
        )
    bounded = math.isfinite(c.limits.lower) or math.isfinite(c.limits.upper)
    unbounded_angle = element.type == "revolute" and not bounded
    return "continuous" if unbounded_angle else element.type, element.axis


def _limits(c: Connection, kind: str) -> dict[str, float]:
    """All attributes of <limit>: other readers require every one."""
    bounds = {key: value for key, value in vars(c.limits).items() if key != "ball"}
    if kind not in ("revolute", "prismatic") and not any(map(math.isfinite, bounds.values())):
        return {}
    return {
        key: value if math.isfinite(value) else math.copysign(UNLIMITED, value)
        for key, value in bounds.items()
        if kind != "continuous" or key in ("velocity", "effort")
    }


def _on_the_world(description: Description) -> Description:
    """The same robot; a root link that is mounted in the world is fixed to a link for it."""
    if description.root is None or description.root.joint is not None:
        return description
    world = fresh("world", {link.name for link in description.links})
    name = fresh(description.root.name, {c.name for c in description.connections})
    return replace(
        description,
        root=None,
        links=[Link(world, Inertia.zero()), *description.links],
        connections=[replace(description.root, name=name, parent=world), *description.connections],
    )


def _in_single_joints(description: Description) -> Description:
    """The same robot, joints in series one by one, each at the origin of its link."""
    links, connections = list(description.links), []
    link_names = {x.name for x in links}
    joint_names = {c.name for c in description.connections}
    for c in description.connections:
        parts, after = _series(c.joint)
        if after != Transform.identity():
            parts.append((after, None))
        parent = c.parent
        for k, (before, part) in enumerate(parts):
            child = c.child if k == len(parts) - 1 else fresh(f"{c.child}_{k + 1}", link_names)
            name = c.name if k == 0 else fresh(f"{c.name}_{k + 1}", joint_names)
            if child not in link_names:
                links.append(Link(child, Inertia.zero()))
            link_names.add(child)
            joint_names.add(name)
            at = c.placement @ before if k == 0 else before
            moving = replace(c, name=name, parent=parent, child=child, placement=at, joint=part)
            fixed = Connection(name, parent, child, at, None)
            connections.append(fixed if part is None else moving)
            parent = child
    return replace(description, links=links, connections=connections)


def _series(joint: Joint | None) -> tuple[list[tuple[Transform, Joint | None]], Transform]:
    """The parts of a joint, each with the pose at which it follows, and the pose after them."""
    parts: list[tuple[Transform, Joint | None]] = []
    pose = Transform.identity()
    for factor in _factors(joint):
        if isinstance(factor, Transform):
            pose = pose @ factor
        else:
            parts.append((pose, factor))
            pose = Transform.identity()
    return parts, pose


def _factors(joint: Joint | None) -> Iterator[Joint | Transform | None]:
    """A joint as a product of joints that URDF has, as far as possible, and transforms."""
    if joint is None or joint.urdf() is not None or joint.factors() == (joint,):
        yield joint
        return
    for factor in joint.factors():
        if isinstance(factor, Transform):
            yield factor
        else:
            yield from _factors(factor)


def _warn_of_losses(model: Model, description: Description) -> None:
    lost = list(_losses(model, description))
    if lost:
        message = f"robot {model.name!r}: URDF cannot express {', '.join(lost)}; not written"
        warnings.warn(message, ModelWarning, stacklevel=5)  # at Robot.save


def _losses(model: Model, description: Description) -> Iterator[str]:
    kept = [x for elements in _kept(model, description).values() for x in elements]
    if lost := [x for x in model.unread if x not in kept]:
        yield f"{counted(lost)} of the file that was read, which no longer fit"
    for what, field in (("armature", "armature"), ("spring", "stiffness")):
        names = [body.joint_name for body in model.bodies if getattr(body.drive, field)]
        if names:
            yield f"the {what} of joint {listed(names)}"
    if model.gravity != Description("", (), ()).gravity:
        yield f"gravity {tuple(model.gravity)}"
    if description.order:
        yield "the order of the coordinates"
    if any(shape.kind == "ellipsoid" for shape in _shapes(description)):
        yield "ellipsoids"
    if model.constraints:
        yield f"constraint {listed([c.name for c in model.constraints])}"
    equipment = list(lost_parts(model.equipment))
    if equipment:
        yield listed(equipment)
    if model.contacts:
        yield f"contact pair {listed([c.name for c in model.contacts])}"
    world = [c.name for c in model.colliders if c.frame is None]
    if world:
        yield f"collider {listed(world)} of the world"
    free = Connection(ROOT_JOINT, "", "", Transform.identity(), Floating())
    if description.root is not None and replace(description.root, child="") != free:
        yield "how the base moves, other than freely with a quaternion"


def _origin(out: Writer, pose: Transform) -> None:
    if pose != Transform.identity():
        out.leaf(
            "origin", xyz=numbers(pose.translation), rpy=numbers(roll_pitch_yaw(pose.rotation))
        )
