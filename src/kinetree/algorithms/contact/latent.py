"""A couple of bodies that seldom touches: it builds its rows only where they are needed.

Source: R. Featherstone, as in `couple`.

A `Couple` holds the columns and rows of its contacts in memory before a problem is solved, if only
as zeros. A robot that can touch itself has many couples, of which hardly one touches. A latent
couple recomputes columns and rows wherever they are needed, from poses and axes, which exist
anyway. It recomputes the touches of balls and capsules too, which cost little.

    symbol    code     meaning
    J         links    bodies and axes, from which `relative` makes the columns
    v         rates    the velocities that move the couple
    C         pairs    the pairs of its shapes: poses or touches, and constants

Cost: none while it does not touch; then that of `couple`, and its columns and rows each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.algorithms.contact.contact_rows import Meeting
from kinetree.algorithms.contact.couple import Contact, Couple
from kinetree.algorithms.contact.latent_pair import LatentPair, PairKind
from kinetree.algorithms.contact.laws import Law, Matrix
from kinetree.algorithms.contact.part import Part, Rows, Sums
from kinetree.algorithms.contact.relative import Link, merged, relative_columns
from kinetree.algorithms.tree import along
from kinetree.scalar import Scalar
from kinetree.scalar.structure import Constant
from kinetree.spatial import Twist, Vector3


class CoupleKind(NamedTuple):
    """What couples that differ only in their numbers have in common.

    local: for each column of the links, its place among the velocities of the couple.
    pairs: the kinds of its pairs.
    """

    local: tuple[int, ...]
    pairs: tuple[PairKind, ...]


@dataclass(frozen=True)
class LatentCouple(Part):
    """Two bodies, and the poses of their shapes.

    o: the point of the second body at which motions are taken.
    kind: its structure, a `CoupleKind`.
    """

    links: list[Link]
    o: Vector3
    rates: list[Scalar]
    pairs: list[LatentPair]
    kind: Constant

    def couple(self) -> Couple:
        """The couple itself."""
        columns = list(merged(self.kind.value.local, relative_columns(self.links, self.o)).values())
        return Couple(columns, list(self._contacts(columns)))

    def _contacts(self, columns: Sequence[Twist]) -> Iterator[Contact]:
        V = along(columns, self.rates)
        for kind, pair in zip(self.kind.value.pairs, self.pairs, strict=True):
            for touch in pair.found or kind.touches(pair.sides):
                r = touch.point - self.o
                at = Meeting(touch, r, V, pair.A, pair.references, pair.friction)
                yield kind.function(at)

    @property
    def zeros(self) -> Rows:
        return [[0.0] * size for kind in self.kind.value.pairs for size in kind.rows]

    def moved(self, a: Sequence[Scalar]) -> Rows:
        return self.couple().moved(a)

    @property
    def arefs(self) -> Rows:
        return self.couple().arefs

    @property
    def laws(self) -> list[Law]:
        return self.couple().laws

    def forces(self, f: Rows) -> list[Scalar]:
        return self.couple().forces(f)

    def places(self) -> list[tuple[int, int]]:
        count = len(self.rates)
        return [(i, j) for i in range(count) for j in range(i + 1)]

    def stiffness(self, C: Sequence[Matrix]) -> list[Scalar]:
        return self.couple().stiffness(C)

    def added(self, a: Sequence[Scalar], g: Sequence[Scalar], H: Sequence[Scalar]) -> Sums:
        return self.couple().added(a, g, H)

    def slope(self, x: Rows, y: Rows, alpha: Scalar) -> tuple[Scalar, Scalar]:
        return self.couple().slope(x, y, alpha)
