"""Parts of a robot's description, and the same description under other names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kinetree.model.constraint_edits import on_link
from kinetree.model.contact_edits import on_links, world_on_link
from kinetree.model.description import Connection, Description
from kinetree.spatial import Transform


def below(description: Description, root: str) -> Description:
    """The part of a robot that hangs on a link, that included."""
    kept = {root, *(c.child for c in _from_root(description, root))}
    connections = [c for c in description.connections if c.parent in kept]
    joints = {c.name for c in connections}
    return replace(
        on_links(description, kept),
        root=None,
        links=[x for x in description.links if x.name in kept],
        connections=connections,
        shapes=[s for s in description.shapes if s.link in kept],
        order=[name for name in description.order if name in joints],
    )


def root_name(description: Description) -> str:
    """The name of the link without a parent."""
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


def prefixed(description: Description, prefix: str) -> Description:
    """The same robot with a prefix before each name, without the joint above its root."""

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
        constraints=[c.renamed(prefix) for c in description.constraints],
        equipment=description.equipment.mapped(lambda part: part.renamed(prefix)),
        colliders=[c.renamed(prefix) for c in description.colliders],
        contacts=[c.renamed(prefix) for c in description.contacts],
        unread=[x.renamed(prefix) for x in description.unread],
    )


def closed_on_root(description: Description) -> Description:
    """The same robot, what refers to the world on its root link instead if that is fixed."""
    root = description.root
    if root is not None and root.joint is not None:
        return description
    at = Transform.identity() if root is None else root.placement
    root_link = root_name(description)
    return replace(
        description,
        constraints=on_link(description.constraints, root_link, at),
        colliders=world_on_link(description.colliders, root_link, at),
    )
