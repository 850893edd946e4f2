"""The coordinates of a dependent joint, by stages: each solves some closures for some joints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.model.joints import CoordinateMap
from kinetree.scalar import Scalar


@dataclass(frozen=True)
class Stage(ABC):
    """Solves closures for the coordinates of some joints."""

    @abstractmethod
    def solve(self, known: Sequence[Scalar]) -> list[Scalar]:
        """The coordinates of its joints.

        Arguments:
            known: the independent coordinates, then those of earlier stages.

        Returns:
            The unknown coordinates.
        """


@dataclass(frozen=True)
class LoopMap(CoordinateMap):
    """Coordinates by solving stages one after the other.

    Arguments:
        stages: in the order in which they are solved.
        start, stop: the place of the result among the independent coordinates and those of all
            stages.
    """

    stages: tuple[Stage, ...]
    start: int
    stop: int

    def coordinates(self, q: Sequence[Scalar]) -> list[Scalar]:
        known = list(q)
        for stage in self.stages:
            known += stage.solve(known)
        return known[self.start : self.stop]
