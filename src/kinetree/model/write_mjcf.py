"""Writing MJCF: bodies, joints, inertias, frames as sites, shapes, gravity.

Rotations become quaternions, and inertias principal moments at the centre of mass, so that MuJoCo
takes them as they are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kinetree.errors import ModelError, ModelWarning
from kinetree.model.description import Connection, Description
from kinetree.model.disassemble import disassemble, fresh
from kinetree.model.joints import (
    Ball,
    Composite,
    Floating,
    Joint,
    Moved,
    Prismatic,
    Revolute,
    moved,
)
from kinetree.model.model import Limits, Model, Shape
from kinetree.model.write_xml import Writer, number, numbers
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
    whole = disassemble(model)
    tree = _Tree(whole)
    out = Writer()
    with out.element("mujoco", model=whole.name):
        out.leaf("compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        out.leaf("option", gravity=numbers(whole.gravity))
        with out.element("worldbody"):
            tree.write(out)
        followers = [c for c in whole.connections if c.mimicry is not None]
        if followers:
            with out.element("equality"):
                for c in followers:
                    _equality(out, c)
    lost = list(_losses(model, tree))
    if lost:
        message = f"robot {model.name!r}: MJCF cannot say {', '.join(lost)}: left out"
        warnings.warn(message, ModelWarning, stacklevel=4)  # at Robot.save
    return out.text()


class _Tree:
    """The links of a robot as MuJoCo nests them.

    skipped: links between joints on one body, which are not written.
    joints: the names of the joints in the order written.
    """

    def __init__(self, whole: Description) -> None:
        self.whole = whole
        self.links = {link.name: link for link in whole.links}
        self.below: dict[str, list[Connection]] = {name: [] for name in self.links}
        rank = {name: i for i, name in enumerate(whole.order)}
        for c in sorted(whole.connections, key=lambda c: (rank.get(c.name, len(rank)), c.name)):
            self.below[c.parent].append(c)
        self.shapes: dict[str, list[Shape]] = {}
        for shape in whole.shapes:
            self.shapes.setdefault(shape.link, []).append(shape)
        children = {c.child for c in whole.connections}
        self.root = next(name for name in self.links if name not in children)
        self.skipped: list[str] = []
        self.joints: list[str] = []
        self.joint_names = {c.name for c in whole.connections}

    def write(self, out: Writer) -> None:
        if self.whole.root is not None:
            self._body(out, self.whole.root)
        elif self.root == WORLD:
            self._inside(out, self.root)
        else:
            self._body(out, Connection("", "", self.root, Transform.identity(), None))

    def _body(self, out: Writer, first: Connection) -> None:
        """A body with its joints, all it carries inside. Iterative: chains may be long."""
        pending: list[Any] = [first]
        while pending:
            item = pending.pop()
            if not isinstance(item, Connection):
                item.__exit__(None, None, None)
                continue
            joints, at, link = self._joints(item)
            if link == WORLD:
                raise ModelError(
                    f"link {link!r} moves or is mounted elsewhere, and in MJCF that is the name of "
                    "the world: give it another name, or write URDF"
                )
            opened = out.element("body", name=link, **_pose(at))
            opened.__enter__()
            pending.append(opened)
            turned = ""
            for name, joint, c in joints:
                kind = self._kind(name, joint, c)
                if turned and kind in ("ball", "hinge"):
                    raise ModelError(
                        f"joint {name!r} turns on the ball {turned!r} without a link of some "
                        "inertia between them: MJCF has no word for that"
                    )
                turned = name if kind == "ball" else turned
                _joint(out, name, kind, joint, c)
                self.joints.append(name)
            self._own(out, link)
            pending += reversed([c for c in self.below[link] if self._is_body(c)])

    def _inside(self, out: Writer, link: str) -> None:
        self._own(out, link)
        for c in self.below[link]:
            if self._is_body(c):
                self._body(out, c)

    def _own(self, out: Writer, link: str) -> None:
        """The inertia, shapes and frames of a body."""
        if link != WORLD:  # whose inertia nobody feels, and MuJoCo has no word for
            _inertial(out, self.links[link].inertia)
        for shape in self.shapes.get(link, ()):
            _geom(out, shape, Transform.identity())
        for c in self.below[link]:
            if not self._is_body(c):
                out.leaf("site", name=c.child, **_pose(c.placement))
                for shape in self.shapes.get(c.child, ()):
                    _geom(out, shape, c.placement)

    def _is_body(self, c: Connection) -> bool:
        return c.joint is not None or bool(self.below[c.child])

    def _joints(self, c: Connection) -> tuple[list[tuple[str, Joint, Connection]], Transform, str]:
        """The joints of a body, its pose before they move, and its link.

        Through links without inertia that carry nothing but the next joint.
        """
        if c.joint is None:
            return [], c.placement, c.child
        found, at = self._parts(c), c.placement
        while self.links[c.child].inertia == Inertia.zero() and self.below[c.child]:
            moving = [d for d in self.below[c.child] if d.joint is not None]
            if len(moving) != 1 or len(self.below[c.child]) != 1 or isinstance(c.joint, Floating):
                break
            self.skipped.append(c.child)
            c = moving[0]
            # J P = P (P^-1 J P): the frame moves on, the joints before are seen from there
            back = c.placement.inverse()
            found = [(name, moved(joint, back), d) for name, joint, d in found]
            at = at @ c.placement
            found += self._parts(c)
        return found, at, c.child

    def _parts(self, c: Connection) -> list[tuple[str, Joint, Connection]]:
        """A joint, or its parts in series, with names."""
        found = []
        for k, part in enumerate(_series(c.joint)):
            name = c.name if k == 0 else fresh(f"{c.name}_{k + 1}", self.joint_names)
            self.joint_names.add(name)
            found.append((name, part, c))
        return found

    def _kind(self, name: str, joint: Joint, c: Connection) -> str:
        """The type of a joint."""
        if isinstance(joint, Moved) and joint.at.rotation == Rotation.identity():
            joint = joint.joint
        top = c is self.whole.root or c.parent == self.root == WORLD
        if isinstance(joint, Floating) and top and c.placement == Transform.identity():
            return "free"
        for kind, word in ((Revolute, "hinge"), (Prismatic, "slide"), (Ball, "ball")):
            if isinstance(joint, kind):
                return word
        what = "free joint that is not the base" if isinstance(joint, Floating) else "joint"
        raise ModelError(
            f"joint {name!r} is a {type(joint).__name__}: MJCF has no word for such a {what}; it "
            "has revolute, prismatic and quaternion ball joints, and those in series; rechart() "
            "makes such ones of free orientations and motions"
        )


def _series(joint: Joint | None) -> Iterator[Joint]:
    """The parts of a joint that is several, or the joint."""
    if isinstance(joint, Composite):
        for part in joint.parts:
            yield from _series(part)
    elif joint is not None:
        yield joint


def _joint(out: Writer, name: str, kind: str, joint: Joint, c: Connection) -> None:
    more = {"type": kind}
    at = Vector3(0.0, 0.0, 0.0)
    if isinstance(joint, Moved):
        at, joint = joint.at.translation, joint.joint
    if isinstance(joint, (Revolute, Prismatic)):
        more["axis"] = numbers(joint.axis)
    if at != Vector3(0.0, 0.0, 0.0):
        more["pos"] = numbers(at)
    more |= _limits(kind, c.limits)
    drive = c.drive
    for key, value in (
        ("armature", drive.armature),
        ("damping", drive.damping),
        ("frictionloss", drive.friction),
    ):
        if value:
            more[key] = number(value)
    out.leaf("joint", name=name, **more)


def _limits(kind: str, limits: Limits) -> dict[str, str]:
    """The bounds and the effort of a joint of one coordinate, where they leave it room."""
    said = {}
    if kind in ("hinge", "slide"):
        if -math.inf < limits.lower < limits.upper < math.inf:
            said["range"] = numbers((limits.lower, limits.upper))
        if 0.0 < limits.effort < math.inf:
            said["actuatorfrcrange"] = numbers((-limits.effort, limits.effort))
    return said


def _equality(out: Writer, c: Connection) -> None:
    copied = c.mimicry
    assert copied is not None
    line = numbers((copied.offset, copied.multiplier, 0.0, 0.0, 0.0))
    out.leaf("joint", joint1=c.name, joint2=copied.joint, polycoef=line)


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


def _geom(out: Writer, shape: Shape, link: Transform) -> None:
    if shape.kind in GEOMS and all(x > 0.0 for x in shape.size):
        touch = {} if shape.role == "collision" else {"contype": "0", "conaffinity": "0"}
        size = numbers(GEOMS[shape.kind](shape.size))
        out.leaf("geom", type=shape.kind, size=size, **_pose(link @ shape.placement), **touch)


def _losses(model: Model, tree: _Tree) -> Iterator[str]:
    whole = tree.whole
    links = [name for name in tree.skipped if ":" not in name]  # others are made by the reader
    if links:
        yield f"links between joints of one body ({links[0]!r}...)"
    if any(shape.kind == "mesh" for shape in whole.shapes):
        yield "meshes without their files"
    if any(math.isfinite(c.limits.velocity) for c in whole.connections):
        yield "limits of velocity"
    if any(_loses_limits(c) for c in whole.connections):
        yield "limits on one side, without room, or of balls"
    own = [model.bodies[i].joint_name for i in model.coordinate_order]
    if [name for name in tree.joints if name in own] != own:
        yield "this order of coordinates"


def _loses_limits(c: Connection) -> bool:
    limits = c.limits
    kind = "hinge" if c.joint is not None and c.joint.nq == c.joint.nv else "ball"
    bounds = math.isfinite(limits.lower) or math.isfinite(limits.upper)
    return len(_limits(kind, limits)) < bounds + math.isfinite(limits.effort)


def _pose(X: Transform) -> dict[str, str]:
    pose = {}
    if X.translation != Vector3(0.0, 0.0, 0.0):
        pose["pos"] = numbers(X.translation)
    if X.rotation != Rotation.identity():
        pose["quat"] = numbers(_quat(X.rotation))
    return pose


def _quat(R: Rotation) -> tuple[float, float, float, float]:
    """The unit quaternion (w x y z) of a rotation, from its largest part."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R.rows
    squares = (1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz)
    rows = (
        (squares[0], zy - yz, xz - zx, yx - xy),
        (zy - yz, squares[1], xy + yx, xz + zx),
        (xz - zx, xy + yx, squares[2], yz + zy),
        (yx - xy, xz + zx, yz + zy, squares[3]),
    )
    largest = rows[max(range(4), key=lambda k: squares[k])]
    length = math.sqrt(sum(x * x for x in largest))
    w, x, y, z = (part / length for part in largest)
    return w, x, y, z
