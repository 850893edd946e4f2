"""The numbers of a contact sensor: the net contact, or the first contacts by rank, one a slot.

Source: as of `contact_slots`.

    symbol    code    meaning
    c         centre  sum |f| p / sum |f|

Cost: O(k n) for k slots and n possible contacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.contact.touch import length_of
from kinetree.model.sensors import Watch
from kinetree.scalar import Scalar, absolute, less, maximum, select
from kinetree.spatial import Vector3

TINY = 1e-15
"""N: the least force by which a centre is divided, as in MuJoCo."""
LAST = 1e300
"""The rank of a contact that does not count, or is shown already."""
WORLD = (Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0))


class Shown(NamedTuple):
    """A contact as a sensor shows it.

    acts: whether it counts.
    """

    acts: Scalar
    distance: Scalar
    point: Vector3
    axes: tuple[Vector3, Vector3, Vector3]
    force: Vector3
    torque: Vector3

    def numbers(self, fields: Sequence[str], found: Scalar) -> list[Scalar]:
        """Its numbers for these fields."""
        values: dict[str, Sequence[Scalar]] = {
            "found": (found,),
            "force": tuple(self.force),
            "torque": tuple(self.torque),
            "dist": (self.distance,),
            "pos": tuple(self.point),
            "normal": tuple(self.axes[0]),
            "tangent": tuple(self.axes[1]),
        }
        return [x for field in fields for x in values[field]]


def net(contacts: Sequence[Shown]) -> Shown:
    """All contacts as one."""
    zero = Vector3(0.0, 0.0, 0.0)
    centre, total, forces, torques = zero, 0.0, zero, zero
    loads = []
    for x in contacts:
        force = Vector3(*(select(x.acts, y, 0.0) for y in x.force))
        torque = Vector3(*(select(x.acts, y, 0.0) for y in x.torque))
        weight = length_of(force)
        centre, total = centre + x.point * weight, total + weight
        loads.append((x, force, torque))
    centre = centre * (1.0 / maximum(total, TINY))
    for x, force, torque in loads:
        push, twist = _along(x.axes, force), _along(x.axes, torque)
        forces = forces + push
        torques = torques + twist + (x.point - centre).cross(push)
    return Shown(less(0.0, total), 0.0, centre, WORLD, forces, torques)


def _along(axes: Sequence[Vector3], f: Vector3) -> Vector3:
    n, t, u = axes
    return n * f.x + t * f.y + u * f.z


def first_ones(contacts: Sequence[Shown], watch: Watch, found: Scalar) -> list[Scalar]:
    """The contacts that come first by the criterion, one a slot."""
    if watch.reduce == "maxforce":
        ranks: list[Scalar] = [-x.force.dot(x.force) for x in contacts]
    elif watch.reduce == "mindist":
        ranks = [x.distance for x in contacts]
    else:
        ranks = [float(k) for k in range(len(contacts))]
    ranks = [select(x.acts, rank, LAST) for x, rank in zip(contacts, ranks, strict=True)]
    shown: list[Scalar] = []
    for _ in range(watch.slots):
        best, at = ranks[0], 0.0 * found
        numbers = contacts[0].numbers(watch.fields, found)
        for k, x in enumerate(contacts[1:], 1):
            better = less(ranks[k], best)
            best, at = select(better, ranks[k], best), select(better, float(k), at)
            own = x.numbers(watch.fields, found)
            numbers = [select(better, a, b) for a, b in zip(own, numbers, strict=True)]
        some = less(best, LAST)
        shown += [select(some, x, 0.0) for x in numbers]
        ranks = [select(less(absolute(at - k), 0.5), LAST, rank) for k, rank in enumerate(ranks)]
    return shown
