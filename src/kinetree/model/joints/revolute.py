"""A rotation about a fixed axis: URDF's revolute and continuous joints, one angle each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kinetree.model.arguments import Axis, given_axis
from kinetree.model.joints.base import ConstantAxes
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Motion, Rotation, Symmetric3, Transform, Vector3
from kinetree.spatial.angles import angle_about


@dataclass(frozen=True, init=False)
class Revolute(ConstantAxes):
    """An angle about a unit axis through the joint frame's origin."""

    axis: Vector3
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def __init__(self, axis: Axis) -> None:
        object.__setattr__(self, "axis", given_axis(axis))

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rotation.about(self.axis, q[0]), Vector3.zero())

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        return (Motion(Vector3.zero(), self.axis),)

    def coordinates_of(self, X: Transform) -> list[Scalar]:
        return [angle_about(X.rotation, self.axis)]

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
