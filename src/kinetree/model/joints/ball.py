"""Three free rotations, as a quaternion or as an exponential map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kinetree.model.joints.answers import Chart, Label, MjcfElement
from kinetree.model.joints.base import ConstantAxes, Joint
from kinetree.model.joints.continuity import continued_rotation_vectors, one_sign
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Matrix3, Rotation, Symmetric3, Transform, Twist, Vector3
from kinetree.spatial.angles import quat_of, rotation_vector
from kinetree.spatial.exponential import (
    cosine_quotient,
    half_turn_quat,
    quat_difference,
    quat_product,
    quat_rates,
    quat_unit,
    sine_quotient,
    third_quotient,
)


def _at_center(inertia: Inertia) -> Inertia:
    """The part of an inertia that a rotation about the origin does not move: its mass, there."""
    return Inertia(inertia.mass, Vector3.zero(), Symmetric3.diagonal(0))


def given_quaternion(values: Sequence[float]) -> list[float]:
    """The quaternion of length one from numbers a user gave; ValueError if all are zero."""
    largest = max(map(abs, values))
    if not largest:
        raise ValueError("its quaternion is zero")
    # near one by a power of two, which rounds nothing: squares of very large or small ones would
    _, power = math.frexp(largest)
    return list(quat_unit([math.ldexp(x, -power) for x in values]))


@dataclass(frozen=True)
class Ball(ConstantAxes):
    """q = (qx qy qz qw), a quaternion; v = the angular velocity in the body's own frame.

    A quaternion of any length but zero stands for the rotation of its direction; `integrate` and
    `sample` give quaternions of length one.
    """

    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return Transform(Rotation.quat_xyzw(*q), Vector3.zero())

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        units = (Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1))
        return tuple(Twist(Vector3.zero(), u) for u in units)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return list(quat_of(X.rotation))

    def continued(self, path: Any) -> Any:
        return one_sign(path)

    def lumped(self, inertia: Inertia) -> Inertia:
        return _at_center(inertia)

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 1.0)

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        return given_quaternion(values)

    def normalized(self, q: Sequence[Scalar]) -> list[Scalar]:
        return list(quat_unit(q))

    def coordinate_rates(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return quat_rates(q, v)

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return list(quat_unit(quat_product(q, half_turn_quat(Vector3(*v)))))

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return list(quat_difference(q0, q1))

    def transported(
        self, q0: Sequence[Scalar], q1: Sequence[Scalar], v: Sequence[Scalar]
    ) -> list[Scalar]:
        in_parent = self.transform(q1).rotation @ Vector3(*v)
        return list(self.transform(q0).rotation.T @ in_parent)

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        quat = rng.standard_normal((*batch, 4))
        return quat / np.linalg.norm(quat, axis=-1, keepdims=True)

    def coordinate_labels(self) -> tuple[Label, ...]:
        return tuple(Label(name, "") for name in ("qx", "qy", "qz", "qw"))

    def velocity_labels(self) -> tuple[Label, ...]:
        return tuple(Label(name, "rad/s") for name in ("wx", "wy", "wz"))

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return 0.0

    def in_chart(self, chart: Chart) -> Joint:
        return chart.orientation

    def mjcf(self) -> MjcfElement:
        return MjcfElement("ball")


@dataclass(frozen=True)
class ExponentialBall(Joint):
    """q = the rotation vector (axis times angle), v = its rate; singular at a full turn."""

    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3

    def transform(self, q: Sequence[Scalar]) -> Transform:
        # R = 1 + sin / theta [q] + (1 - cos) / theta^2 [q]^2: Liu & Jain eq. 53, 55
        r = Vector3(*q)
        x = r.dot(r)
        s, c = sine_quotient(x), cosine_quotient(x)
        return Transform(Rotation(*_series(r, x, s, c).rows), Vector3.zero())

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        # the body's angular velocity is R^T J q', with J of eq. 54 and 56: the transpose of J
        r = Vector3(*q)
        x = r.dot(r)
        columns = _series(r, x, -cosine_quotient(x), third_quotient(x)).T.rows
        return tuple(Twist(Vector3.zero(), column) for column in columns)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return list(rotation_vector(X.rotation))

    def continued(self, path: Any) -> Any:
        return continued_rotation_vectors(path)

    def lumped(self, inertia: Inertia) -> Inertia:
        return _at_center(inertia)

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        quat = rng.standard_normal((*batch, 4))
        norm = np.linalg.norm(quat[..., :3], axis=-1, keepdims=True)
        angle = 2.0 * np.arctan2(norm, np.abs(quat[..., 3:]))
        sign = np.where(quat[..., 3:] < 0.0, -1.0, 1.0)
        return np.clip(angle, 0.0, math.pi) * sign * quat[..., :3] / norm

    def coordinate_labels(self) -> tuple[Label, ...]:
        return tuple(Label(name, "rad") for name in ("rx", "ry", "rz"))

    def velocity_labels(self) -> tuple[Label, ...]:
        return tuple(Label(f"{name}_rate", "rad/s") for name in ("rx", "ry", "rz"))

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return 0.0

    def in_chart(self, chart: Chart) -> Joint:
        return chart.orientation


def _series(r: Vector3, x: Scalar, first: Scalar, second: Scalar) -> Matrix3:
    """1 + first [r] + second [r]^2, with [r]^2 = r rT - x, x = |r|^2."""
    u, w = r * first, r * second
    return Matrix3(
        Vector3(1 + w.x * r.x - second * x, w.x * r.y - u.z, w.x * r.z + u.y),
        Vector3(w.y * r.x + u.z, 1 + w.y * r.y - second * x, w.y * r.z - u.x),
        Vector3(w.z * r.x - u.y, w.z * r.y + u.x, 1 + w.z * r.z - second * x),
    )
