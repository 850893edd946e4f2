"""A joint whose coordinate is counted from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinetree.model.joints.base import Joint
from kinetree.model.joints.wrapped import Wrapped
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Motion, Transform


@dataclass(frozen=True)
class Offset(Wrapped):
    """J(q + offset): a joint of one coordinate that is an offset further than q says."""

    offset: float

    def _shifted(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] + self.offset]

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.joint.transform(self._shifted(q))

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        return self.joint.subspace(self._shifted(q))

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        return self.joint.subspace_rate(self._shifted(q), v)

    def neutral(self) -> tuple[float, ...]:
        return (self.joint.neutral()[0] - self.offset,)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return [self.joint.coordinates_at(X)[0] - self.offset]

    @property
    def has_constant_axes(self) -> bool:
        return self.joint.has_constant_axes

    def lumped(self, inertia: Inertia) -> Inertia:
        return self.joint.lumped(inertia)

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return self.joint.travel(self._shifted(lower), self._shifted(upper))

    def recentered(self) -> tuple[Transform, Joint]:
        X, joint = self.joint.recentered()
        return X, replace(self, joint=joint)

    def aligned(self) -> tuple[Transform, Joint]:
        X, joint = self.joint.aligned()
        return X, replace(self, joint=joint)

    @property
    def rotates_about_z(self) -> bool:
        return self.joint.rotates_about_z

    def with_offset(self, offset: float) -> Joint:
        return replace(self, offset=self.offset + offset)
