"""Checks of a model's colliders and contact pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.errors import ModelError, among, unknown
from kinetree.model.geometry import Collider, ContactPair
from kinetree.model.validity import check_finite

if TYPE_CHECKING:
    from kinetree.model.model import Model


def check_colliders(model: Model) -> None:
    """Refuse colliders of one name, and colliders on frames that do not exist.

    Arguments:
        model: the model.
    """
    seen: set[str] = set()
    for c in model.colliders:
        if not isinstance(c, Collider):
            raise ModelError(f"collider {c!r}: a kinetree.geometry.Collider is expected")
        if c.name in seen:
            raise ModelError(f"two colliders are named {c.name!r}: names must be unique")
        seen.add(c.name)
        if c.frame is not None and not among(c.frame, model.frame_numbers):
            missing = unknown("frame", c.frame, model.frame_numbers, f"robot {model.name!r}")
            raise ModelError(f"collider {c.name!r}: {missing}")
        check_finite(c.at, f"the pose of collider {c.name!r}")


def check_contacts(model: Model) -> None:
    """Refuse pairs of what does not exist, or between whose colliders nothing moves.

    Arguments:
        model: the model.
    """
    bodies = model.collider_bodies
    seen: set[frozenset[str]] = set()
    for pair in model.contacts:
        if not isinstance(pair, ContactPair):
            raise ModelError(f"contact {pair!r}: a kinetree.geometry.ContactPair is expected")
        where = f"contact pair {pair.name!r}"
        names = frozenset((pair.first, pair.second))
        for name in (pair.first, pair.second):
            if name not in bodies:
                missing = unknown("collider", name, bodies, f"robot {model.name!r}")
                raise ModelError(f"{where}: {missing}")
        if len(names) == 1:
            raise ModelError(f"{where}: a collider cannot touch itself; name two of them")
        if names in seen:
            raise ModelError(f"{where} is given twice: each two colliders form one pair")
        seen.add(names)
        body = bodies[pair.first]
        if body == bodies[pair.second]:
            fixed = "the world" if body < 0 else f"body {model.bodies[body].name!r}"
            raise ModelError(f"{where}: both are fixed in {fixed}: nothing moves between them")
