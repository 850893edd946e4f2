"""From a model back to links and joints: the inverse of `assemble`, for writers and editing."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kinetree.errors import ModelError
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.model import WORLD, Body, Frame, Model
from kinetree.spatial import Inertia, Transform


def disassemble(model: Model) -> Description:
    """The links and joints from which `assemble` builds the same model.

    The root is a single body that moves freely in a world without frames, or a link that is mounted
    in the world. Links behind fixed joints are part of their bodies: they are returned as links
    without inertia, each fixed to its body.
    """
    link_names = {f.name for f in model.frames}
    frames: dict[int, list[Frame]] = {i: [] for i in range(WORLD, len(model.bodies))}
    for frame in model.frames:
        frames[frame.body].append(frame)
    link_of: dict[int, str] = {}  # the link whose frame is the body's
    for i, body in enumerate(model.bodies):
        home = body.name in (f.name for f in frames[i] if f.placement == Transform.identity())
        link_of[i] = body.name if home else fresh(body.name, link_names)
        link_names.add(link_of[i])
    hanging = [i for i, body in enumerate(model.bodies) if body.parent == WORLD]
    alone = len(hanging) == 1 and not frames[WORLD] and model.bodies[hanging[0]].joint.nv == 6
    mounted = [f for f in frames[WORLD] if _is_root(f)]
    at = mounted[0].placement if mounted else Transform.identity()
    homes = mounted or [f for f in frames[WORLD] if f.placement == at]
    link_of[WORLD] = homes[0].name if homes else "" if alone else fresh("world", link_names)

    links = [Link(link_of[i], body.inertia) for i, body in enumerate(model.bodies)]
    if not alone:
        inertia = model.base_inertia
        links.append(Link(link_of[WORLD], at.inverse().to_parent(inertia) if mounted else inertia))
    connections = [_connection(model, i, link_of, at) for i in range(len(model.bodies))]
    root = connections.pop(hanging[0]) if alone else None
    if mounted and mounted[0].mount:
        root = Connection(mounted[0].mount.joint_name, "", link_of[WORLD], at, None)
    joint_names = {c.name for c in connections}
    for carrier, fixed in frames.items():
        for frame in fixed:
            if frame.name == link_of[carrier]:
                continue
            link, placement = _place(model, frame, carrier, link_of, at)
            known = frame.mount.joint_name if frame.mount else ""
            name = fresh(known or f"{frame.name}_fixed", joint_names)
            joint_names.add(name)
            links.append(Link(frame.name, Inertia.zero()))
            connections.append(Connection(name, link, frame.name, placement, None))

    order = model.coordinate_order
    return Description(
        model.name,
        links,
        connections,
        root,
        model.gravity,
        model.shapes,
        () if list(order) == sorted(order) else [model.bodies[i].joint_name for i in order],
        constraints=model.constraints,
        equipment=model.equipment,
        colliders=model.colliders,
        contacts=model.contacts,
        contact_options=model.contact_options,
        unread=model.unread,
    )


def fresh(name: str, taken: Collection[str]) -> str:
    """A name that is not taken: this one, or this one with a number."""
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name}_{count}"
    return unique


def _is_root(frame: Frame) -> bool:
    """Whether a frame of the world is that of a root link mounted there."""
    mount = frame.mount
    return mount is not None and mount.link == "" and mount.placement == frame.placement


def _connection(model: Model, i: int, link_of: Mapping[int, str], at: Transform) -> Connection:
    """The joint of a body."""
    body = model.bodies[i]
    joint, mimicry = body.joint, None
    if body.joint.has_varying_ratio:
        raise ModelError(
            f"joint {body.joint_name!r} of robot {model.name!r} follows others as a loop demands: "
            "edit or write the robot with its constraints, and embed them afterwards"
        )
    if body.follows is not None:
        joint, ratio, offset = body.joint.transmission
        mimicry = Mimicry(model.bodies[body.follows].joint_name, ratio, offset)
    link, placement = _place(model, body, body.parent, link_of, at)
    return Connection(
        body.joint_name,
        link,
        link_of[i],
        placement,
        joint,
        body.limits,
        drive=body.drive,
        mimicry=mimicry,
        softness=body.softness,
    )


def _place(
    model: Model, part: Body | Frame, carrier: int, link_of: Mapping[int, str], at: Transform
) -> tuple[str, Transform]:
    """The link that carries a body or frame, and the pose there: as mounted, if that still holds.

    at: the pose in the world of the link that stands for it.
    """
    mount = part.mount
    if mount is not None and mount.link in model.frame_numbers:
        link = model.frame(mount.link)
        if link.body == carrier and link.placement @ mount.placement == part.placement:
            return mount.link, mount.placement
    moved = carrier == WORLD and at != Transform.identity()
    return link_of[carrier], at.inverse() @ part.placement if moved else part.placement
