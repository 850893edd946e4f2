"""Sensors of contacts: their number, and the forces and places of some of them.

Source: MuJoCo's documentation, "Sensors", whose conventions these are: forces are along the normal
and two tangents, and the normal points from the first side to the second. A net force is in the
world's axes, about the centre of the contacts weighted by their forces.

    symbol    code    meaning
    n, t, u   axes    the axes of a contact
    f, m      force torque

Cost: O(k n) for k slots and n possible contacts.
"""

from __future__ import annotations

from typing import Any

from kinetree.algorithms.contact.given_accelerations import Push
from kinetree.algorithms.rays import ray
from kinetree.algorithms.sensing.contact_shown import WORLD, Shown, first_ones, net
from kinetree.algorithms.sensing.situation import Situation
from kinetree.model.geometry import ContactPair
from kinetree.model.sensors import Sensor, Watch
from kinetree.scalar import Scalar, less, logical_and, select
from kinetree.spatial import Vector3


def contact_slots(s: Situation, sensor: Sensor) -> Any:
    """The numbers of every slot."""
    watch = sensor.watch
    assert watch is not None
    contacts = [_seen(s, sensor, *x) for x in _watched(s, watch)]
    found: Scalar = 0.0
    for x in contacts:
        found = found + select(x.acts, 1.0, 0.0)
    blank = [0.0] * (len(watch.labels) // watch.slots)
    if not contacts:
        return blank * watch.slots
    if watch.reduce == "netforce":
        numbers = net(contacts).numbers(watch.fields, found)
        any_ = less(0.0, found)
        return [select(any_, x, 0.0) for x in numbers] + blank * (watch.slots - 1)
    return first_ones(contacts, watch, found)


def _watched(s: Situation, watch: Watch) -> list[tuple[Push, bool]]:
    """The contacts that may count, in the order of the pairs, and whether each is reversed."""

    def turned(pair: ContactPair) -> bool | None:
        for one, two, reverse in (
            (pair.first, pair.second, False),
            (pair.second, pair.first, True),
        ):
            if _is_on(one, watch.first) and _is_on(two, watch.second):
                return reverse
        return None

    pairs = {(x.first, x.second): (k, turned(x)) for k, x in enumerate(s.model.contacts)}
    pushes = s.soft().pushes(lambda pair: turned(pair) is not None)
    found = [(*pairs[x.first.name, x.second.name], x) for x in pushes]
    return [(push, bool(reverse)) for _, reverse, push in sorted(found, key=lambda x: x[0])]


def _is_on(collider: str, side: tuple[str, ...] | None) -> bool:
    return side is None or collider in side


def _seen(s: Situation, sensor: Sensor, push: Push, turned: bool) -> Shown:
    """A contact from the first side."""
    f = [*push.f, *[0.0] * (6 - len(push.f))]
    n, t, u = push.axes
    acts = push.acts
    for zone in sensor.shapes:
        X = s.posture.pose(zone.frame) @ zone.at if zone.frame is not None else zone.at
        acts = logical_and(acts, _inside(zone.shape, X, push.touch.point))
    if turned:
        n, t, f = -n, -t, [f[0], f[1], -f[2], f[3], f[4], -f[5]]
    force, torque = Vector3(*f[:3]), Vector3(*f[3:])
    return Shown(acts, push.touch.distance, push.touch.point, (n, t, u), force, torque)


def _inside(shape: Any, X: Any, p: Vector3) -> Scalar:
    """Whether a point is in a convex zone: from inside, rays both ways meet the surface."""
    meets = [less(0.0, ray(shape, X, p, d)) for d in (WORLD[2], -WORLD[2])]
    return logical_and(*meets)
