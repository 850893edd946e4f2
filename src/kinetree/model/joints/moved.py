"""A joint seen from elsewhere: its frames moved, or its two sides exchanged.

Neither changes its coordinates: the same q, v and tau mean the same motion and the same work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kinetree.model.joints.base import Joint
from kinetree.model.joints.composite import Composite
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Revolute
from kinetree.model.joints.screw import Screw
from kinetree.scalar import Scalar
from kinetree.spatial import Motion, Rotation, Transform

ROUNDING = 1e-14


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

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return self.joint.difference(q0, q1)

    def displacement(self, rest: Sequence[Scalar], q: Sequence[Scalar]) -> list[Scalar]:
        return self.joint.displacement(rest, q)

    def sample(self, rng: Any, batch: tuple[int, ...], lower: Any, upper: Any) -> Any:
        return self.joint.sample(rng, batch, lower, upper)


@dataclass(frozen=True)
class Moved(Wrapped):
    """A joint whose own frame is `at` in the body's: X J(q) X^-1. Made by `moved`."""

    at: Transform

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.at @ self.joint.transform(q) @ self.at.inverse()

    def coordinates_of(self, X: Transform) -> list[Scalar]:
        return self.joint.coordinates_of(self.at.inverse() @ X @ self.at)

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        return tuple(self.at.to_parent(axis) for axis in self.joint.subspace(q))

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        return tuple(self.at.to_parent(rate) for rate in self.joint.subspace_rate(q, v))


@dataclass(frozen=True)
class Reversed(Wrapped):
    """A joint whose body is the other one: J(q)^-1. Made by `reversed_joint`."""

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.joint.transform(q).inverse()

    def coordinates_of(self, X: Transform) -> list[Scalar]:
        return self.joint.coordinates_of(X.inverse())

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        X = self.joint.transform(q)
        return tuple(-X.to_parent(axis) for axis in self.joint.subspace(q))

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
        X, axes = self.joint.transform(q), self.joint.subspace(q)
        V = Motion.zero()
        for axis, speed in zip(axes, v, strict=True):
            V = V + axis * speed
        rates = self.joint.subspace_rate(q, v)
        # the axes as the first body sees them turn with the second, which moves with V
        return tuple(
            -X.to_parent(V.cross(axis) + rate) for axis, rate in zip(axes, rates, strict=True)
        )


def moved(joint: Joint, at: Transform) -> Joint:
    """The joint X J(q) X^-1, as simple as it can be said: axes are turned."""
    if _stays(at):
        return joint
    if isinstance(joint, Composite):
        return Composite(tuple(moved(part, at) for part in joint.parts))
    if isinstance(joint, Moved):
        return moved(joint.joint, at @ joint.at)
    if isinstance(joint, Prismatic):
        return Prismatic(at.rotation @ joint.axis)
    if isinstance(joint, (Revolute, Screw)):
        joint = replace(joint, axis=at.rotation @ joint.axis)
        at = Transform(Rotation.identity(), at.translation)
    return joint if _stays(at) else Moved(joint, at)


def _stays(at: Transform) -> bool:
    """Whether a transform is the identity, but for the rounding of going there and back."""
    rows = zip(at.matrix(), Transform.identity().matrix(), strict=True)
    return all(abs(a - b) <= ROUNDING for row in rows for a, b in zip(*row, strict=True))


def reversed_joint(joint: Joint) -> Joint:
    """The joint J(q)^-1, as simple as it can be said: axes point the other way."""
    if isinstance(joint, Moved):
        return replace(joint, joint=reversed_joint(joint.joint))
    if isinstance(joint, Reversed):
        return joint.joint
    if isinstance(joint, (Prismatic, Revolute, Screw)):
        return replace(joint, axis=-joint.axis)
    return Reversed(joint)
