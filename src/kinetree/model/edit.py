"""Editing a robot. Every function returns a new model and leaves its argument unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from kinetree.errors import ModelError, among, unknown
from kinetree.kinds import text
from kinetree.model.arguments import PoseLike, given_inertia, given_transform, given_vector
from kinetree.model.assemble import assemble
from kinetree.model.constraint_edits import in_the_world, within
from kinetree.model.constraints import Constraint
from kinetree.model.contact_edits import on_links
from kinetree.model.description import Connection, Description
from kinetree.model.disassemble import disassemble, fresh
from kinetree.model.equipment_edits import part_of, with_load, without_effects
from kinetree.model.geometry import Collider, ContactPair
from kinetree.model.joints import CHARTS, Joint
from kinetree.model.keyframe import REFERENCE
from kinetree.model.model import WORLD, Body, Limits, Model
from kinetree.model.parts import below, closed_on_root, prefixed, root_name
from kinetree.spatial import Transform, Vector3

Effect = Literal[
    "actuators",
    "armature",
    "compensation",
    "constraints",
    "contacts",
    "damping",
    "fluid",
    "friction",
    "gravity",
    "limits",
    "sensors",
    "springs",
    "tendons",
]
"""What `without` can leave out of a robot."""
EFFECTS = get_args(Effect)


def without(model: Model, *effects: str) -> Model:
    """The same robot with effects switched off.

    Arguments:
        effects: of "actuators", "armature", "compensation", "constraints", "contacts", "damping",
            "fluid", "friction", "gravity", "limits", "sensors", "springs", "tendons".
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
        constraints=() if "constraints" in effects else model.constraints,
        equipment=without_effects(model.equipment, effects),
        contacts=() if "contacts" in effects else model.contacts,
        bodies=tuple(
            replace(
                body,
                drive=replace(body.drive, **none),
                limits=Limits() if "limits" in effects else body.limits,
            )
            for body in model.bodies
        ),
    )


def constrain(model: Model, *constraints: Constraint) -> Model:
    """The same robot with more constraints.

    Arguments:
        constraints: of `kinetree.constraints`.
    """
    return replace(model, constraints=(*model.constraints, *constraints))


def collide(model: Model, *parts: Collider | ContactPair) -> Model:
    """The same robot with more colliders and pairs of them that can touch.

    Arguments:
        parts: colliders and pairs, in any order.
    """
    for part in parts:
        if not isinstance(part, (Collider, ContactPair)):
            raise ModelError(
                f"{part!r}: a Collider or a ContactPair of kinetree.geometry is expected"
            )
    colliders = [part for part in parts if isinstance(part, Collider)]
    pairs = [part for part in parts if isinstance(part, ContactPair)]
    return replace(
        model, colliders=(*model.colliders, *colliders), contacts=(*model.contacts, *pairs)
    )


def with_gravity(model: Model, gravity: Sequence[float]) -> Model:
    """The same robot in another gravity field.

    Arguments:
        gravity: the acceleration of free fall, m/s^2, in the world's axes; the moon's is
            (0, 0, -1.62).
    """
    return replace(model, gravity=given_vector("gravity", gravity))


def mounted(model: Model, pose: PoseLike) -> Model:
    """The same robot, its root link fixed at a pose in the world: on a table, a wall, a ceiling.

    Arguments:
        pose: of the root link, instead of an earlier one: a 4x4 matrix, a Transform, or its origin.
    """
    free = _floating_base(model)
    if free is not None:
        raise ModelError(
            f"robot {model.name!r} has a free base: its pose in the world is part of q, the "
            f"coordinates of joint {free.joint_name!r}; only a fixed base can be mounted"
        )
    at, description = given_transform(pose, "pose"), disassemble(model)
    root = root_name(description)
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
    part = below(description, description.links[carrier].name)
    outside = {c.name for c in description.connections} - {c.name for c in part.connections}
    for c in part.connections:
        if c.mimicry is not None and c.mimicry.joint in outside:
            raise ModelError(
                f"joint {c.name!r} mimics {c.mimicry.joint!r}, which is not in the subtree of "
                f"{link!r}: lock one of them first"
            )
    links, joints = {x.name for x in part.links}, {c.name for c in part.connections}
    kept = within(description.constraints, links, joints, f"the subtree of {link!r}")
    equipment = part_of(description.equipment, part, f"the subtree of {link!r}")
    return assemble(replace(part, constraints=kept, equipment=equipment), base=base)


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
    equipment = with_load(model, description.equipment, frame, load)
    return assemble(replace(description, links=links, equipment=equipment))


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


