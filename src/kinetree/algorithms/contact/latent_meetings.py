"""Couples of bodies that seldom touch: the data of their rows, and whether they touch.

Source: C. Ericson, as in `pair_touches`.

    symbol    code    meaning
    X         X       the poses of two shapes

The touches of balls and capsules are not kept: `latent` recomputes them.

Cost: a comparison for each pair, and the touches of the pairs whose balls meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kinetree.algorithms.contact.contact_rows import (
    ContactLaws,
    Meeting,
    fixed_numbers,
    reach,
)
from kinetree.algorithms.contact.couple import Contact
from kinetree.algorithms.contact.latent import CoupleKind
from kinetree.algorithms.contact.latent_crowd import Apart, Recipe
from kinetree.algorithms.contact.latent_pair import SIMPLE, LatentPair, PairKind, Posed
from kinetree.algorithms.contact.pair_touches import PairTouches
from kinetree.algorithms.contact.relative import signed_way, velocities
from kinetree.algorithms.contact.sized import kind_of, sizes_of
from kinetree.algorithms.contact.touches import slot_count
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.tree import subspaces
from kinetree.model import Model
from kinetree.model.geometry import Collider, ContactPair
from kinetree.scalar import Scalar, call_if, less, logical_or, select
from kinetree.scalar.structure import Constant


class LatentMeetings(PairTouches):
    """The couples of a robot that seldom touch, at a state.

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
        super().__init__(model, q)
        self._qd, self._weights, self._laws = qd, weights, laws
        self._Phi = subspaces(model, q)
        self._kinds: dict[Any, PairKind] = {}

    def latent(self, first: int, second: int, pairs: Sequence[ContactPair]) -> Apart:
        """Two bodies that seldom touch each other."""
        near: Scalar = False
        own, kinds = [], []
        for pair in pairs:
            kind = self._kind(pair)
            sides, found = [], []
            if all(isinstance(shape, SIMPLE) for shape in kind.shapes):
                sides = [self._posed(collider) for collider in self._sides(pair)]
                near = logical_or(near, self._acts(pair, kind, sides))
            else:
                found = self._touches(pair, branches=True)
                for touch in found:
                    near = logical_or(near, less(touch.distance, kind.reach))
            A = self._weights.of_pair(*self._sides(pair))[0]
            own.append(LatentPair(sides, found, A, *self._laws.numbers(pair)))
            kinds.append(kind)
        steps = signed_way(self.model, first, second)
        at = [k for i, _ in steps for k in velocities(self.model, i)]
        order = tuple(dict.fromkeys(at))
        kind_of_couple = CoupleKind(tuple(order.index(k) for k in at), tuple(kinds))
        return Apart(order, Recipe(Constant(kind_of_couple), steps, second), own, near)

    def _kind(self, pair: ContactPair) -> PairKind:
        """The kind of a pair; pairs that share a function share this object."""
        first, second = (collider.shape for collider in self._sides(pair))
        function = self.contact(pair)
        rows = (pair.condim,) * slot_count(first, second)
        kind = PairKind((first, second), reach(pair), function, rows)
        key = (kind_of(first), kind_of(second), kind.reach, function)
        return self._kinds.setdefault(key, kind)

    def _acts(self, pair: ContactPair, kind: PairKind, sides: list[Posed]) -> Scalar:
        """Whether a pair touches: computed where the balls around its shapes meet."""

        return less(0.5, call_if(self._close(pair), Acting(kind), sides, otherwise=0.0))

    def _posed(self, collider: Collider) -> Posed:
        return Posed(self._X[collider.name], sizes_of(collider.shape))

    def contact(self, pair: ContactPair) -> Callable[..., Contact]:
        """The function that makes the rows of a pair's contacts: one for equal parameters."""

        laws = self._laws
        return ContactRows(laws.cone, laws.impratio, fixed_numbers(pair), pair)


# functions that are equal where their constants are: a program has one for all evaluations


@dataclass(frozen=True)
class ContactRows:
    """The rows of a contact, as a function of a `Meeting`.

    cone, impratio: as of `ContactLaws`.
    fixed: the constants of the pair.
    pair: one that has them.
    """

    cone: str
    impratio: float
    fixed: tuple[object, ...]
    pair: ContactPair = field(compare=False)

    def __call__(self, at: Meeting) -> Contact:
        return ContactLaws(self.cone, self.impratio, 0.0).rows(self.pair, at)


@dataclass(frozen=True)
class Acting:
    """Whether two posed shapes of a kind touch: 1, else 0."""

    kind: PairKind

    def __call__(self, sides: list[Posed]) -> Scalar:
        acts: Scalar = False
        for touch in self.kind.touches(sides):
            acts = logical_or(acts, less(touch.distance, self.kind.reach))
        return select(acts, 1.0, 0.0)
