"""A pair of shapes of two bodies that seldom touch: the data of its touches.

Source: none; the touches are those of `touches`.

    symbol    code     meaning
    X         X        the pose of a shape in the world

Cost: none until its touches are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.algorithms.contact.contact_rows import Meeting
from kinetree.algorithms.contact.couple import Contact
from kinetree.algorithms.contact.reference import Reference
from kinetree.algorithms.contact.sized import resized
from kinetree.algorithms.contact.touch import Touch
from kinetree.algorithms.contact.touches import touches
from kinetree.model.geometry import Capsule, Solid, Sphere
from kinetree.scalar import Scalar
from kinetree.spatial import Transform

RowFunction = Callable[[Meeting], Contact]
SIMPLE = (Sphere, Capsule)
"""Shapes whose touches with each other are recomputed where they are needed."""


@dataclass(frozen=True)
class Posed:
    """A shape of some kind."""

    X: Transform
    sizes: list[Scalar]


@dataclass(frozen=True)
class LatentPair:
    """Two shapes of a couple.

    sides: the shapes, if their touches are recomputed; else empty.
    found: the touches, if they are kept; else empty.
    A, references, friction: as in `Meeting`.
    """

    sides: list[Posed]
    found: list[Touch]
    A: Scalar
    references: tuple[Reference, Reference]
    friction: tuple[Scalar, ...]


class PairKind(NamedTuple):
    """The properties shared by the pairs that one function serves.

    shapes: the two kinds of shapes, of any size.
    reach: the distance below which they act.
    function: makes the rows of a touch.
    rows: the number of rows of each touch.
    """

    shapes: tuple[Solid, Solid]
    reach: float
    function: RowFunction
    rows: tuple[int, ...]

    def touches(self, sides: Sequence[Posed]) -> list[Touch]:
        """The touches of two shapes."""
        first, second = (resized(x, s.sizes) for x, s in zip(self.shapes, sides, strict=True))
        return touches(first, sides[0].X, second, sides[1].X, self.reach)
