"""Many couples of which few touch: one branch leaves all of them out, and one each those apart.

Source: E. Todorov (2014), as in `reference`.

    symbol    code       meaning
    members   members    the couples
    near      near       1 for each couple that touches, else 0
    at        at         the velocities that move each couple, by their places in the crowd's

Cost: that of the couples that touch, and a branch for each if any does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from kinetree.algorithms.contact.contact_rows import Meeting
from kinetree.algorithms.contact.couple import Couple
from kinetree.algorithms.contact.joint_rows import Entry
from kinetree.algorithms.contact.latent import LatentCouple
from kinetree.algorithms.contact.laws import Law, Matrix
from kinetree.algorithms.contact.part import Part, Rows, Sums, added, moved, part_slope
from kinetree.algorithms.contact.relative import Link
from kinetree.scalar import Scalar, call_if, less, logical_or, select


class Crowd(Part):
    """Couples of bodies."""

    members: Sequence[Couple | LatentCouple]
    near: list[Scalar]
    at: ClassVar[tuple[tuple[int, ...], ...]] = ()

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
            own = [a[k] for k in at]
            found = call_if(acts, added, member, own, *so_far[:2], otherwise=so_far)
            for k, value in zip(at, found[0], strict=True):
                g[k] = value
            entries.update(zip(places, found[1], strict=True))
            x += found[2]
        return g, list(entries.values()), x

    def slope(self, x: Rows, y: Rows, alpha: Scalar) -> tuple[Scalar, Scalar]:
        total: tuple[Scalar, Scalar] = (0.0, 0.0)
        start = 0
        for member, acts, _ in self._each():
            own = slice(start, start + len(member.zeros))
            start = own.stop
            none = (0.0, 0.0)
            more = call_if(acts, part_slope, member, x[own], y[own], alpha, otherwise=none)
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


@dataclass(frozen=True)
class LatentCrowd(Crowd):
    """A crowd of couples that seldom touch, of the same bodies.

    bodies: with their signs still to be chosen.
    rates: the velocities that move them.
    meets: of each couple, those of its touches.
    recipes: of each couple, its kind, its bodies with their signs, and the one that has o.
    """

    bodies: list[Link]
    rates: list[Scalar]
    meets: list[list[Meeting]]
    near: list[Scalar]
    recipes: ClassVar[tuple[Recipe, ...]] = ()

    @property
    def members(self) -> list[LatentCouple]:  # type: ignore[override]
        found = []
        for recipe, meets, at in zip(self.recipes, self.meets, self.at, strict=True):
            links = [replace(self.bodies[i], sign=sign) for i, sign in recipe.links]
            o = self.bodies[recipe.o].X.translation
            found.append(recipe.kind(links, o, [self.rates[k] for k in at], meets))
        return found


class Recipe(NamedTuple):
    """How a couple of a `LatentCrowd` is made."""

    kind: Callable[..., LatentCouple]
    links: tuple[tuple[int, float], ...]
    o: int


class Apart(NamedTuple):
    """A couple that seldom touches, with the velocities that move it and whether it is near."""

    at: tuple[int, ...]
    recipe: Recipe
    meets: list[Meeting]
    near: Scalar


def crowd_of(entries: Sequence[tuple[tuple[int, ...], Couple, Scalar]]) -> Entry:
    """Couples as one part."""
    union, places, near = _together([at for at, _, _ in entries], [acts for *_, acts in entries])

    class Local(PlainCrowd):
        """A crowd whose couples are moved by these velocities."""

        at = places

    members = [couple for _, couple, _ in entries]
    return union, Local(members, _numbers([acts for *_, acts in entries])), near


def latent_crowd_of(
    bodies: Sequence[Link], rates: Sequence[Scalar], entries: Sequence[Apart]
) -> Entry:
    """Couples that seldom touch, as one part.

    Arguments:
        bodies: all of the robot.
        rates: its velocities.
    """
    union, places, near = _together([e.at for e in entries], [e.near for e in entries])

    class Local(LatentCrowd):
        """A crowd whose couples are made so, and moved by these velocities."""

        at = places
        recipes = tuple(e.recipe for e in entries)

    own = [rates[k] for k in union]
    meets = [e.meets for e in entries]
    return union, Local(list(bodies), own, meets, _numbers([e.near for e in entries])), near


def _together(
    ats: Sequence[tuple[int, ...]], acts: Sequence[Scalar]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...], Scalar]:
    """The velocities that move some couple, where those of each are, and whether one touches."""
    union = tuple(sorted({k for at in ats for k in at}))
    place = {k: i for i, k in enumerate(union)}
    near: Scalar = False
    for one in acts:
        near = logical_or(near, one)
    return union, tuple(tuple(place[k] for k in at) for at in ats), near


def _numbers(acts: Sequence[Scalar]) -> list[Scalar]:
    return [select(one, 1.0, 0.0) for one in acts]
