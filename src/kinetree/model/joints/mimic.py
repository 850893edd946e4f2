"""A joint that copies another: its coordinate is a multiple of the other's, and an offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kinetree.model.joints.base import Joint
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Motion, Transform


@dataclass(frozen=True)
class Mimic(Joint):
    """A joint of one coordinate, which is multiplier q + offset of another joint's q.

    It has no coordinate of its own: its body takes the other joint's, so algorithms need not know.
    """

    joint: Joint
    multiplier: float
    offset: float
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def _own(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] * self.multiplier + self.offset]

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.joint.transform(self._own(q))

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        return tuple(axis * self.multiplier for axis in self.joint.subspace(self._own(q)))

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        rates = self.joint.subspace_rate(self._own(q), [v[0] * self.multiplier])
        return tuple(rate * self.multiplier for rate in rates)

    def coordinates_of(self, X: Transform) -> list[Scalar]:
        # that of the other joint; one of ratio zero stands still, and says nothing of it
        (own,) = self.joint.coordinates_of(X)
        return [(own - self.offset) / self.multiplier if self.multiplier else 0]

    def lumped(self, inertia: Inertia) -> Inertia:
        return self.joint.lumped(inertia)
