"""Couples of bodies that can touch: where they touch at a state, and how they move there.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 11.1, for the velocity of
one body relative to another at a contact.

    symbol    code        meaning
    o         o           the point of the second body at which motions are taken
    V         V           the velocity of the second body relative to the first, there

Of many couples few touch. What two bodies have in common is computed where the balls around two of
their shapes meet, and their rows where shapes touch.

Cost: O(d) for each column of a couple, and that of its pairs of shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kinetree.algorithms.contact.branches import at_once, guarded
from kinetree.algorithms.contact.contact_rows import ContactLaws, Meeting, fixed_numbers, reach
from kinetree.algorithms.contact.couple import Contact, Couple
from kinetree.algorithms.contact.crowd import crowd_of
from kinetree.algorithms.contact.joint_rows import Entry
from kinetree.algorithms.contact.latent import latent_kind, unplaced
from kinetree.algorithms.contact.latent_crowd import Apart, Recipe, latent_crowd_of
from kinetree.algorithms.contact.of_robot import collider_poses
from kinetree.algorithms.contact.relative import (
    Link,
    merged,
    relative_columns,
    signed_way,
    velocities,
    way,
)
from kinetree.algorithms.contact.touch import FAR, Touch
from kinetree.algorithms.contact.touches import touches
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.tree import along, body_poses, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.model.geometry import Collider, ContactPair
from kinetree.model.model import WORLD
from kinetree.scalar import Scalar, call_if, less, logical_or
from kinetree.spatial import Rotation, Transform, Vector3

FEW = 4
"""As many couples are computed in every state: branches would cost more than they save."""


def couples(model: Model) -> dict[tuple[int, int], list[ContactPair]]:
    """The pairs that can touch, by the numbers of their bodies; those with the world first."""
    groups: dict[tuple[int, int], list[ContactPair]] = {}
    for pair in model.contacts:
        first, second = (model.collider_bodies[x] for x in (pair.first, pair.second))
        if first != second:
            groups.setdefault((first, second), []).append(pair)
    return dict(sorted(groups.items(), key=lambda group: WORLD not in group[0]))


class Meetings:
    """The couples of a robot at a state.

    Arguments:
        laws: how contacts push.
    """

    def __init__(
        self,
        model: Model,
        q: Sequence[Scalar],
        qd: Sequence[Scalar],
        weights: InverseWeights,
        laws: ContactLaws,
    ) -> None:
        self.model, self._qd, self._weights, self._laws = model, qd, weights, laws
        self._X0 = [_plain(X) for X in body_poses(model, parent_transforms(model, q))]
        self._X = {name: _plain(X) for name, X in collider_poses(model, self._X0).items()}
        self._Phi = subspaces(model, q)
        self._colliders = {collider.name: collider for collider in model.colliders}
        self._functions: dict[Any, Callable[..., Any]] = {}

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
            latent = [self._latent(*x, pairs) for x, pairs in apart.items()]
            yield latent_crowd_of(bodies, self._qd, latent)

    def _entry(
        self, first: int, second: int, pairs: Sequence[ContactPair], *, branches: bool
    ) -> tuple[tuple[int, ...], Couple, Scalar]:
        found, near = self._found(pairs, branches)
        run: Callable[..., Any] = guarded(near) if branches else at_once
        o = self._X0[second if second != WORLD else first].translation
        at, links = way(self.model, self._X0, self._Phi, first, second)
        columns = merged(at, run(relative_columns, links, o))
        V = run(along, list(columns.values()), [self._qd[k] for k in columns])
        contacts = [
            run(self._contact(pair), Meeting(touch, o, V, A, *self._laws.numbers(pair)))
            for pair, own in found
            for A in [self._weights.of_pair(*self._sides(pair))[0]]
            for touch in own
        ]
        return tuple(columns), Couple(list(columns.values()), contacts), near

    def _latent(self, first: int, second: int, pairs: Sequence[ContactPair]) -> Apart:
        """Two bodies that seldom touch each other."""
        found, near = self._found(pairs, branches=True)
        meets, functions = [], []
        for pair, own in found:
            A = self._weights.of_pair(*self._sides(pair))[0]
            meets += [unplaced(touch, A, *self._laws.numbers(pair)) for touch in own]
            functions += [(self._contact(pair), pair.condim)] * len(own)
        steps = signed_way(self.model, first, second)
        at = [k for i, _ in steps for k in velocities(self.model, i)]
        order = tuple(dict.fromkeys(at))
        key = ("latent", tuple(order.index(k) for k in at), *functions)
        kind = self._functions.setdefault(key, latent_kind(at, functions))
        return Apart(order, Recipe(kind, steps, second), meets, near)

    def _found(
        self, pairs: Sequence[ContactPair], branches: bool
    ) -> tuple[list[tuple[ContactPair, list[Touch]]], Scalar]:
        """Where pairs touch, and whether one of them does."""
        found = [(pair, self._touches(pair, branches)) for pair in pairs]
        near: Scalar = False
        for pair, own in found:
            for touch in own:
                near = logical_or(near, less(touch.distance, reach(pair)))
        return found, near

    def _touches(self, pair: ContactPair, branches: bool) -> list[Touch]:
        """Where a pair touches; far away where the balls around its shapes do not meet."""
        first, second = self._sides(pair)
        X1, X2 = self._X[pair.first], self._X[pair.second]
        key = (first.shape, second.shape, reach(pair))

        def function(X1: Transform, X2: Transform) -> list[Touch]:
            return touches(first.shape, X1, second.shape, X2, reach(pair))

        close = _close(first, X1, second, X2, reach(pair)) if branches else True
        if close is True:
            return function(X1, X2)
        kept = self._functions.setdefault(key, function)
        far = [
            Touch(FAR, Vector3.zero(), Vector3(0.0, 0.0, 1.0), t.axis and Vector3.zero())
            for t in function(Transform.identity(), _BESIDE)
        ]
        return call_if(close, kept, X1, X2, otherwise=far)

    def _contact(self, pair: ContactPair) -> Callable[..., Contact]:
        """The function that makes the rows of a pair's contacts: one for equal parameters."""

        def function(at: Meeting) -> Contact:
            return self._laws.rows(pair, at)

        return self._functions.setdefault(fixed_numbers(pair), function)

    def _sides(self, pair: ContactPair) -> tuple[Collider, Collider]:
        return self._colliders[pair.first], self._colliders[pair.second]


_BESIDE = Transform(Rotation.identity(), Vector3(1.0, 1.0, 1.0))
"""Where a shape is that does not touch another, to see how many touches there are."""


def _close(first: Collider, X1: Transform, second: Collider, X2: Transform, reach: float) -> Scalar:
    """Whether the balls around two shapes meet; True if a shape has none."""
    radii = first.shape.bounding_radius, second.shape.bounding_radius
    if radii[0] is None or radii[1] is None:
        return True
    apart = X2.translation - X1.translation
    return less(apart.dot(apart), (radii[0] + radii[1] + reach) ** 2)


def _plain(X: Transform) -> Transform:
    """A transform whose rotation is nine scalars."""
    return Transform(Rotation(*X.rotation.rows), X.translation)