def add_frame(model: Model, name: str, parent: str, at: PoseLike = (0.0, 0.0, 0.0)) -> Model:
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
    at: PoseLike = (0.0, 0.0, 0.0),
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
            f"other={other!r}: a robot is expected; kinetree.load(...) loads one from a file"
        )
    if not (joint is None or isinstance(joint, Joint)):
        raise ModelError(f"joint={joint!r}: a joint of kinetree.joints is expected, or None")
    mine, theirs = disassemble(model), prefixed(_grounded(other), text("prefix", prefix))
    joints = {c.name for c in (*mine.connections, *([mine.root] if mine.root else []))}
    new_joints = {c.name for c in theirs.connections}
    _no_clash("link", {x.name for x in mine.links}, {x.name for x in theirs.links})
    _no_clash("joint", joints, new_joints)
    for what in ("constraint", "collider"):
        named = [{x.name for x in getattr(d, what + "s")} for d in (mine, theirs)]
        _no_clash(what, *named)
    parts = ({f"{x} {part.name}" for x, part in d.equipment.parts()} for d in (mine, theirs))
    mine_named, theirs_named = parts
    _no_clash("part", mine_named - {f"keyframe {REFERENCE}"}, theirs_named)
    root = root_name(theirs)
    mount = f"{root}_mount"
    if mount in joints | new_joints:
        raise ModelError(
            f"there already is a joint named {mount!r}: give the attached robot a prefix"
        )
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
            constraints=[*mine.constraints, *theirs.constraints],
            equipment=mine.equipment + theirs.equipment,
            colliders=[*mine.colliders, *theirs.colliders],
            contacts=[*mine.contacts, *theirs.contacts],
            unread=[*mine.unread, *theirs.unread],
        )
    )


def reroot(model: Model, link: str) -> Model:
    """The same robot with another of its links as the root.

    The joints between the old root and the new one keep their coordinates and are reversed. A fixed
    base is fixed at the new root's frame; a floating base floats there: the coordinates of its
    joint are then the pose of the new root. A robot floats if a link without mass is fixed to the
    world, or none, and all others hang on one joint of six degrees of freedom.

    Arguments:
        link: the name of a frame.
    """
    model.frame(link)
    description = disassemble(model)
    above = {c.child: c for c in description.connections}
    free = _floating_base(model)
    turned: dict[str, Connection] = {}
    at = link
    while at in above:
        c = above[at]
        if free is not None and c.name == free.joint_name:
            turned[c.name], root = _rooted(c, link), description.root
            break
        back = c.placement.inverse()
        # placement J(q) seen from the child: J^-1 placement^-1 = back (placement J^-1 back)
        joint = None if c.joint is None else c.joint.reversed().relocated(c.placement)
        limits = c.limits.reversed().relocated(c.placement.rotation)
        turned[c.name] = replace(
            c, parent=c.child, child=c.parent, placement=back, joint=joint, limits=limits
        )
        at = c.parent
    else:  # no free joint was reached
        description = closed_on_root(description)
        root = description.root and _rooted(description.root, link)
    connections = [turned.get(c.name, c) for c in description.connections]
    return assemble(replace(description, root=root, connections=connections))


def _rooted(free: Connection, link: str) -> Connection:
    """The joint of a free base whose root is another link."""
    if free.drive.stiffness and free.child != link:
        raise ModelError(
            f"the spring of joint {free.name!r} holds link {free.child!r}, and would hold {link!r} "
            "if that became the root; remove the spring first with without('springs')"
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


def _floating_base(model: Model) -> Body | None:
    """The body by which a robot floats in the world; None if the robot is fixed there.

    It floats if the world has no mass and carries nothing else that moves. Where several bodies
    hang on the world, their joints place them relative to one another.
    """
    hanging = [b for b in model.bodies if b.parent == WORLD]
    floats = len(hanging) == 1 and hanging[0].joint.nv == 6 and model.base_inertia.mass == 0
    return hanging[0] if floats else None


def _grounded(model: Model) -> Description:
    """A robot without its colliders in the world and the joint of its free base, if any."""
    description, free = disassemble(model), _floating_base(model)
    description = on_links(description, {x.name for x in description.links})
    if free is None:
        return closed_on_root(description)
    above = [c for c in (description.root, *description.connections) if c is not None]
    root = next(c.child for c in above if c.name == free.joint_name)
    fixed = {f.name: f.placement for f in model.frames if f.body == WORLD}
    kept = in_the_world(description.constraints, fixed)
    part = below(description, root)
    equipment = part_of(description.equipment, part, f"robot {model.name!r}")
    return replace(part, constraints=kept, equipment=equipment)
