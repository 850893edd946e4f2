"""Writing URDF: links, joints, inertias, shapes.

Every number is written so that reading it gives the same bits; rotations become roll, pitch and
yaw, and inertias move to the centre of mass, which costs a rounding. A joint that is several in
series (universal, cylindrical, Euler angles) is written as that, with links without inertia
between. What URDF has no words for is an error (other joints) or a warning (the rest).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

from kinetree.errors import ModelError, ModelWarning
from kinetree.model.description import Connection, Description, Link
from kinetree.model.disassemble import disassemble, fresh
from kinetree.model.joints import Composite, Floating, Prismatic, Revolute, planar
from kinetree.model.model import Model, Shape
from kinetree.model.regroup import recenter
from kinetree.model.urdf import across
from kinetree.model.write_xml import Writer, number, numbers
from kinetree.spatial import Inertia, Rotation, Transform, Vector3


def write_urdf(model: Model) -> str:
    """The text of a URDF file.

    A free base is not written: load the file with base="floating".
    """
    whole = _in_single_joints(disassemble(recenter(model)))
    _warn_of_losses(model, whole)
    out = Writer()
    shapes: dict[str, list[Shape]] = {}
    for shape in whole.shapes:
        shapes.setdefault(shape.link, []).append(shape)
    with out.element("robot", name=whole.name):
        for link in whole.links:
            _link(out, link, shapes.get(link.name, []))
        for connection in whole.connections:
            _joint(out, connection)
    return out.text()


def _link(out: Writer, link: Link, shapes: list[Shape]) -> None:
    with out.element("link", name=link.name):
        if link.inertia != Inertia.zero():
            _inertial(out, link)
        for shape in shapes:
            if shape.kind == "ellipsoid":
                continue  # URDF has none; said with the other losses
            with out.element(shape.role):
                _origin(out, shape.placement)
                with out.element("geometry"):
                    _geometry(out, shape)


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


def _joint(out: Writer, c: Connection) -> None:
    kind, axis = _kind(c)
    with out.element("joint", name=c.name, type=kind):
        out.leaf("parent", link=c.parent)
        out.leaf("child", link=c.child)
        _origin(out, c.placement)
        if axis is not None:
            out.leaf("axis", xyz=numbers(axis))
        limits = {
            key: number(value) for key, value in vars(c.limits).items() if math.isfinite(value)
        }
        if limits:
            out.leaf("limit", **limits)
        drive = {k: number(getattr(c.drive, k)) for k in ("damping", "friction")}
        if c.drive.damping or c.drive.friction:
            out.leaf("dynamics", **drive)
        if c.mimicry is not None:
            copied = c.mimicry
            ratio, offset = number(copied.multiplier), number(copied.offset)
            out.leaf("mimic", joint=copied.joint, multiplier=ratio, offset=offset)


def _kind(c: Connection) -> tuple[str, Vector3 | None]:
    """The type and axis of a joint."""
    joint = c.joint
    if joint is None:
        return "fixed", None
    if isinstance(joint, Floating):
        return "floating", None
    if isinstance(joint, Revolute):
        limited = math.isfinite(c.limits.lower) and math.isfinite(c.limits.upper)
        return "revolute" if limited else "continuous", joint.axis
    if isinstance(joint, Prismatic):
        return "prismatic", joint.axis
    normal = _normal(joint)
    if normal is not None:
        return "planar", normal
    raise ModelError(
        f"joint {c.name!r} is a {type(joint).__name__}, for which URDF has no word: write MJCF "
        "(a file ending in .xml), or give it Euler angles with rechart('zyx')"
    )


def _normal(joint: object) -> Vector3 | None:
    """The axis of a planar joint as URDF has them: x and y follow from it."""
    if isinstance(joint, Composite) and len(joint.parts) == 3:
        last = joint.parts[-1]
        if isinstance(last, Revolute) and joint == planar(*across(last.axis)):
            return last.axis
    return None


def _in_single_joints(whole: Description) -> Description:
    """The same robot, joints in series one by one."""
    links, connections = list(whole.links), []
    link_names = {x.name for x in links}
    joint_names = {c.name for c in whole.connections}
    for c in whole.connections:
        if not isinstance(c.joint, Composite) or _normal(c.joint) is not None:
            connections.append(c)
            continue
        parent, at = c.parent, c.placement
        for k, part in enumerate(c.joint.parts):
            last = k == len(c.joint.parts) - 1
            child = c.child if last else fresh(f"{c.child}_{k + 1}", link_names)
            name = c.name if k == 0 else fresh(f"{c.name}_{k + 1}", joint_names)
            link_names.add(child)
            joint_names.add(name)
            if not last:
                links.append(Link(child, Inertia.zero()))
            connections.append(
                replace(c, name=name, parent=parent, child=child, placement=at, joint=part)
            )
            parent, at = child, Transform.identity()
    return replace(whole, links=links, connections=connections)


def _warn_of_losses(model: Model, whole: Description) -> None:
    lost = list(_losses(model, whole))
    if lost:
        message = f"robot {model.name!r}: URDF cannot say {', '.join(lost)}: left out"
        warnings.warn(message, ModelWarning, stacklevel=4)


def _losses(model: Model, whole: Description) -> Iterator[str]:
    rotors = [c.name for c in whole.connections if c.drive.armature]
    if rotors:
        yield f"the armature of {len(rotors)} joints ({rotors[0]!r}...)"
    if model.gravity != Description("", (), ()).gravity:
        yield f"gravity {tuple(model.gravity)}"
    if whole.order:
        yield "the order of the coordinates"
    if any(shape.kind == "ellipsoid" for shape in whole.shapes):
        yield "ellipsoids"
    if whole.root is not None and not isinstance(whole.root.joint, Floating):
        yield "the chart of the base"


def _origin(out: Writer, pose: Transform) -> None:
    if pose != Transform.identity():
        out.leaf(
            "origin", xyz=numbers(pose.translation), rpy=numbers(roll_pitch_yaw(pose.rotation))
        )


def roll_pitch_yaw(R: Rotation) -> tuple[float, float, float]:
    """The angles of Rotation.rpy. Where roll and yaw are one turn, it is all yaw."""
    (xx, _, _), (yx, yy, _), (zx, zy, zz) = R.rows
    flat = math.hypot(xx, yx)
    pitch = math.atan2(-zx, flat)
    if flat < 1e-12:
        return 0.0, pitch, math.atan2(-R.a.y, yy)
    return math.atan2(zy, zz), pitch, math.atan2(yx, xx)
