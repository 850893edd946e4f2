"""A joint in other frames: relocated in its body, or with its two bodies exchanged.

Neither changes its coordinates: the same q, v and tau mean the same motion and the same work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kinetree.model.joints.answers import Chart, Label, MjcfElement
from kinetree.model.joints.base import Joint
from kinetree.model.rounding import snapped_transform
from kinetree.scalar import Scalar
from kinetree.spatial import Rotation, Transform, Twist


@dataclass(frozen=True)
class Wrapped(Joint):
    """A joint that has the coordinates of another."""

    joint: Joint

    @property
    def nq(self) -> int:
        return self.joint.nq

    @property
    def nv(self) -> int:
        return self.joint.nv

    def neutral(self) -> tuple[float, ...]:
        return self.joint.neutral()

    def coordinates(self, values: Sequence[float]) -> Sequence[float]:
        return self.joint.coordinates(values)

    def normalized(self, q: Sequence[Scalar]) -> list[Scalar]:
        return self.joint.normalized(q)

    def coordinate_rates(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return self.joint.coordinate_rates(q, v)

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return self.joint.integrate(q, v)

    def turning(self, v: Sequence[Scalar], w: Sequence[Scalar]) -> Sequence[Scalar]:
        return self.joint.turning(v, w)

    def advance(
        self, q: Sequence[Scalar], v: Sequence[Scalar], dt: Scalar
    ) -> tuple[list[Scalar], list[Scalar]]:
        return self.joint.advance(q, v, dt)

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return self.joint.difference(q0, q1)

    def transported(
        self, q0: Sequence[Scalar], q1: Sequence[Scalar], v: Sequence[Scalar]
    ) -> list[Scalar]:
        return self.joint.transported(q0, q1, v)

    def continued(self, path: Any) -> Any:
        return self.joint.continued(path)

    def displacement(self, rest: Sequence[Scalar], q: Sequence[Scalar]) -> list[Scalar]:
        return self.joint.displacement(rest, q)

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        return self.joint.sample(rng, batch, lower, upper)

    def coordinate_labels(self) -> tuple[Label, ...]:
        return self.joint.coordinate_labels()

    def velocity_labels(self) -> tuple[Label, ...]:
        return self.joint.velocity_labels()

    def singular_part(self) -> Joint:
        return self.joint.singular_part()

    def snapped(self) -> Joint:
        return replace(self, joint=self.joint.snapped())

    def in_chart(self, chart: Chart) -> Joint | None:
        inner = self.joint.in_chart(chart)
        return inner and replace(self, joint=inner)


@dataclass(frozen=True)
class Relocated(Wrapped):
    """X J(q) X^-1: a joint whose own frame is at X in the body's. Made by `Joint.relocated`."""

    at: Transform

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.at @ self.joint.transform(q) @ self.at.inverse()

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        return tuple(self.at.to_parent(axis) for axis in self.joint.subspace(q))

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Twist, ...]:
        return tuple(self.at.to_parent(rate) for rate in self.joint.subspace_rate(q, v))

    @property
    def has_constant_axes(self) -> bool:
        return self.joint.has_constant_axes

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return 2.0 * math.hypot(*self.at.translation) + self.joint.travel(lower, upper)

    def snapped(self) -> Joint:
        return Relocated(self.joint.snapped(), snapped_transform(self.at))

    def recentered(self) -> tuple[Transform, Joint]:
        return self.at, self.joint

    def _relocated(self, at: Transform) -> Joint:
        return self.joint.relocated(at @ self.at)

    def reversed(self) -> Joint:
        return Relocated(self.joint.reversed(), self.at)

    def factors(self) -> tuple[Joint | Transform, ...]:
        return (self.at, self.joint, self.at.inverse())

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return self.joint.coordinates_at(self.at.inverse() @ X @ self.at)

    def mjcf(self) -> MjcfElement | None:
        element = self.joint.mjcf()
        only_shifted = self.at.rotation == Rotation.identity()
        if element is None or element.type == "free" or not only_shifted:
            return None
        return element._replace(position=self.at.translation)


@dataclass(frozen=True)
class Reversed(Wrapped):
    """J(q)^-1: a joint with its two bodies exchanged. Made by `Joint.reversed`."""

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.joint.transform(q).inverse()

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        X = self.joint.transform(q)
        return tuple(-X.to_parent(axis) for axis in self.joint.subspace(q))

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Twist, ...]:
        X, axes = self.joint.transform(q), self.joint.subspace(q)
        V = Twist.zero()
        for axis, speed in zip(axes, v, strict=True):
            V = V + axis * speed
        rates = self.joint.subspace_rate(q, v)
        # the axes as the first body sees them turn with the second, which moves with V
        return tuple(
            -X.to_parent(V.cross(axis) + rate) for axis, rate in zip(axes, rates, strict=True)
        )

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return self.joint.travel(lower, upper)

    def reversed(self) -> Joint:
        return self.joint

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return self.joint.coordinates_at(X.inverse())
