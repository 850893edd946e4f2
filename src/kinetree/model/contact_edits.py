"""What becomes of colliders and contact pairs when a robot is edited."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from kinetree.model.description import Description
from kinetree.model.geometry import Collider, ContactPair
from kinetree.spatial import Transform

if TYPE_CHECKING:
    from kinetree.model.model import Model


def that_can_meet(model: Model, contacts: Iterable[ContactPair]) -> tuple[ContactPair, ...]:
    """The pairs between whose colliders something moves.

    Arguments:
        model: with colliders, without contacts.
        contacts: of the robot before, by the names of its colliders.
    """
    body = model.collider_bodies
    return tuple(c for c in contacts if body[c.first] != body[c.second])


def on_links(description: Description, links: Collection[str]) -> Description:
    """The same description with the colliders on some links alone, and the pairs among them.

    Arguments:
        description: of a robot.
        links: the names of the links.
    """
    kept = [c for c in description.colliders if c.frame in links]
    names = {c.name for c in kept}
    pairs = [c for c in description.contacts if {c.first, c.second} <= names]
    return replace(description, colliders=kept, contacts=pairs)


def world_on_link(colliders: Iterable[Collider], link: str, pose: Transform) -> list[Collider]:
    """The same colliders, those of the world on a link that is fixed in the world.

    Arguments:
        colliders: the colliders.
        link: its name.
        pose: of the link in the world.
    """
    return [
        replace(c, frame=link, at=pose.inverse() @ c.at) if c.frame is None else c
        for c in colliders
    ]
