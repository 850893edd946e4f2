"""The errors of constraints as functions of the coordinates of the joints between their frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.model.constraints import FrameConstraint
from kinetree.model.constraints.coupling import polynomial
from kinetree.model.joints import Joint
from kinetree.scalar import Scalar
from kinetree.spatial import Transform


@dataclass(frozen=True)
class Closure(ABC):
    """What a constraint demands of coordinates.

    Arguments:
        rows: the numbers of its rows that count; the others are zero wherever these are.
    """

    rows: tuple[int, ...]

    @abstractmethod
    def error(self, values: Sequence[Scalar]) -> list[Scalar]:
        """How far each row is from what it demands.

        Arguments:
            values: the coordinates that are known, then the unknown ones.

        Returns:
            A scalar for each of `rows`.
        """


@dataclass(frozen=True)
class Link:
    """A joint of a path: where it is on the link before, and where its coordinates are."""

    placement: Transform
    joint: Joint
    start: int

    def pose(self, values: Sequence[Scalar]) -> Transform:
        """Of the link in the one before.

        Arguments:
            values: the coordinates, as in `Closure.error`.

        Returns:
            A pose.
        """
        q = values[self.start : self.start + self.joint.nq]
        return self.placement @ self.joint.transform(q)


@dataclass(frozen=True)
class Path:
    """The joints from a body to a frame that it carries, and where the frame is on the last."""

    links: tuple[Link, ...]
    end: Transform

    def pose(self, values: Sequence[Scalar]) -> Transform:
        """Of the frame in the body.

        Arguments:
            values: the coordinates, as in `Closure.error`.

        Returns:
            A pose.
        """
        X = Transform.identity()
        for link in self.links:
            X = X @ link.pose(values)
        return X @ self.end


@dataclass(frozen=True)
class FrameLoop(Closure):
    """A constraint between two frames; both paths start at the last body that carries both."""

    constraint: FrameConstraint
    to_frame: Path
    to_base: Path

    def error(self, values: Sequence[Scalar]) -> list[Scalar]:
        X = self.to_base.pose(values).inverse() @ self.to_frame.pose(values)
        error = self.constraint.error(X)
        return [error[k] for k in self.rows]


@dataclass(frozen=True)
class CoupledSum(Closure):
    """A sum of polynomials: pairs of the number of a coordinate and its coefficients."""

    polynomials: tuple[tuple[int, tuple[float, ...]], ...]

    def error(self, values: Sequence[Scalar]) -> list[Scalar]:
        terms = (polynomial(f, values[k]) for k, f in self.polynomials)
        return [sum(terms, start=0)]
