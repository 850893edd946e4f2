"""From links and joints to a model: tree checks, order, fixed, locked and mimic joints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinetree.errors import ModelError, among, unknown
from kinetree.model.constraint_edits import remaining
from kinetree.model.contact_edits import that_can_meet
from kinetree.model.description import ROOT_JOINT, Connection, Description, Link, Mimicry
from kinetree.model.equipment import NOTHING
from kinetree.model.equipment_edits import without_held
from kinetree.model.joints import Floating, Joint, Mimic
from kinetree.model.model import WORLD, Body, Frame, Model, Mount
from kinetree.spatial import Inertia, Transform


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
    parts = _Parts(by_name, held, made_root)
    _walk(parts, children, above_root, root)
    model = Model(
        description.name,
        tuple(_finished(parts.bodies, parts.inertias, copies)),
        tuple(parts.frames),
        description.gravity,
        base_inertia=parts.inertias[WORLD],
        shapes=tuple(description.shapes),
        colliders=tuple(description.colliders),
        contact_options=description.contact_options,
        unread=tuple(description.unread),
    )
    if description.constraints:
        kept = remaining(model, description.constraints, held, copies)
        model = replace(model, constraints=kept)
    if description.equipment != NOTHING:
        model = replace(model, equipment=without_held(description.equipment, held))
    if description.contacts:
        model = replace(model, contacts=that_can_meet(model, description.contacts))
    order = _order(model, description.order) if joints is None else joints
    return model if order is None else model.reordered(order)


class _Parts:
    """The bodies and frames of a model, added link by link from the root to the tips.

    Arguments:
        links: by name.
        held: coordinates of the joints that are locked.
        made_root: the floating joint above the root, which is never locked.
    """

    def __init__(
        self,
        links: Mapping[str, Link],
        held: Mapping[str, tuple[float, ...]],
        made_root: Connection,
    ) -> None:
        self._links, self._held, self._made_root = links, held, made_root
        self.bodies: list[Body] = []
        self.frames: list[Frame] = []
        self.inertias = {WORLD: Inertia.zero()}

    def add(
        self, connection: Connection | None, link: str, carrier: int, pose: Transform
    ) -> tuple[int, Transform]:
        """Add a link.

        Arguments:
            connection: the joint above it; None at the world.
            link: its name.
            carrier: the body that carries the connection's parent.
            pose: of the connection's parent in that body.

        Returns:
            The body that carries the link, and the link's pose in it.
        """
        mount = None
        if connection is not None:
            mount = Mount(connection.parent, connection.placement, connection.name)
            pose = pose @ mount.placement
            standing = self._standing(connection)
            if standing is not None:
                mount = replace(mount, placement=mount.placement @ standing)
                pose = pose @ standing
            elif connection.joint is not None:
                carrier = self._add_body(connection, connection.joint, carrier, pose, mount)
                pose, mount = Transform.identity(), None
        self.inertias[carrier] = self.inertias[carrier] + pose.to_parent(self._links[link].inertia)
        self.frames.append(Frame(link, carrier, pose, mount))
        return carrier, pose

    def _standing(self, connection: Connection) -> Transform | None:
        """The pose in which a locked joint is held; None if it moves or is fixed anyway."""
        locked = connection.name in self._held and connection is not self._made_root
        if connection.joint is None or not locked:
            return None
        return connection.joint.transform(self._held[connection.name])

    def _add_body(
        self, connection: Connection, joint: Joint, parent: int, placement: Transform, mount: Mount
    ) -> int:
        """Add the body that a joint moves; its number."""
        body = Body(
            name=connection.child,
            joint_name=connection.name,
            parent=parent,
            placement=placement,
            joint=joint,
            inertia=Inertia.zero(),
            limits=connection.limits,
            drive=connection.drive,
            mount=mount,
            softness=connection.softness,
        )
        self.bodies.append(body)
        number = len(self.bodies) - 1
        self.inertias[number] = body.inertia
        return number


def _walk(
    parts: _Parts,
    children: Mapping[str, Sequence[Connection]],
    above_root: Connection | None,
    root: str,
) -> None:
    """Add all links, depth first, each after its parent."""
    # the joint above a link, the link, the body that carries its parent, the parent's pose there;
    # the next one last
    pending: list[tuple[Connection | None, str, int, Transform]] = [
        (above_root, root, WORLD, Transform.identity())
    ]
    while pending:
        connection, link, carrier, pose = pending.pop()
        carrier, pose = parts.add(connection, link, carrier, pose)
        for below in reversed(children[link]):
            pending.append((below, below.child, carrier, pose))


def _order(model: Model, first: Sequence[str]) -> list[str] | None:
    """The moving joints, those that a description names first; None if it names none."""
    if not first:
        return None
    moving = {model.bodies[i].joint_name: None for i in model.coordinate_order}
    named = [name for name in first if name in moving]
    return list(dict.fromkeys([*named, *moving]))


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
            f"{c.where}: joint {c.name!r} mimics {name!r}: both must have exactly one coordinate"
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
                f"coordinate, {ratio:g} times that plus {offset:g}, overflows"
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
            f"locked joints must be a mapping of names to values, such as {{'elbow': 0.5}}, got "
            f"{locked!r}"
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
