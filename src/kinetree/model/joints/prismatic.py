"""A translation along a fixed axis."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.model.joints.answers import Label, MjcfElement, UrdfElement
from kinetree.model.joints.axis import AxisJoint
from kinetree.model.joints.base import Joint
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Rotation, Transform, Twist, Vector3


class Prismatic(AxisJoint):
    """A distance along a unit axis.

    Arguments:
        axis: "x", "y" or "z" (or "-x", ...), three numbers, or a Vector3; its direction counts.
    """

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rotation.identity(), self.axis * q[0])

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        return (Twist(self.axis, Vector3.zero()),)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return [self.axis.dot(X.translation)]

    def lumped(self, inertia: Inertia) -> Inertia:
        # sliding changes no orientation: all of the rotational inertia
        return Inertia(0, Vector3.zero(), inertia.rotational)

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return max(abs(float(lower[0])), abs(float(upper[0])))

    def _relocated(self, at: Transform) -> Joint:
        return Prismatic(at.rotation @ self.axis)  # sliding has no place

    def coordinate_labels(self) -> tuple[Label, ...]:
        return (Label("distance", "m"),)

    def velocity_labels(self) -> tuple[Label, ...]:
        return (Label("speed", "m/s"),)

    def urdf(self) -> UrdfElement:
        return UrdfElement("prismatic", self.axis)

    def mjcf(self) -> MjcfElement:
        return MjcfElement("slide", self.axis)
