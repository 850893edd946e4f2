"""Editing a robot. Every function returns a new model and leaves its argument unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinetree.errors import ModelError, among, unknown
from kinetree.kinds import text
from kinetree.model.arguments import Placement, given_inertia, given_transform, given_vector
from kinetree.model.description import Connection, Description, assemble
from kinetree.model.disassemble import disassemble, fresh
from kinetree.model.joints import CHARTS, Joint
from kinetree.model.model import WORLD, Body, Limits, Model
from kinetree.spatial import Transform, Vector3

EFFECTS = ("armature", "damping", "friction", "gravity", "limits", "springs")


def without(model: Model, *effects: str) -> Model:
    """The same robot with effects switched off.

    Arguments:
        effects: of "armature", "damping", "friction", "gravity", "limits", "springs".
    """
    for effect in effects:
        if not among(effect, EFFECTS):
            raise unknown("effect", effect, EFFECTS, "a model")
    none: dict[str, Any] = {e: 0.0 for e in ("armature", "damping", "friction") if e in effects}
    if "springs" in effects:
        none |= {"stiffness": 0.0, "rest": ()}
    return replace(
        model,
        gravity=Vector3(0.0, 0.0, 0.0) if "gravity" in effects else model.gravity,
        bodies=tuple(
            replace(
                body,
                drive=replace(body.drive, **none),
                limits=Limits() if "limits" in effects else body.limits,
            )
            for body in model.bodies
        ),
    )


def with_gravity(model: Model, gravity: Sequence[float]) -> Model:
    """The same robot in another gravity field.

    Arguments:
        gravity: the acceleration of free fall, m/s^2, in the world's axes; the moon's is
            (0, 0, -1.62).
    """
    return replace(model, gravity=given_vector("gravity", gravity))


def mounted(model: Model, pose: Placement) -> Model:
    """The same robot, its root link fixed at a pose in the world: on a table, a wall, a ceiling.

    Arguments:
        pose: of the root link, instead of an earlier one: a 4x4 matrix, a Transform, or its origin.
    """
    free = next((b for b in model.bodies if _is_free(model, b)), None)
    if free is not None:
        raise ModelError(
            f"robot {model.name!r} moves freely: its pose in the world is part of q, as the "
            f"coordinates of joint {free.joint_name!r}; only a fixed base can be mounted"
        )
    at, description = given_transform(pose, "pose"), disassemble(model)
    root = _root_name(description)
    name = fresh(f"{root}_mount", {c.name for c in description.connections})
    fixed = Connection(name, "", root, at, None)
    return assemble(replace(description, root=None if at == Transform.identity() else fixed))


def lock(model: Model, joints: Mapping[str, float | Sequence[float]]) -> Model:
    """Hold joints at a value: their bodies become part of those that carry them.

    Arguments:
        joints: maps a joint's name to the coordinate, or coordinates, at which it is held.
    """
    return assemble(disassemble(model), locked=joints)


def subtree(model: Model, link: str, base: str = "fixed") -> Model:
    """The part of a robot that hangs on a link, with the body that carries the link as its root.

    Arguments:
        link: the name of a frame.
        base: "fixed" puts the root on the world, "floating" lets it move freely.
    """
    carrier = model.frame(link).body
    if carrier == WORLD:
        return model if among(base, ("fixed",)) else assemble(disassemble(model), base=base)
    description = disassemble(model)
    part = _below(description, description.links[carrier].name)
    outside = {c.name for c in description.connections} - {c.name for c in part.connections}
    for c in part.connections:
        if c.mimicry is not None and c.mimicry.joint in outside:
            raise ModelError(
                f"joint {c.name!r} mimics {c.mimicry.joint!r}, which is not in the subtree of "
                f"{link!r}: lock one of them first"
            )
    return assemble(part, base=base)


def attach_payload(
    model: Model,
    frame: str,
    mass: float,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    inertia: Any = None,
) -> Model:
    """Fix a load or a tool to a frame, in addition to the inertia that the body has.

    Arguments:
        frame: the name of the frame in which the numbers are given.
        mass: kg.
        com: the centre of mass, m.
        inertia: the rotational inertia about the centre of mass, kg m^2: a symmetric 3x3 matrix or
            its three diagonal entries; None for a point mass.
    """
    model.frame(frame)
    load = given_inertia(mass, com, inertia)
    description = disassemble(model)
    links = [
        replace(link, inertia=link.inertia + load) if link.name == frame else link
        for link in description.links
    ]
    return assemble(replace(description, links=links))


def replace_inertia(
    model: Model,
    body: str,
    mass: float,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    inertia: Any = None,
) -> Model:
    """Replace the inertia of a body, including everything fixed to it.

    Arguments:
        body: its name.
        mass, com, inertia: as in `attach_payload`, in the body's frame.
    """
    names = [b.name for b in model.bodies]
    if not among(body, names):
        raise unknown("body", body, names, f"robot {model.name!r}")
    new = given_inertia(mass, com, inertia)
    return replace(
        model, bodies=tuple(replace(b, inertia=new) if b.name == body else b for b in model.bodies)
    )


def add_frame(model: Model, name: str, parent: str, at: Placement = (0.0, 0.0, 0.0)) -> Model:
    """Add a named frame.

    Arguments:
        name: of the new frame.
        parent: the frame in which it is placed.
        at: its pose there: a 4x4 matrix, a Transform, or its origin.
    """
    base = model.frame(parent)
    new = replace(base, name=name, placement=base.placement @ given_transform(at), mount=None)
    return replace(model, frames=(*model.frames, new))


def attach(
    model: Model,
    other: Model,
    frame: str,
    at: Placement = (0.0, 0.0, 0.0),
    prefix: str = "",
    joint: Joint | None = None,
) -> Model:
    """Mount another robot on a frame of this one, such as a hand on an arm.

    Arguments:
        other: the robot to mount, by its root link; if its base was free, it no longer is.
        frame: the name of the frame that carries it.
        at: the pose of its root link (or of the joint) in that frame.
        prefix: put before each of its names, if both robots use the same ones.
        joint: how it moves on the frame; None if it is fixed.
    """
    model.frame(frame)
    if not isinstance(other, Model):
        raise ModelError(
            f"other={other!r}: a robot is expected; kinetree.load(...) makes one of a file"
        )
    if not (joint is None or isinstance(joint, Joint)):
        raise ModelError(f"joint={joint!r}: a joint of kinetree.joints is expected, or None")
    mine, theirs = disassemble(model), _prefixed(_grounded(other), text("prefix", prefix))
    joints = {c.name for c in (*mine.connections, *([mine.root] if mine.root else []))}
    new_joints = {c.name for c in theirs.connections}
    _no_clash("link", {x.name for x in mine.links}, {x.name for x in theirs.links})
    _no_clash("joint", joints, new_joints)
    root = _root_name(theirs)
    mount = f"{root}_mount"
    if mount in joints | new_joints:
        raise ModelError(f"a joint is named {mount!r} already: give the attached robot a prefix")
    mounted = Connection(mount, frame, root, given_transform(at), joint)
    order = mine.order
    if theirs.order:
        mine_in_order = [model.bodies[i].joint_name for i in model.coordinate_order]
        order = [*mine_in_order, mount, *theirs.order]
    return assemble(
        replace(
            mine,
            links=[*mine.links, *theirs.links],
            connections=[*mine.connections, mounted, *theirs.connections],
            shapes=[*mine.shapes, *theirs.shapes],
            order=order,
        )
    )


def reroot(model: Model, link: str) -> Model:
    """The same robot with another of its links as the root.

    The joints between the old root and the new one keep their coordinates and are reversed. A fixed
    base is fixed at the new root's frame; a floating base floats there.

    Arguments:
        link: the name of a frame.
    """
    model.frame(link)
    description = disassemble(model)
    above = {c.child: c for c in description.connections}
    free = {b.joint_name for b in model.bodies if _is_free(model, b)}
    turned: dict[str, Connection] = {}
    at = link
    while at in above:
        c = above[at]
        if c.name in free:
            turned[c.name] = _rooted(c, link)
            break
        back = c.placement.inverse()
        # placement J(q) seen from the child: J^-1 placement^-1 = back (placement J^-1 back)
        joint = None if c.joint is None else c.joint.reversed().relocated(c.placement)
        turned[c.name] = replace(c, parent=c.child, child=c.parent, placement=back, joint=joint)
        at = c.parent
    root = description.root and _rooted(description.root, link)
    connections = [turned.get(c.name, c) for c in description.connections]
    return assemble(replace(description, root=root, connections=connections))


def _rooted(free: Connection, link: str) -> Connection:
    """The joint of a free base whose root is another link."""
    if free.drive.stiffness and free.child != link:
        raise ModelError(
            f"the spring of joint {free.name!r} holds link {free.child!r}, and would hold "
            f"{link!r} if that were the root: remove it first, with without('springs')"
        )
    return replace(free, child=link)


def rechart(model: Model, chart: str, *joints: str) -> Model:
    """The same robot with free orientations in other coordinates.

    Arguments:
        chart: "quaternion"; "exponential", the rotation vector; or a sequence of Euler angles such
            as "zyx". In the last two v is the rate of q, and there are singular orientations.
        joints: the ball and floating joints to change; by default all of them. Their drives act
            on v, so their effect changes if v has another meaning. A spring stays relaxed at the
            same orientation, but in charts where v is the rate of q it is stretched by the
            difference of coordinates.
    """
    if not among(chart, CHARTS):
        raise unknown("chart", chart, CHARTS, "a free orientation")
    recharted = {b.joint_name: b.joint.in_chart(CHARTS[chart]) for b in model.bodies}
    free = [name for name, joint in recharted.items() if joint is not None]
    for name in joints:
        if not among(name, free):
            raise unknown("ball or floating joint", name, free, f"robot {model.name!r}")
    chosen = set(joints or free)

    def changed(body: Body) -> Body:
        joint = recharted[body.joint_name] if body.joint_name in chosen else None
        if joint is None or joint == body.joint:
            return body
        rest = body.drive.rest
        if rest:
            rest = tuple(joint.coordinates_at(body.joint.transform(body.joint.coordinates(rest))))
        return replace(body, joint=joint, drive=replace(body.drive, rest=rest))

    return replace(model, bodies=tuple(changed(body) for body in model.bodies))


def _no_clash(what: str, mine: set[str], theirs: set[str]) -> None:
    if mine & theirs:
        name = min(mine & theirs)
        raise ModelError(
            f"both robots have a {what} named {name!r}: give the attached one a prefix"
        )


def _is_free(model: Model, body: Body) -> bool:
    """Whether a body floats in the world: not if a link with mass is fixed to the world."""
    return body.parent == WORLD and body.joint.nv == 6 and model.base_inertia.mass == 0


def _grounded(model: Model) -> Description:
    """A robot without the joint of its free base, if it has one."""
    description, hanging = disassemble(model), [b for b in model.bodies if b.parent == WORLD]
    if len(hanging) != 1 or not _is_free(model, hanging[0]):
        return description
    above = description.root or next(
        c for c in description.connections if c.name == hanging[0].joint_name
    )
    return _below(description, above.child)


def _below(description: Description, root: str) -> Description:
    """The part of a robot that hangs on a link, that included."""
    kept = {root, *(c.child for c in _from_root(description, root))}
    connections = [c for c in description.connections if c.parent in kept]
    joints = {c.name for c in connections}
    return replace(
        description,
        root=None,
        links=[x for x in description.links if x.name in kept],
        connections=connections,
        shapes=[s for s in description.shapes if s.link in kept],
        order=[name for name in description.order if name in joints],
    )


def _root_name(description: Description) -> str:
    children = {c.child for c in description.connections}
    return next(x.name for x in description.links if x.name not in children)


def _from_root(description: Description, root: str) -> list[Connection]:
    """The connections below a link, parents before children."""
    below: dict[str, list[Connection]] = {}
    for c in description.connections:
        below.setdefault(c.parent, []).append(c)
    reached: list[Connection] = []
    pending = [root]
    while pending:
        children = below.get(pending.pop(), [])
        reached += children
        pending += [c.child for c in children]
    return reached


def _prefixed(description: Description, prefix: str) -> Description:
    def mimicry(c: Connection) -> Any:
        return c.mimicry and replace(c.mimicry, joint=prefix + c.mimicry.joint)

    return replace(
        description,
        root=None,
        links=[replace(x, name=prefix + x.name) for x in description.links],
        connections=[
            replace(
                c,
                name=prefix + c.name,
                parent=prefix + c.parent,
                child=prefix + c.child,
                mimicry=mimicry(c),
            )
            for c in description.connections
        ],
        shapes=[replace(s, link=prefix + s.link) for s in description.shapes],
        order=[prefix + name for name in description.order],
    )
