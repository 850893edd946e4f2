"""A translation along a fixed axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kinetree.model.arguments import Axis, given_axis
from kinetree.model.joints.base import ConstantAxes
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Motion, Rotation, Transform, Vector3


@dataclass(frozen=True, init=False)
class Prismatic(ConstantAxes):
    """A distance along a unit axis."""

    axis: Vector3
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def __init__(self, axis: Axis) -> None:
        object.__setattr__(self, "axis", given_axis(axis))

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rotation.identity(), self.axis * q[0])

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        return (Motion(self.axis, Vector3.zero()),)

    def coordinates_of(self, X: Transform) -> list[Scalar]:
        return [self.axis.dot(X.translation)]

    def lumped(self, inertia: Inertia) -> Inertia:
        # sliding changes no orientation: all of the rotational inertia
        return Inertia(0, Vector3.zero(), inertia.rotational)
