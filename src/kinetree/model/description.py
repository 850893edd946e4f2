"""From links and joints, as a file lists them in any order, to a model.

Readers give each link and joint a `where` (file and line), so that errors in the tree name the
place in the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinetree.errors import ModelError, among, unknown
from kinetree.model.joints import Floating, Joint, Mimic
from kinetree.model.model import (
    STANDARD_GRAVITY,
    WORLD,
    Body,
    Drive,
    Frame,
    Limits,
    Model,
    Mount,
    Shape,
)
from kinetree.model.problem import Problem
from kinetree.spatial import Inertia, Transform, Vector3

ROOT_JOINT = "root_joint"
NO_DRIVE = Drive()
FREE = Limits()


@dataclass(frozen=True)
class Link:
    """A rigid part with its inertia in the link's frame."""

    name: str
    inertia: Inertia
    where: str = ""


@dataclass(frozen=True)
class Mimicry:
    """The joint that another follows: the follower's coordinate is multiplier q + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Connection:
    """A joint between two links; `joint` is None where it is fixed."""

    name: str
    parent: str
    child: str
    placement: Transform
    joint: Joint | None
    limits: Limits = FREE
    where: str = ""
    drive: Drive = NO_DRIVE
    mimicry: Mimicry | None = None


@dataclass(frozen=True)
class Description:
    """A robot as links and joints.

    root: the connection of the root link to the world; None if it is fixed at the world's origin.
    order: the joints whose coordinates come first, in their order.
    remarks: problems that a reader noticed and that do not prevent loading.
    gives_base: whether it says how the robot moves in the world, or leaves that to the user.
    """

    name: str
    links: Sequence[Link]
    connections: Sequence[Connection]
    root: Connection | None = None
    gravity: Vector3 = STANDARD_GRAVITY
    shapes: Sequence[Shape] = ()
    order: Sequence[str] = ()
    remarks: Sequence[Problem] = ()
    gives_base: bool = False


def assemble(
    description: Description,
    *,
    base: str | None = None,
    joints: Sequence[str] | None = None,
    locked: Mapping[str, float | Sequence[float]] | None = None,
) -> Model:
    """Build the model of a tree of links.

    Arguments:
        description: the links and joints.
        base: "fixed" puts the root link on the world, "floating" lets it move freely; by default
            as the description says.
        joints: the moving joints in the order of their coordinates.
        locked: joints to hold at a value; they become fixed.

    Returns:
        The model, bodies depth first, children in the alphabetical order of their joints' names.
    """
    if not among(base, (None, "fixed", "floating")):
        raise ModelError(f"base must be 'fixed' or 'floating', not {base!r}")
    by_name = _links_by_name(description.links)
    children = _children(by_name, description.connections)
    root = _root(description, children)
    made_root = Connection(
        ROOT_JOINT, "", root, Transform.identity(), Floating(), where=by_name[root].where
    )
    above_root = {None: description.root, "fixed": None, "floating": made_root}[base]
    connections = [*([above_root] if above_root else []), *description.connections]
    held = _held(description.name, connections, {} if locked is None else locked)
    copies = _copies(connections, held)

    bodies: list[Body] = []
    frames: list[Frame] = []
    inertias = {WORLD: Inertia.zero()}
    # the joint above a link, the link, the body that carries it, its pose there; the next one last
    pending: list[tuple[Connection | None, str, int, Transform]] = [
        (above_root, root, WORLD, Transform.identity())
    ]
    while pending:
        connection, link, carrier, pose = pending.pop()
        mount = None
        if connection is not None:
            mount = Mount(connection.parent, connection.placement, connection.name)
            pose = pose @ mount.placement
            joint = connection.joint
            if joint is not None and connection.name in held and connection is not made_root:
                standing = joint.transform(held[connection.name])
                mount = replace(mount, placement=mount.placement @ standing)
                pose = pose @ standing
            elif joint is not None:
                body = Body(
                    name=link,
                    joint_name=connection.name,
                    parent=carrier,
                    placement=pose,
                    joint=joint,
                    inertia=Inertia.zero(),
                    limits=connection.limits,
                    drive=connection.drive,
                    mount=mount,
                )
                bodies.append(body)
                carrier, pose = len(bodies) - 1, Transform.identity()
                inertias[carrier] = body.inertia
                mount = None
        inertias[carrier] = inertias[carrier] + pose.to_parent(by_name[link].inertia)
        frames.append(Frame(link, carrier, pose, mount))
        for below in reversed(children[link]):
            pending.append((below, below.child, carrier, pose))

    model = Model(
        description.name,
        tuple(_finished(bodies, inertias, copies)),
        tuple(frames),
        description.gravity,
        base_inertia=inertias[WORLD],
        shapes=tuple(description.shapes),
    )
    if joints is None and description.order:
        moving = {model.bodies[i].joint_name: None for i in model.coordinate_order}
        first = [name for name in description.order if name in moving]
        joints = list(dict.fromkeys([*first, *moving]))
    return model if joints is None else model.reordered(joints)


def _finished(
    bodies: list[Body], inertias: Mapping[int, Inertia], copies: Mapping[str, Mimicry]
) -> Iterable[Body]:
    """The bodies with their inertias; bodies whose joints are mimics follow others."""
    number = {body.joint_name: i for i, body in enumerate(bodies)}
    for i, body in enumerate(bodies):
        copy = copies.get(body.joint_name)
        if copy is None:
            yield replace(body, inertia=inertias[i])
        else:
            yield replace(
                body,
                inertia=inertias[i],
                joint=Mimic(body.joint, copy.multiplier, copy.offset),
                follows=number[copy.joint],
            )


def _copies(
    connections: Sequence[Connection], held: dict[str, tuple[float, ...]]
) -> dict[str, Mimicry]:
    """The moving joint that each mimic follows, through chains of mimics.

    A joint that follows a locked one is locked, too, and added to `held`.
    """
    by_name = {c.name: c for c in connections}
    copies: dict[str, Mimicry] = {}
    for c in connections:
        # up to the first leader that is known or moves by itself, and down again
        chain: dict[str, tuple[Connection, Mimicry]] = {}
        at = c
        while at.joint and at.mimicry and at.name not in held and at.name not in copies:
            if at.name in chain:
                raise ModelError(f"{c.where}: joint {c.name!r} mimics itself through {at.name!r}")
            chain[at.name] = at, at.mimicry
            at = _leader(at, at.joint, at.mimicry.joint, by_name)
        for follower, mimicry in reversed(chain.values()):
            _follow(follower, mimicry, held, copies)
    return copies


def _leader(
    c: Connection, joint: Joint, name: str, by_name: Mapping[str, Connection]
) -> Connection:
    """The joint that another names as the one it mimics."""
    leader = by_name.get(name)
    if leader is None:
        known = unknown("joint", name, by_name, "the file")
        raise ModelError(f"{c.where}: joint {c.name!r} mimics {name!r}: {known}")
    if leader.joint is None or leader.joint.nq != 1 or joint.nq != 1:
        raise ModelError(
            f"{c.where}: joint {c.name!r} mimics {name!r}: both must move with one coordinate"
        )
    return leader


def _follow(
    c: Connection,
    mimicry: Mimicry,
    held: dict[str, tuple[float, ...]],
    copies: dict[str, Mimicry],
) -> None:
    """Enter a mimic in `held` if its leader is there, otherwise in `copies`."""
    ratio, offset = mimicry.multiplier, mimicry.offset
    if mimicry.joint in held:
        value = ratio * held[mimicry.joint][0] + offset
        if not math.isfinite(value):
            raise ModelError(
                f"{c.where}: joint {c.name!r} mimics {mimicry.joint!r}, which is locked: its own "
                f"coordinate, {ratio:g} times that plus {offset:g}, is too large for a number"
            )
        held[c.name] = (value,)
    elif mimicry.joint in copies:
        above = copies[mimicry.joint]
        offset += ratio * above.offset
        copies[c.name] = Mimicry(above.joint, ratio * above.multiplier, offset)
    else:
        copies[c.name] = mimicry


def _links_by_name(links: Sequence[Link]) -> dict[str, Link]:
    by_name: dict[str, Link] = {}
    for link in links:
        if link.name in by_name:
            raise ModelError(
                f"{link.where}: a second link is named {link.name!r}; "
                f"the first is at {by_name[link.name].where}"
            )
        by_name[link.name] = link
    return by_name


def _children(
    links: Mapping[str, Link], connections: Sequence[Connection]
) -> dict[str, list[Connection]]:
    """The connections below each link, by joint name; every link has at most one above."""
    children: dict[str, list[Connection]] = {link: [] for link in links}
    names: dict[str, Connection] = {}
    above: dict[str, Connection] = {}
    for c in connections:
        if c.name in names:
            raise ModelError(
                f"{c.where}: a second joint is named {c.name!r}; "
                f"the first is at {names[c.name].where}"
            )
        names[c.name] = c
        for role, link in (("parent", c.parent), ("child", c.child)):
            if link not in links:
                known = unknown("link", link, links, "the file")
                raise ModelError(f"{c.where}: the {role} of joint {c.name!r}: {known}")
        if c.child in above:
            raise ModelError(
                f"{c.where}: link {c.child!r} is the child of two joints, {c.name!r} and "
                f"{above[c.child].name!r}: an open chain gives each link one parent"
            )
        above[c.child] = c
        children[c.parent].append(c)
    for below in children.values():
        below.sort(key=lambda c: c.name)
    return children


def _root(description: Description, children: Mapping[str, list[Connection]]) -> str:
    """The one link without a parent, from which every other link is reached."""
    name, links, connections = description.name, description.links, description.connections
    if not links:
        raise ModelError(f"robot {name!r} has no link: at least one is expected")
    has_parent = {c.child for c in connections}
    roots = [link for link in links if link.name not in has_parent]
    if len(roots) > 1:
        listed = ", ".join(f"{r.name!r} ({r.where})" for r in roots[:4])
        raise ModelError(
            f"robot {name!r} has {len(roots)} roots, {listed}: "
            "one link without a parent is expected"
        )
    reached = {roots[0].name} if roots else set()
    pending = list(reached)
    while pending:
        for c in children[pending.pop()]:
            reached.add(c.child)
            pending.append(c.child)
    for c in connections:
        if c.child not in reached:
            raise ModelError(
                f"{c.where}: joint {c.name!r} is part of a loop: following parents from link "
                f"{c.child!r} never reaches a root"
            )
    return roots[0].name


def _held(
    name: str,
    connections: Iterable[Connection],
    locked: Mapping[str, float | Sequence[float]],
) -> dict[str, tuple[float, ...]]:
    """The coordinates of the locked joints."""
    if not isinstance(locked, Mapping):
        raise ModelError(
            f"locked joints are given as {locked!r}: names with the values at which to hold them "
            "are expected, such as {'elbow': 0.5}"
        )
    moving = {c.name: c.joint for c in connections if c.joint is not None}
    held: dict[str, tuple[float, ...]] = {}
    for joint_name, value in locked.items():
        joint = moving.get(joint_name)
        if joint is None:
            raise unknown("moving joint", joint_name, moving, f"robot {name!r}")
        values = _values(joint_name, value)
        if len(values) != joint.nq:
            raise ModelError(
                f"joint {joint_name!r} is locked with {len(values)} values; it has {joint.nq}"
            )
        try:
            held[joint_name] = tuple(joint.coordinates(values))
        except ValueError as e:
            raise ModelError(f"joint {joint_name!r} is locked at {value!r}: {e}") from None
    return held


def _values(joint_name: str, value: object) -> tuple[float, ...]:
    """One number or several, all finite."""
    try:
        values = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError, OverflowError):
        values = np.array([np.nan])
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ModelError(
            f"joint {joint_name!r} is locked at {value!r}: a finite number is expected, "
            "or a list of them"
        )
    return tuple(values.tolist())
