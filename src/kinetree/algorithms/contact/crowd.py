"""Many couples of which few touch: one branch skips all of them, and one each skips a single one.

Source: E. Todorov (2014), as in `reference`.

    symbol    code       meaning
    members   members    the couples
    near      near       1 for each couple that touches, else 0
    at        at         the velocities that move each couple, as indices into the crowd's

Cost: that of the couples that touch, and a branch for each if any does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinetree.algorithms.contact.couple import Couple
from kinetree.algorithms.contact.joint_rows import Entry
from kinetree.algorithms.contact.latent import LatentCouple
from kinetree.algorithms.contact.laws import Law, Matrix
from kinetree.algorithms.contact.part import Part, Rows, Sums, added, moved, part_slope
from kinetree.scalar import Scalar, call_if, less, logical_or, select
from kinetree.scalar.structure import Constant


class Crowd(Part):
    """Couples of bodies.

    velocities: for each couple, those that move it, as indices into the crowd's.
    """

    members: Sequence[Couple | LatentCouple]
    near: list[Scalar]
    velocities: Constant

    @property
    def at(self) -> tuple[tuple[int, ...], ...]:
        """The value of `velocities`."""
        found: tuple[tuple[int, ...], ...] = self.velocities.value
        return found

    def moved(self, a: Sequence[Scalar]) -> Rows:
        found: Rows = []
        for member, acts, at in self._each():
            found += call_if(acts, moved, member, [a[k] for k in at], otherwise=member.zeros)
        return found

    @property
    def arefs(self) -> Rows:
        return [row for member in self.members for row in member.arefs]

    @property
    def zeros(self) -> Rows:
        return [row for member in self.members for row in member.zeros]

    @property
    def laws(self) -> list[Law]:
        return [law for member in self.members for law in member.laws]

    def forces(self, f: Rows) -> list[Scalar]:
        raise AssertionError("members have forces")

    def stiffness(self, C: Sequence[Matrix]) -> list[Scalar]:
        raise AssertionError("members have stiffness")

    def places(self) -> list[tuple[int, int]]:
        return list(dict.fromkeys(place for places in self._places() for place in places))

    def added(self, a: Sequence[Scalar], g: Sequence[Scalar], H: Sequence[Scalar]) -> Sums:
        g, entries = list(g), dict(zip(self.places(), H, strict=True))
        x: Rows = []
        for (member, acts, at), places in zip(self._each(), self._places(), strict=True):
            so_far = ([g[k] for k in at], [entries[place] for place in places], member.zeros)
            moving = [a[k] for k in at]
            sums = call_if(acts, added, member, moving, *so_far[:2], otherwise=so_far)
            for k, value in zip(at, sums[0], strict=True):
                g[k] = value
            entries.update(zip(places, sums[1], strict=True))
            x += sums[2]
        return g, list(entries.values()), x

    def slope(self, x: Rows, y: Rows, alpha: Scalar) -> tuple[Scalar, Scalar]:
        total: tuple[Scalar, Scalar] = (0.0, 0.0)
        start = 0
        for member, acts, _ in self._each():
            rows = slice(start, start + len(member.zeros))
            start = rows.stop
            none = (0.0, 0.0)
            more = call_if(acts, part_slope, member, x[rows], y[rows], alpha, otherwise=none)
            total = total[0] + more[0], total[1] + more[1]
        return total

    def _each(self) -> Iterator[tuple[Couple | LatentCouple, Scalar, tuple[int, ...]]]:
        acts = (less(0.5, near) for near in self.near)
        return zip(self.members, acts, self.at, strict=True)

    def _places(self) -> Iterator[list[tuple[int, int]]]:
        """The rows and columns of each member's stiffness, the larger first."""
        for member, at in zip(self.members, self.at, strict=True):
            pairs = ((at[i], at[j]) for i, j in member.places())
            yield [(max(pair), min(pair)) for pair in pairs]


@dataclass(frozen=True)
class PlainCrowd(Crowd):
    """A crowd of couples."""

    members: list[Couple]
    near: list[Scalar]
    velocities: Constant


def crowd_of(entries: Sequence[tuple[tuple[int, ...], Couple, Scalar]]) -> Entry:
    """Couples as one part."""
    union, places, near = together([at for at, _, _ in entries], [acts for *_, acts in entries])
    members = [couple for _, couple, _ in entries]
    acting = as_numbers([acts for *_, acts in entries])
    return union, PlainCrowd(members, acting, Constant(places)), near


def together(
    ats: Sequence[tuple[int, ...]], acts: Sequence[Scalar]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...], Scalar]:
    """The velocities that move any couple, each couple's indices into them, and if one touches."""
    union = tuple(sorted({k for at in ats for k in at}))
    place = {k: i for i, k in enumerate(union)}
    near: Scalar = False
    for one in acts:
        near = logical_or(near, one)
    return union, tuple(tuple(place[k] for k in at) for at in ats), near


def as_numbers(acts: Sequence[Scalar]) -> list[Scalar]:
    return [select(one, 1.0, 0.0) for one in acts]
