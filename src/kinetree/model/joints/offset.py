"""A joint whose coordinate is counted from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinetree.model.joints.base import Joint
from kinetree.model.joints.recounted import Recounted
from kinetree.model.joints.wrapped import Wrapped
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Twist


@dataclass(frozen=True)
class Offset(Recounted, Wrapped):
    """J(q + offset): a joint of one coordinate that is an offset further than q says."""

    offset: float

    def inner(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] + self.offset]

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        return self.joint.subspace(self.inner(q))

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Twist, ...]:
        return self.joint.subspace_rate(self.inner(q), v)

    def neutral(self) -> tuple[float, ...]:
        return (self.joint.neutral()[0] - self.offset,)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return [self.joint.coordinates_at(X)[0] - self.offset]

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return self.joint.travel(self.inner(lower), self.inner(upper))

    def with_offset(self, offset: float) -> Joint:
        return replace(self, offset=self.offset + offset)
