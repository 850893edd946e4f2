"""A couple of bodies that seldom touches: what its rows are made of, until it does.

Source: R. Featherstone, as in `couple`.

A `Couple` has the columns and rows of its contacts, which must lie in memory before a problem is
solved, if only as zeros. Of the many couples of a robot that can touch itself hardly one touches.
Theirs are made anew wherever they are needed, of what is there anyway: poses and axes. So are the
touches of balls and capsules, which cost little.

    symbol    code     meaning
    J         links    what the columns of `relative` are made of
    v         rates    the velocities that move the couple
    C         pairs    the pairs of its shapes: poses or touches, and constants

Cost: none while it does not touch; then that of `couple`, and its columns and rows each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from kinetree.algorithms.contact.contact_rows import Meeting
from kinetree.algorithms.contact.couple import Contact, Couple
from kinetree.algorithms.contact.laws import Law, Matrix
from kinetree.algorithms.contact.part import Part, Rows, Sums
from kinetree.algorithms.contact.reference import Reference
from kinetree.algorithms.contact.relative import Link, merged, relative_columns
from kinetree.algorithms.contact.sized import resized
from kinetree.algorithms.contact.touch import Touch
from kinetree.algorithms.contact.touches import touches
from kinetree.algorithms.tree import along
from kinetree.model.geometry import Capsule, Solid, Sphere
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Twist, Vector3

RowFunction = Callable[[Meeting], Contact]
SIMPLE = (Sphere, Capsule)
"""Shapes whose touches with each other are made anew."""


@dataclass(frozen=True)
class Posed:
    """A shape of some kind."""

    X: Transform
    sizes: list[Scalar]


@dataclass(frozen=True)
class LatentPair:
    """Two shapes of a couple.

    sides: if their touches are made anew; else empty.
    found: their touches otherwise.
    A, references, friction: as in `Meeting`.
    """

    sides: list[Posed]
    found: list[Touch]
    A: Scalar
    references: tuple[Reference, Reference]
    friction: tuple[Scalar, ...]


class PairKind(NamedTuple):
    """What pairs have in common that one function serves.

    shapes: of these kinds, of any size.
    reach: the distance below which they act.
    function: what makes the rows of a touch.
    rows: how many these are, for each touch.
    """

    shapes: tuple[Solid, Solid]
    reach: float
    function: RowFunction
    rows: tuple[int, ...]

    def touches(self, sides: Sequence[Posed]) -> list[Touch]:
        """Where two shapes touch."""
        first, second = (resized(x, s.sizes) for x, s in zip(self.shapes, sides, strict=True))
        return touches(first, sides[0].X, second, sides[1].X, self.reach)


@dataclass(frozen=True)
class LatentCouple(Part):
    """Two bodies, and where their shapes are.

    o: the point of the second body at which motions are taken.
    local: for each column of the links, its place among the velocities of the couple.
    kinds: of the pairs.
    """

    links: list[Link]
    o: Vector3
    rates: list[Scalar]
    pairs: list[LatentPair]
    local: ClassVar[tuple[int, ...]] = ()
    kinds: ClassVar[tuple[PairKind, ...]] = ()

    def couple(self) -> Couple:
        """The couple itself."""
        columns = list(merged(self.local, relative_columns(self.links, self.o)).values())
        return Couple(columns, list(self._contacts(columns)))

    def _contacts(self, columns: Sequence[Twist]) -> Iterator[Contact]:
        V = along(columns, self.rates)
        for kind, pair in zip(self.kinds, self.pairs, strict=True):
            for touch in pair.found or kind.touches(pair.sides):
                r = touch.point - self.o
                at = Meeting(touch, r, V, pair.A, pair.references, pair.friction)
                yield kind.function(at)

    @property
    def zeros(self) -> Rows:
        return [[0.0] * size for kind in self.kinds for size in kind.rows]

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


def latent_kind(at: Sequence[int], pairs: Sequence[PairKind]) -> type[LatentCouple]:
    """The class of couples that are alike but for their numbers.

    Arguments:
        at: the velocities of the links, one after the other.
        pairs: the kinds of its pairs.
    """
    order = {k: i for i, k in enumerate(dict.fromkeys(at))}

    class Kind(LatentCouple):
        """Couples of this kind."""

        local = tuple(order[k] for k in at)
        kinds = tuple(pairs)

    return Kind
