"""A couple of bodies that seldom touches: what its rows are made of, until it does.

Source: R. Featherstone, as in `couple`.

A `Couple` has the columns and rows of its contacts, which must lie in memory before a problem is
solved, if only as zeros. Of the many couples of a robot that can touch itself hardly one touches.
Theirs are made anew wherever they are needed, of what is there anyway: touches, poses and axes.

    symbol    code     meaning
    J         links    what the columns of `relative` are made of
    v         rates    the velocities that move the couple
    C         meets    the touches of its shapes, and their constants

Cost: none while it does not touch; then that of `couple`, and its columns and rows each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from kinetree.algorithms.contact.contact_rows import Meeting
from kinetree.algorithms.contact.couple import Contact, Couple
from kinetree.algorithms.contact.laws import Law, Matrix
from kinetree.algorithms.contact.part import Part, Rows, Sums
from kinetree.algorithms.contact.relative import Link, merged, relative_columns
from kinetree.algorithms.contact.touch import Touch
from kinetree.algorithms.tree import along
from kinetree.scalar import Scalar
from kinetree.spatial import Twist, Vector3

RowFunction = Callable[[Meeting], Contact]


@dataclass(frozen=True)
class LatentCouple(Part):
    """Two bodies, and where they would touch.

    o: the point of the second body at which motions are taken.
    meets: of each touch; their r and V are not set.
    local: for each column of the links, its place among the velocities of the couple.
    functions: for each touch, what makes its rows.
    sizes: how many these are.
    """

    links: list[Link]
    o: Vector3
    rates: list[Scalar]
    meets: list[Meeting]
    local: ClassVar[tuple[int, ...]] = ()
    functions: ClassVar[tuple[RowFunction, ...]] = ()
    sizes: ClassVar[tuple[int, ...]] = ()

    def couple(self) -> Couple:
        """The couple itself."""
        columns = list(merged(self.local, relative_columns(self.links, self.o)).values())
        V = along(columns, self.rates)
        contacts = [
            function(replace(meet, r=meet.touch.point - self.o, V=V))
            for function, meet in zip(self.functions, self.meets, strict=True)
        ]
        return Couple(columns, contacts)

    @property
    def zeros(self) -> Rows:
        return [[0.0] * size for size in self.sizes]

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


def unplaced(touch: Touch, A: Scalar, *numbers: Any) -> Meeting:
    """A meeting without r and V, which are set later.

    Arguments:
        touch, A, numbers: as in `Meeting`.
    """
    return Meeting(touch, Vector3.zero(), Twist.zero(), A, *numbers)


def latent_kind(
    at: Sequence[int], functions: Sequence[tuple[RowFunction, int]]
) -> type[LatentCouple]:
    """The class of couples that are alike but for their numbers.

    Arguments:
        at: the velocities of the links, one after the other.
        functions: for each touch, what makes its rows, and how many these are.
    """
    order = {k: i for i, k in enumerate(dict.fromkeys(at))}

    class Kind(LatentCouple):
        """Couples of this kind."""

        local = tuple(order[k] for k in at)

    Kind.functions, Kind.sizes = tuple(f for f, _ in functions), tuple(n for _, n in functions)
    return Kind
