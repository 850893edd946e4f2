"""A rotation about a fixed axis: URDF's revolute and continuous joints, one angle each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.model.joints.answers import Label, MjcfElement, UrdfElement
from kinetree.model.joints.axis import AxisJoint, Z
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Twist, Vector3
from kinetree.spatial.angles import angle_about


class Revolute(AxisJoint):
    """An angle about a unit axis through the joint frame's origin.

    Arguments:
        axis: "x", "y" or "z" (or "-x", ...), three numbers, or a Vector3; its direction counts.
    """

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rotation.about(self.axis, q[0]), Vector3.zero())

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        return (Twist(Vector3.zero(), self.axis),)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return [angle_about(X.rotation, self.axis)]

    def continued(self, path: Any) -> Any:
        return np.unwrap(path, axis=0)

    def lumped(self, inertia: Inertia) -> Inertia:
        # what lies on the axis u: its mass, first moment and second moment along u, J u uT,
        # whose rotational inertia is J (1 - u uT)
        u = self.axis
        J = u.dot(inertia.second_moments() @ u)
        return Inertia(
            inertia.mass,
            u * u.dot(inertia.moment),
            (Symmetric3.diagonal(1) - Symmetric3.outer(u, u)) * J,
        )

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return 0.0

    @property
    def rotates_about_z(self) -> bool:
        return self.axis == Z

    def coordinate_labels(self) -> tuple[Label, ...]:
        return (Label("angle", "rad"),)

    def velocity_labels(self) -> tuple[Label, ...]:
        return (Label("rate", "rad/s"),)

    def urdf(self) -> UrdfElement:
        return UrdfElement("revolute", self.axis)

    def mjcf(self) -> MjcfElement:
        return MjcfElement("hinge", self.axis)
