"""A helical joint: turning about an axis moves along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kinetree.model.arguments import Axis, given_axis
from kinetree.model.joints.base import ConstantAxes
from kinetree.scalar import Scalar
from kinetree.spatial import Motion, Rotation, Transform, Vector3
from kinetree.spatial.angles import angle_about


@dataclass(frozen=True, init=False)
class Screw(ConstantAxes):
    """An angle about a unit axis, and `pitch` metres along it for each radian."""

    axis: Vector3
    pitch: float
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def __init__(self, axis: Axis, pitch: float) -> None:
        object.__setattr__(self, "axis", given_axis(axis))
        object.__setattr__(self, "pitch", pitch)

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rotation.about(self.axis, q[0]), self.axis * (q[0] * self.pitch))

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        return (Motion(self.axis * self.pitch, self.axis),)

    def coordinates_of(self, X: Transform) -> list[Scalar]:
        if self.pitch == 0:
            return [angle_about(X.rotation, self.axis)]
        # the distance says how many turns; distance and angle then share what they differ by
        turns = self.axis.dot(X.translation) / self.pitch
        more = angle_about(X.rotation @ Rotation.about(self.axis, -turns), self.axis)
        return [turns + more / (1 + self.pitch * self.pitch)]
