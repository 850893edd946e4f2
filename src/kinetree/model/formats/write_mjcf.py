"""Writing MJCF: bodies, joints, inertias, frames as sites, shapes, gravity, constraints, contacts.

Rotations become quaternions, and inertias principal moments at the centre of mass, which MuJoCo
stores unchanged.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ModelError, ModelWarning
from kinetree.model.description import Connection, Description
from kinetree.model.disassemble import disassemble, fresh
from kinetree.model.formats.write_mjcf_body_forces import BodyForceElements
from kinetree.model.formats.write_mjcf_contacts import (
    SILENT,
    ContactElements,
    softness_of_joint,
)
from kinetree.model.formats.write_mjcf_equality import EqualityElements
from kinetree.model.formats.write_mjcf_equipment import EquipmentElements
from kinetree.model.formats.write_mjcf_keyframes import KeyframeElements
from kinetree.model.formats.write_mjcf_sensors import SensorElements, magnetic_field
from kinetree.model.formats.write_xml import Writer, listed, number, numbers
from kinetree.model.joints import Joint, MjcfElement
from kinetree.model.limits import BallRange
from kinetree.model.model import Limits, Model, Shape
from kinetree.model.orientation import quaternion
from kinetree.model.unread import counted
from kinetree.spatial import Inertia, Rotation, Transform, Vector3

WORLD = "world"

# MuJoCo's size: half of ours along edges and lengths
GEOMS: dict[str, Callable[[tuple[float, ...]], tuple[float, ...]]] = {
    "sphere": lambda size: size,
    "capsule": lambda size: (size[0], size[1] / 2),
    "cylinder": lambda size: (size[0], size[1] / 2),
    "box": lambda size: tuple(x / 2 for x in size),
    "ellipsoid": lambda size: size,
}


def write_mjcf(model: Model) -> str:
    """The text of an MJCF file."""
    equalities = EqualityElements(disassemble(model))
    sensors = SensorElements(model, equalities.site)
    equipped = EquipmentElements(model.equipment, equalities.site, model.shapes, sensors)
    description = replace(equalities.description, shapes=equipped.shapes)
    contacts = ContactElements(description)
    named = {id(equipped.shapes[i]): x for i, x in equipped.shape_names.items()}
    forces = BodyForceElements(model)
    tree = _Tree(description, contacts, named, forces.gravcomp)
    out = Writer()
    with out.element("mujoco", model=description.name):
        out.leaf("compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        option = {
            "gravity": numbers(description.gravity),
            **contacts.option(),
            **magnetic_field(model),
        }
        option |= forces.option
        with out.element("option", **option):
            if contacts.flags():
                out.leaf("flag", **contacts.flags())
        contacts.assets(out)
        with out.element("worldbody"):
            for at, attributes in contacts.on(None):
                out.leaf("geom", **attributes, **_pose(at))
            for name, at in equalities.in_world.items():
                out.leaf("site", name=name, **_pose(at))
            tree.write(out)
        equalities.write(out)
        contacts.write(out)
        equipped.write(out)
        keyframes = KeyframeElements(model, tree.joints)
        keyframes.write(out)
    lost = [*_losses(model, tree), *equipped.lost, *forces.lost, *keyframes.lost]
    lost += [f"constraint {listed(equalities.lost)}"] if equalities.lost else []
    lost += [f"the height field {listed(contacts.lost)}"] if contacts.lost else []
    if lost:
        message = f"robot {model.name!r}: MJCF cannot express {', '.join(lost)}; not written"
        warnings.warn(message, ModelWarning, stacklevel=4)  # at Robot.save
    return out.text()


class _Part(NamedTuple):
    """One MuJoCo joint of a connection, with the rest position of its spring."""

    name: str
    joint: Joint
    connection: Connection
    rest: tuple[float, ...]


class _Tree:
    """The links of a robot, nested as in MuJoCo.

    skipped: links between joints on one body, which are not written.
    joints: the names of the joints in the order written.
    turned: the balls whose springs do not rest at the neutral orientation.
    shape_names: names of shapes, by their identity.
    attributes: more of them, by the names of links.
    """

    def __init__(
        self,
        description: Description,
        contacts: ContactElements,
        shape_names: Mapping[int, str],
        attributes: Mapping[str, dict[str, str]],
    ) -> None:
        self.description, self.contacts = description, contacts
        self.shape_names, self.attributes = shape_names, attributes
        self.links = {link.name: link for link in description.links}
        self.below: dict[str, list[Connection]] = {name: [] for name in self.links}
        rank = {name: i for i, name in enumerate(description.order)}
        last = len(rank)
        for c in sorted(description.connections, key=lambda c: (rank.get(c.name, last), c.name)):
            self.below[c.parent].append(c)
        self.shapes: dict[str, list[Shape]] = {}
        for shape in description.shapes:
            if not contacts.covers(shape):
                self.shapes.setdefault(shape.link, []).append(shape)
        children = {c.child for c in description.connections}
        self.root = next(name for name in self.links if name not in children)
        self.skipped: list[str] = []
        self.joints: list[str] = []
        self.turned: list[str] = []
        self.joint_names = {c.name for c in description.connections}

    def write(self, out: Writer) -> None:
        if self.description.root is not None:
            self._body(out, self.description.root)
        elif self.root == WORLD:
            self._inside(out, self.root)
        else:
            self._body(out, Connection("", "", self.root, Transform.identity(), None))

    def _body(self, out: Writer, first: Connection) -> None:
        """A body with its joints and its subtree. Iterative: chains may be long."""
        pending: list[Any] = [first]
        while pending:
            item = pending.pop()
            if not isinstance(item, Connection):
                item.__exit__(None, None, None)
                continue
            joints, at, link = self._joints(item)
            if link == WORLD:
                raise ModelError(
                    f"link {link!r} has the name that MJCF reserves for the world, but it moves or "
                    "is mounted elsewhere; rename it, or write URDF"
                )
            elements = [self._element(part) for part in joints]
            free = [element.type for element in elements] == ["free"]
            pose = _resting_pose(joints[0]) if free else _pose(at)
            opened = out.element("body", name=link, **pose, **self.attributes.get(link, {}))
            opened.__enter__()
            pending.append(opened)
            ball = ""
            for part, element in zip(joints, elements, strict=True):
                if ball and element.type in ("ball", "hinge"):
                    raise ModelError(
                        f"joint {part.name!r} follows the ball joint {ball!r} without a link with "
                        "inertia between them, which MJCF cannot express"
                    )
                ball = part.name if element.type == "ball" else ball
                self._joint(out, element, part)
            self._contents(out, link)
            pending += reversed([c for c in self.below[link] if self._is_body(c)])

    def _inside(self, out: Writer, link: str) -> None:
        self._contents(out, link)
        for c in self.below[link]:
            if self._is_body(c):
                self._body(out, c)

    def _contents(self, out: Writer, link: str) -> None:
        """The inertia, shapes and frames of a body."""
        if link != WORLD:  # the world's inertia has no effect, and no element in MJCF
            _inertial(out, self.links[link].inertia)
        self._geoms(out, link, Transform.identity())
        for c in self.below[link]:
            if not self._is_body(c):
                out.leaf("site", name=c.child, **_pose(c.placement))
                self._geoms(out, c.child, c.placement)

    def _geoms(self, out: Writer, link: str, at: Transform) -> None:
        """The shapes and colliders of a link at a pose in its body."""
        for shape in self.shapes.get(link, ()):
            name = self.shape_names.get(id(shape))
            _geom(out, shape, at, {"name": name} if name else {})
        for there, attributes in self.contacts.on(link):
            out.leaf("geom", **attributes, **_pose(at @ there))

    def _is_body(self, c: Connection) -> bool:
        return c.joint is not None or bool(self.below[c.child])

    def _joint(self, out: Writer, element: MjcfElement, part: _Part) -> None:
        spring = _spring(element.type, part)
        if part.connection.drive.stiffness and not spring:
            self.turned.append(part.name)
        _joint(out, element, part, spring)
        self.joints.append(part.name)

    def _joints(self, c: Connection) -> tuple[list[_Part], Transform, str]:
        """The joints of a body, its pose before they move, and its link.

        Links without inertia that carry only the next joint are merged into it.
        """
        if c.joint is None:
            return [], c.placement, c.child
        parts, at = self._parts(c), c.placement
        while self.links[c.child].inertia == Inertia.zero() and self.below[c.child]:
            moving = [d for d in self.below[c.child] if d.joint is not None]
            if len(moving) != 1 or len(self.below[c.child]) != 1 or _is_free(c.joint):
                break
            self.skipped.append(c.child)
            c = moving[0]
            # J P = P (P^-1 J P): the frame moves on, the joints before are seen from there
            back = c.placement.inverse()
            parts = [part._replace(joint=part.joint.relocated(back)) for part in parts]
            at = at @ c.placement
            parts += self._parts(c)
        return parts, at, c.child

    def _parts(self, c: Connection) -> list[_Part]:
        """A joint, or its parts in series, with names."""
        parts: list[_Part] = []
        start = 0
        for k, joint in enumerate(_series(c.joint)):
            name = c.name if k == 0 else fresh(f"{c.name}_{k + 1}", self.joint_names)
            self.joint_names.add(name)
            parts.append(_Part(name, joint, c, c.drive.rest[start : start + joint.nq]))
            start += joint.nq
        return parts

    def _element(self, part: _Part) -> MjcfElement:
        """The MJCF element of a joint."""
        name, joint, c, _ = part
        element = joint.mjcf()
        top = c is self.description.root or c.parent == self.root == WORLD
        base = top and c.placement == Transform.identity()
        if element is not None and (base or element.type != "free"):
            return element
        what = "" if element is None else " other than as the base"
        raise ModelError(
            f"joint {name!r} is a {type(joint).__name__}, which MJCF does not have{what}; it has "
            "revolute, prismatic and quaternion ball joints, and chains of them; rechart() "
            "converts ball and free joints to such chains"
        )


def _is_free(joint: Joint | None) -> bool:
    return joint is not None and (element := joint.mjcf()) is not None and element.type == "free"


def _series(joint: Joint | None) -> Iterator[Joint]:
    """The parts of a joint in series, or the joint itself."""
    if joint is None:
        return
    parts = [factor for factor in joint.factors() if isinstance(factor, Joint)]
    if joint.mjcf() is not None or parts == [joint] or len(parts) < len(joint.factors()):
        yield joint
        return
    for part in parts:
        yield from _series(part)


def _joint(out: Writer, element: MjcfElement, part: _Part, spring: dict[str, str]) -> None:
    more = {"type": element.type}
    if element.axis is not None:
        more["axis"] = numbers(element.axis)
    if element.position != Vector3(0.0, 0.0, 0.0):
        more["pos"] = numbers(element.position)
    more |= _limits(element.type, part.connection.limits)
    more |= softness_of_joint(part.connection.softness)
    drive = part.connection.drive
    for key, value in (
        ("armature", drive.armature),
        ("damping", drive.damping),
        ("frictionloss", drive.friction),
    ):
        if value:
            more[key] = number(value)
    out.leaf("joint", name=part.name, **more, **spring)


def _spring(kind: str, part: _Part) -> dict[str, str]:
    """The attributes of a joint's spring; none if there is no spring, or if MJCF cannot express it.

    In MJCF the spring of a ball rests at the neutral orientation, that of a free joint at the
    body's pose.
    """
    stiffness, joint = part.connection.drive.stiffness, part.joint
    rest = part.rest or joint.neutral()
    if not stiffness or (kind == "ball" and any(joint.displacement(joint.neutral(), rest))):
        return {}
    attributes = {"stiffness": number(stiffness)}
    if kind in ("hinge", "slide") and any(rest):
        attributes["springref"] = number(rest[0])
    return attributes


def _resting_pose(part: _Part) -> dict[str, str]:
    """The pose of a free body: where its spring rests."""
    if not part.connection.drive.stiffness or not part.rest:
        return {}
    x, y, z, *quat = part.joint.coordinates(part.rest)
    return {"pos": numbers((x, y, z)), "quat": numbers((quat[3], *quat[:3]))}


def _limits(kind: str, limits: Limits) -> dict[str, str]:
    """The range and effort limit of a joint of one coordinate, the largest angle of a ball."""
    attributes = {}
    if kind in ("hinge", "slide"):
        if -math.inf < limits.lower < limits.upper < math.inf:
            attributes["range"] = numbers((limits.lower, limits.upper))
        if 0.0 < limits.effort < math.inf:
            attributes["actuatorfrcrange"] = numbers((-limits.effort, limits.effort))
    if kind == "ball" and (ball := limits.ball) and ball == BallRange(angle=ball.angle):
        attributes["range"] = numbers((0.0, ball.angle))
    return attributes


def _inertial(out: Writer, inertia: Inertia) -> None:
    if inertia == Inertia.zero():
        return
    center, about = inertia.center_and_rotational()
    turned = {}
    moments = (about.xx, about.yy, about.zz)
    if about.xy or about.xz or about.yz:
        values, axes = np.linalg.eigh(np.array([list(row) for row in about.rows]))
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] *= -1.0
        moments = tuple(values.tolist())
        turned = {"quat": numbers(_quat(Rotation(*(Vector3(*row) for row in axes.tolist()))))}
    out.leaf(
        "inertial",
        pos=numbers(center),
        **turned,
        mass=number(inertia.mass),
        diaginertia=numbers(moments),
    )


def _geom(out: Writer, shape: Shape, link: Transform, named: dict[str, str]) -> None:
    if shape.kind in GEOMS and all(x > 0.0 for x in shape.size):
        touch = {} if shape.role == "collision" else SILENT
        size = numbers(GEOMS[shape.kind](shape.size))
        color = {"rgba": numbers(shape.color)} if shape.color else {}
        at = _pose(link @ shape.placement)
        out.leaf("geom", **named, type=shape.kind, size=size, **at, **touch, **color)


def _losses(model: Model, tree: _Tree) -> Iterator[str]:
    description = tree.description
    if model.unread:
        yield f"{counted(model.unread)} of the URDF file"
    if links := [name for name in tree.skipped if ":" not in name]:  # the reader creates the others
        yield f"links between joints of one body ({links[0]!r}...)"
    if any(shape.kind == "mesh" for shape in description.shapes):
        yield "meshes without their files"
    if any(math.isfinite(c.limits.velocity) for c in description.connections):
        yield "limits of velocity"
    if any(_loses_limits(c) for c in description.connections):
        yield "limits on one side or without room, and swings, twists and efforts of balls"
    if tree.turned:
        yield f"a ball's spring that rests at another orientation, of joint {listed(tree.turned)}"
    order = [model.bodies[i].joint_name for i in model.coordinate_order]
    if [name for name in tree.joints if name in order] != order:
        yield "this order of coordinates"


def _loses_limits(c: Connection) -> bool:
    limits = c.limits
    kind = "hinge" if c.joint is not None and c.joint.nq == c.joint.nv else "ball"
    bounds = any(map(math.isfinite, (limits.lower, limits.upper))) or limits.ball is not None
    return len(_limits(kind, limits)) < bounds + math.isfinite(limits.effort)


def _pose(X: Transform) -> dict[str, str]:
    pose = {}
    if X.translation != Vector3(0.0, 0.0, 0.0):
        pose["pos"] = numbers(X.translation)
    if X.rotation != Rotation.identity():
        pose["quat"] = numbers(_quat(X.rotation))
    return pose


def _quat(R: Rotation) -> tuple[float, float, float, float]:
    """The unit quaternion of a rotation as MuJoCo writes it: (w x y z)."""
    x, y, z, w = quaternion(R)
    return w, x, y, z
