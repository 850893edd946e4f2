"""A joint whose coordinates are functions of other joints' coordinates, as loops make them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from kinetree.model.joints.answers import Chart, Transmission
from kinetree.model.joints.base import Joint
from kinetree.model.joints.wrapped import Wrapped
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Inertia, Transform, Twist, Vector3


@dataclass(frozen=True)
class CoordinateMap(ABC):
    """A function from coordinates to coordinates: frozen data, evaluated on any scalar."""

    @abstractmethod
    def coordinates(self, q: Sequence[Scalar]) -> list[Scalar]:
        """The coordinates of a dependent joint.

        Arguments:
            q: the coordinates that it depends on.

        Returns:
            As many scalars as the dependent joint has coordinates.
        """


@dataclass(frozen=True)
class Dependent(Wrapped):
    """A joint that has no coordinates of its own: a map gives them from those of other joints.

    Its coordinates q and velocities are those of the joints it depends on, which are adjacent in
    q; its body takes them, so algorithms need not know. `joint` has these coordinates, `inner`
    moves the body.
    """

    inner: Joint
    map: CoordinateMap

    def inner_coordinates(self, q: Sequence[Scalar]) -> list[Scalar]:
        return self.map.coordinates(q)

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.inner.transform(self.inner_coordinates(q))

    def ratios(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        units = [[1 if i == k else 0 for i in range(self.nv)] for k in range(self.nv)]
        return [self.inner_velocity(q, unit) for unit in units]

    def inner_velocity(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        moving = [lift(x) for x in self.inner_coordinates(self._moving(q, v))]
        if self.inner.nq == self.inner.nv:
            return [x.rate for x in moving]
        still = [Dual(x.value, 0) for x in moving]
        return [lift(x).rate for x in self.inner.difference(still, moving)]

    def subspace(self, q: Sequence[Scalar]) -> tuple[Twist, ...]:
        axes = self.inner.subspace(self.inner_coordinates(q))
        columns = []
        for ratio in self.ratios(q):
            total = Twist.zero()
            for axis, speed in zip(axes, ratio, strict=True):
                total = total + axis * speed
            columns.append(total)
        return tuple(columns)

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Twist, ...]:
        return tuple(
            Twist(*(Vector3(*(lift(x).rate for x in part)) for part in (m.linear, m.angular)))
            for m in self.subspace(self._moving(q, v))
        )

    def _moving(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return [Dual(x, r) for x, r in zip(q, self.joint.coordinate_rates(q, v), strict=True)]

    @property
    def transmission(self) -> Transmission:
        return Transmission(self.inner, 0.0, 0.0)

    @property
    def has_varying_ratio(self) -> bool:
        return True

    def lumped(self, inertia: Inertia) -> Inertia:
        return self.inner.lumped(inertia)

    def travel(self, lower: Sequence[float], upper: Sequence[float]) -> float:
        return inf

    def snapped(self) -> Joint:
        return replace(self, inner=self.inner.snapped())

    def recentered(self) -> tuple[Transform, Joint]:
        X, inner = self.inner.recentered()
        return X, replace(self, inner=inner)

    def aligned(self) -> tuple[Transform, Joint]:
        X, inner = self.inner.aligned()
        return X, replace(self, inner=inner)

    def coordinates_at(self, X: Transform) -> list[Scalar]:
        return list(self.joint.neutral())  # its pose does not determine them

    def in_chart(self, chart: Chart) -> Joint | None:
        return None
