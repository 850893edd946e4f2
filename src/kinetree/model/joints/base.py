"""What every joint gives: its transform, its motion subspace and the rate of that, its chart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Motion, Transform


class Joint(ABC):
    """A joint between a parent's joint frame and a body, with its coordinates.

    A joint has nq coordinates q and nv velocities v; the two agree unless the chart is a
    quaternion. All methods but `sample` run on any scalar.
    """

    nq: ClassVar[int]
    nv: ClassVar[int]

    @abstractmethod
    def transform(self, q: Sequence[Scalar]) -> Transform:
        """The pose of the body in the joint frame."""

    @abstractmethod
    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        """Phi(q): the body's velocity for each unit velocity, in the body's frame."""

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        """The rate of Phi's columns in body coordinates; zero where Phi is constant."""
        return (Motion.zero(),) * self.nv

    def lumped(self, inertia: Inertia) -> Inertia:
        """The part of the body's inertia that may as well be the parent's.

        It is unchanged by the joint's motion, which gives it no momentum: moved to the parent, no
        joint force is different. Every joint may say zero.
        """
        return Inertia.zero()

    def neutral(self) -> tuple[float, ...]:
        """The coordinates at which the transform is the identity."""
        return (0,) * self.nq

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        """Coordinates as they must be, from numbers a user gave; ValueError if they cannot be."""
        return values

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """The coordinates after moving with the constant velocity v for one unit of time."""
        return [a + b for a, b in zip(q, v, strict=True)]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """The constant velocity that takes q0 to q1 in one unit of time."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        """Random coordinates (..., nq), uniform within the limits, which are finite."""
        return rng.uniform(lower, upper, (*batch, self.nq))
