"""A joint that follows another: its coordinate is a multiple of the other's, plus an offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from kinetree.model.joints.answers import Transmission
from kinetree.model.joints.base import Joint
from kinetree.model.joints.recounted import Recounted
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Twist


@dataclass(frozen=True)
class Mimic(Recounted):
    """A joint of one coordinate, which is multiplier q + offset of another joint's q.

    It has no coordinate of its own: its body takes the other joint's, so algorithms need not know.
    """

    multiplier: float
    offset: float
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def inner(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] * self.multiplier + self.offset]

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        return tuple(axis * self.multiplier for axis in self.joint.subspace(self.inner(q)))

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Twist, ...]:
        rates = self.joint.subspace_rate(self.inner(q), [v[0] * self.multiplier])
        return tuple(rate * self.multiplier for rate in rates)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        # a joint with multiplier zero stands still, and says nothing of the other's coordinate
        (followed,) = self.joint.coordinates_at(X)
        return [(followed - self.offset) / self.multiplier if self.multiplier else 0]

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        ends = sorted(self.inner(q)[0] for q in (lower, upper))
        return self.joint.travel(*([end] for end in ends))

    @property
    def transmission(self) -> Transmission:
        return Transmission(self.joint, self.multiplier, self.offset)

    def snapped(self) -> Joint:
        return replace(self, joint=self.joint.snapped())

    def with_offset(self, offset: float) -> Joint:
        """The joint that is mimicked, at its coordinate + offset: that is what a drive acts on."""
        return replace(self, joint=self.joint.with_offset(offset))
