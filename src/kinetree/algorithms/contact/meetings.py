"""Couples of bodies that can touch: their touches at a state, and their relative velocity there.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 11.1, for the velocity of
one body relative to another at a contact.

    symbol    code        meaning
    o         o           the point at which motions are taken
    V         V           the velocity of the second body relative to the first, there

Of many couples few touch. The data of two bodies is computed where bounding spheres of two of their
shapes overlap, and their rows where shapes touch.

Cost: O(d) for each column of a couple, and that of its pairs of shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kinetree.algorithms.contact.branches import at_once, guarded
from kinetree.algorithms.contact.contact_rows import Meeting
from kinetree.algorithms.contact.couple import Couple
from kinetree.algorithms.contact.crowd import crowd_of
from kinetree.algorithms.contact.joint_rows import Entry
from kinetree.algorithms.contact.latent_crowd import latent_crowd_of
from kinetree.algorithms.contact.latent_meetings import LatentMeetings
from kinetree.algorithms.contact.relative import (
    Link,
    merged,
    relative_columns,
    way,
)
from kinetree.algorithms.contact.touch import Touch
from kinetree.algorithms.tree import along
from kinetree.model import Model
from kinetree.model.geometry import ContactPair
from kinetree.model.model import WORLD
from kinetree.scalar import Scalar
from kinetree.spatial import Vector3

FEW = 4
"""Up to this number, all couples are computed in every state: branches would not pay off."""


def couples(model: Model) -> dict[tuple[int, int], list[ContactPair]]:
    """The pairs that can touch, by the indices of their bodies; those with the world first."""
    groups: dict[tuple[int, int], list[ContactPair]] = {}
    for pair in model.contacts:
        first, second = (model.collider_bodies[x] for x in (pair.first, pair.second))
        if first != second:
            groups.setdefault((first, second), []).append(pair)
    return dict(sorted(groups.items(), key=lambda group: WORLD not in group[0]))


class Meetings(LatentMeetings):
    """The couples of a robot at a state."""

    def entries(self) -> Iterator[Entry]:
        """Each couple, with the velocities that move it, and whether it touches."""
        groups = couples(self.model)
        if len(groups) <= FEW:
            yield from (self._entry(*x, pairs, branches=False) for x, pairs in groups.items())
            return
        apart = {x: pairs for x, pairs in groups.items() if WORLD not in x}
        if len(apart) < len(groups):
            grounded = (x for x in groups.items() if x[0] not in apart)
            yield crowd_of([self._entry(*x, pairs, branches=True) for x, pairs in grounded])
        if apart:
            bodies = [Link(*body, 1.0) for body in zip(self._X0, self._Phi, strict=True)]
            latent = [self.latent(*x, pairs) for x, pairs in apart.items()]
            yield latent_crowd_of(bodies, self._qd, latent)

    def _entry(
        self, first: int, second: int, pairs: Sequence[ContactPair], *, branches: bool
    ) -> tuple[tuple[int, ...], Couple, Scalar]:
        found, near = self._found(pairs, branches)
        run: Callable[..., Any] = guarded(near) if branches else at_once
        at, links = way(self.model, self._X0, self._Phi, first, second)
        o = _origin(links, [touch for _, own in found for touch in own])
        columns = merged(at, run(relative_columns, links, o))
        V = run(along, list(columns.values()), [self._qd[k] for k in columns])
        contacts = [
            run(self.contact(pair), Meeting(touch, touch.point - o, V, A, *numbers))
            for pair, own in found
            for numbers in [self._laws.numbers(pair)]
            for A in [self._weights.of_pair(*self._sides(pair))[0]]
            for touch in own
        ]
        return tuple(columns), Couple(list(columns.values()), contacts), near


def _origin(links: Sequence[Link], touches: Sequence[Touch]) -> Vector3:
    """o: the point at which columns and wrenches have most zeros.

    With a single touch it is that point, where its wrenches have no moment. Otherwise it is the
    joint next to the base, where this joint's columns, six if it floats, have no moment arm.
    """
    return touches[0].point if len(touches) == 1 else links[-1].X.translation
