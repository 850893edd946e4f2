"""A helical joint: turning about an axis moves along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.model.arguments import Axis
from kinetree.model.joints.answers import Label
from kinetree.model.joints.axis import AxisJoint
from kinetree.scalar import Scalar
from kinetree.spatial import Rotation, Transform, Twist
from kinetree.spatial.angles import angle_about


@dataclass(frozen=True, init=False)
class Screw(AxisJoint):
    """An angle about a unit axis, and `pitch` metres along it for each radian.

    Arguments:
        axis: as in `Revolute`.
        pitch: m/rad.
    """

    pitch: float

    def __init__(self, axis: Axis, pitch: float) -> None:
        super().__init__(axis)
        object.__setattr__(self, "pitch", pitch)

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rotation.about(self.axis, q[0]), self.axis * (q[0] * self.pitch))

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        return (Twist(self.axis * self.pitch, self.axis),)

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return abs(self.pitch) * max(abs(float(lower[0])), abs(float(upper[0])))

    def coordinate_labels(self) -> tuple[Label, ...]:
        return (Label("angle", "rad"),)

    def velocity_labels(self) -> tuple[Label, ...]:
        return (Label("rate", "rad/s"),)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        if self.pitch == 0:
            return [angle_about(X.rotation, self.axis)]
        # the distance says how many turns; distance and angle then share what they differ by
        turns = self.axis.dot(X.translation) / self.pitch
        more = angle_about(X.rotation @ Rotation.about(self.axis, -turns), self.axis)
        return [turns + more / (1 + self.pitch * self.pitch)]
