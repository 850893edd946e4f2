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
    """The equations of a constraint on coordinates.

    Arguments:
        rows: the indices of its independent rows; the others are zero wherever these are.
    """

    rows: tuple[int, ...]

    @abstractmethod
    def error(self, values: Sequence[Scalar]) -> list[Scalar]:
        """The error of each row.

        Arguments:
            values: the known coordinates, then the unknown ones.

        Returns:
            A scalar for each of `rows`.
        """


@dataclass(frozen=True)
class Link:
    """A joint of a path: its placement on the link before, and the indices of its coordinates."""

    placement: Transform
    joint: Joint
    start: int

    def pose(self, values: Sequence[Scalar]) -> Transform:
        """The pose of the link in the one before.

        Arguments:
            values: the coordinates, as in `Closure.error`.

        Returns:
            A pose.
        """
        q = values[self.start : self.start + self.joint.nq]
        return self.placement @ self.joint.transform(q)


@dataclass(frozen=True)
class Path:
    """The joints from a body to a frame that it carries, and the frame's pose on the last link."""

    links: tuple[Link, ...]
    end: Transform

    def pose(self, values: Sequence[Scalar]) -> Transform:
        """The pose of the frame in the body.

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
    """A sum of polynomials: pairs of the index of a coordinate and its coefficients."""

    polynomials: tuple[tuple[int, tuple[float, ...]], ...]

    def error(self, values: Sequence[Scalar]) -> list[Scalar]:
        terms = (polynomial(f, values[k]) for k, f in self.polynomials)
        return [sum(terms, start=0)]
