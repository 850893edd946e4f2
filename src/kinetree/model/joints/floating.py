"""Six free degrees of freedom, orientation as a quaternion: the floating base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kinetree.model.joints.answers import Chart, Label, MjcfElement, UrdfElement
from kinetree.model.joints.ball import given_quaternion
from kinetree.model.joints.base import ConstantAxes, Joint
from kinetree.model.joints.continuity import one_sign
from kinetree.scalar import Scalar
from kinetree.spatial import Rotation, Transform, Twist, Vector3
from kinetree.spatial.angles import quat_of
from kinetree.spatial.exponential import (
    half_turn_quat,
    quat_difference,
    quat_product,
    quat_rates,
    quat_unit,
    translation_of_screw,
    translation_to_screw,
)


@dataclass(frozen=True)
class Floating(ConstantAxes):
    """q = (x y z, qx qy qz qw), v = (linear, angular) in the body's own frame.

    The quaternion may have any length but zero, as in `Ball`.
    """

    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rotation.quat_xyzw(*q[3:]), Vector3(*q[:3]))

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        units = (Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1))
        zero = Vector3.zero()
        return (*(Twist(u, zero) for u in units), *(Twist(zero, u) for u in units))

    def neutral(self) -> tuple[float, ...]:
        return (0, 0, 0, 0, 0, 0, 1)

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        return [*values[:3], *given_quaternion(values[3:])]

    def normalized(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [*q[:3], *quat_unit(q[3:])]

    def coordinate_rates(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return [*(self.transform(q).rotation @ Vector3(*v[:3])), *quat_rates(q[3:], v[3:])]

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        linear, angular = Vector3(*v[:3]), Vector3(*v[3:])
        moved = self.transform(q).point(translation_of_screw(linear, angular))
        return [*moved, *quat_unit(quat_product(q[3:], half_turn_quat(angular)))]

    def turning(self, v: Sequence[Scalar], w: Sequence[Scalar]) -> Sequence[Scalar]:
        return [*Vector3(*v[3:]).cross(Vector3(*w[:3])), 0, 0, 0]

    def advance(
        self, q: Sequence[Scalar], v: Sequence[Scalar], dt: Scalar
    ) -> tuple[list[Scalar], list[Scalar]]:
        linear, angular = Vector3(*v[:3]), Vector3(*v[3:])
        place = self.transform(q).point(linear * dt)
        turn = half_turn_quat(angular * dt)
        along = Rotation.quat_xyzw(*turn).T @ linear
        return [*place, *quat_unit(quat_product(q[3:], turn))], [*along, *angular]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        angular = quat_difference(q0[3:], q1[3:])
        way = Vector3(*q1[:3]) - Vector3(*q0[:3])
        moved = self.transform(q0).rotation.T @ way
        return [*translation_to_screw(moved, angular), *angular]

    def transported(
        self, q0: Sequence[Scalar], q1: Sequence[Scalar], v: Sequence[Scalar]
    ) -> list[Scalar]:
        twist = Twist(Vector3(*v[:3]), Vector3(*v[3:]))
        between = self.transform(q0).inverse() @ self.transform(q1)
        return list(between.to_parent(twist))

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return [*X.translation, *quat_of(X.rotation)]

    def continued(self, path: Any) -> Any:
        return np.concatenate([path[:, :3], one_sign(path[:, 3:])], axis=1)

    def displacement(self, rest: Sequence[Scalar], q: Sequence[Scalar]) -> list[Scalar]:
        # two springs, one for the position and one for the orientation, not one along a screw
        way = Vector3(*q[:3]) - Vector3(*rest[:3])
        return [*(self.transform(q).rotation.T @ way), *quat_difference(rest[3:], q[3:])]

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        position = rng.uniform(lower[:3], upper[:3], (*batch, 3))
        quat = rng.standard_normal((*batch, 4))
        quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
        return np.concatenate([position, quat], axis=-1)

    def coordinate_labels(self) -> tuple[Label, ...]:
        position = (Label(name, "m") for name in ("x", "y", "z"))
        return (*position, *(Label(name, "") for name in ("qx", "qy", "qz", "qw")))

    def velocity_labels(self) -> tuple[Label, ...]:
        linear = (Label(name, "m/s") for name in ("vx", "vy", "vz"))
        return (*linear, *(Label(name, "rad/s") for name in ("wx", "wy", "wz")))

    @property
    def velocity_is_twist(self) -> bool:
        return True

    def in_chart(self, chart: Chart) -> Joint:
        return chart.motion

    def urdf(self) -> UrdfElement:
        return UrdfElement("floating")

    def mjcf(self) -> MjcfElement:
        return MjcfElement("free")
