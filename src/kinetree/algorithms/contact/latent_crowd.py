"""Many couples that seldom touch: each is made from the bodies' poses when it is needed.

Source: E. Todorov (2014), as in `reference`.

    symbol    code       meaning
    X         bodies     the poses and velocities of all bodies
    members   members    the couples, made of bodies and pairs of shapes

Cost: that of the couples that touch, and a branch for each if any does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kinetree.algorithms.contact.crowd import Crowd, as_numbers, together
from kinetree.algorithms.contact.joint_rows import Entry
from kinetree.algorithms.contact.latent import LatentCouple
from kinetree.algorithms.contact.latent_pair import LatentPair
from kinetree.algorithms.contact.relative import Link
from kinetree.scalar import Scalar
from kinetree.scalar.structure import Constant


@dataclass(frozen=True)
class LatentCrowd(Crowd):
    """A crowd of couples that seldom touch, of the same bodies.

    bodies: links whose signs the recipes set.
    rates: the velocities that move them.
    pairs: of each couple, those of its shapes.
    recipes: of each couple, a `Recipe`.
    """

    bodies: list[Link]
    rates: list[Scalar]
    pairs: list[list[LatentPair]]
    near: list[Scalar]
    velocities: Constant
    recipes: Constant

    @property
    def members(self) -> list[LatentCouple]:  # type: ignore[override]
        found = []
        for recipe, pairs, at in zip(self.recipes.value, self.pairs, self.at, strict=True):
            links = [replace(self.bodies[i], sign=sign) for i, sign in recipe.links]
            o = self.bodies[recipe.o].X.translation
            rates = [self.rates[k] for k in at]
            found.append(LatentCouple(links, o, rates, pairs, recipe.kind))
        return found


class Recipe(NamedTuple):
    """The recipe for a couple of a `LatentCrowd`.

    kind: of the couple.
    links: its bodies, with their signs.
    o: the one that has the point o.
    """

    kind: Constant
    links: tuple[tuple[int, float], ...]
    o: int


class Apart(NamedTuple):
    """A couple that seldom touches, with the velocities that move it and whether it is near."""

    at: tuple[int, ...]
    recipe: Recipe
    pairs: list[LatentPair]
    near: Scalar


def latent_crowd_of(
    bodies: Sequence[Link], rates: Sequence[Scalar], entries: Sequence[Apart]
) -> Entry:
    """Couples that seldom touch, as one part.

    Arguments:
        bodies: all of the robot.
        rates: its velocities.
    """
    union, places, near = together([e.at for e in entries], [e.near for e in entries])

    own = [rates[k] for k in union]
    pairs = [e.pairs for e in entries]
    acting = as_numbers([e.near for e in entries])
    made = Constant(tuple(e.recipe for e in entries))
    return union, LatentCrowd(list(bodies), own, pairs, acting, Constant(places), made), near
