"""Spatial motions (velocities, accelerations, axes) and spatial forces (wrenches, momenta)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinetree.scalar import Scalar
from kinetree.spatial.rotation import Rotation
from kinetree.spatial.vector import Vector3


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion vector: `linear` belongs to the point at the frame's origin."""

    linear: Vector3
    angular: Vector3

    @staticmethod
    def zero() -> Motion:
        return Motion(Vector3.zero(), Vector3.zero())

    def __iter__(self) -> Iterator[Scalar]:
        yield from self.linear
        yield from self.angular

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Motion) -> Motion:
        return Motion(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Motion:
        return Motion(-self.linear, -self.angular)

    def __mul__(self, s: Scalar) -> Motion:
        return Motion(self.linear * s, self.angular * s)

    def dot(self, force: Force) -> Scalar:
        """The power of a force at this velocity."""
        return self.linear.dot(force.linear) + self.angular.dot(force.angular)

    def cross(self, other: Motion) -> Motion:
        """v x m: the rate of m if it moves along with velocity v."""
        return Motion(
            self.angular.cross(other.linear) + self.linear.cross(other.angular),
            self.angular.cross(other.angular),
        )

    def cross_force(self, force: Force) -> Force:
        """v x* f: the rate of f if it moves along with velocity v."""
        return Force(
            self.angular.cross(force.linear),
            self.angular.cross(force.angular) + self.linear.cross(force.linear),
        )

    def moved_to_parent(self, rotation: Rotation, point: Vector3) -> Motion:
        angular = rotation @ self.angular
        return Motion(rotation @ self.linear + point.cross(angular), angular)

    def moved_to_child(self, rotation: Rotation, point: Vector3) -> Motion:
        back = rotation.T
        return Motion(back @ (self.linear + self.angular.cross(point)), back @ self.angular)


@dataclass(frozen=True, slots=True)
class Force:
    """A force vector: `angular` is the moment about the frame's origin."""

    linear: Vector3
    angular: Vector3

    @staticmethod
    def zero() -> Force:
        return Force(Vector3.zero(), Vector3.zero())

    def __iter__(self) -> Iterator[Scalar]:
        yield from self.linear
        yield from self.angular

    def __add__(self, other: Force) -> Force:
        return Force(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Force) -> Force:
        return Force(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Force:
        return Force(-self.linear, -self.angular)

    def __mul__(self, s: Scalar) -> Force:
        return Force(self.linear * s, self.angular * s)

    def dot(self, motion: Motion) -> Scalar:
        return motion.dot(self)

    def moved_to_parent(self, rotation: Rotation, point: Vector3) -> Force:
        linear = rotation @ self.linear
        return Force(linear, rotation @ self.angular + point.cross(linear))

    def moved_to_child(self, rotation: Rotation, point: Vector3) -> Force:
        back = rotation.T
        return Force(back @ self.linear, back @ (self.angular - point.cross(self.linear)))
