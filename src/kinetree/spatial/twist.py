"""Twists (velocities, accelerations, axes of joints) and spatial forces (wrenches, momenta)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinetree.scalar import Scalar
from kinetree.spatial.rotation import Rotation
from kinetree.spatial.vector import Vector3


@dataclass(frozen=True, slots=True)
class Twist:
    """A motion vector, an element of se(3): a velocity, an acceleration or a joint's axis.

    Attributes:
        linear: the velocity of the point at the frame's origin.
        angular: the angular velocity.
    """

    linear: Vector3
    angular: Vector3

    @staticmethod
    def zero() -> Twist:
        """The motion of a body at rest.

        Returns:
            Six zeros.
        """
        return Twist(Vector3.zero(), Vector3.zero())

    def __iter__(self) -> Iterator[Scalar]:
        yield from self.linear
        yield from self.angular

    def __add__(self, other: Twist) -> Twist:
        return Twist(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Twist) -> Twist:
        return Twist(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Twist:
        return Twist(-self.linear, -self.angular)

    def __mul__(self, s: Scalar) -> Twist:
        return Twist(self.linear * s, self.angular * s)

    def dot(self, force: Force) -> Scalar:
        """The power of a force at this velocity.

        Arguments:
            force: in the same frame.

        Returns:
            One scalar.
        """
        return self.linear.dot(force.linear) + self.angular.dot(force.angular)

    def cross(self, other: Twist) -> Twist:
        """v x m: the rate of a motion that is carried along with velocity v.

        Arguments:
            other: m, in the same frame.

        Returns:
            A motion.
        """
        return Twist(
            self.angular.cross(other.linear) + self.linear.cross(other.angular),
            self.angular.cross(other.angular),
        )

    def cross_force(self, force: Force) -> Force:
        """v x* f: the rate of a force that is carried along with velocity v.

        Arguments:
            force: f, in the same frame.

        Returns:
            A force.
        """
        return Force(
            self.angular.cross(force.linear),
            self.angular.cross(force.angular) + self.linear.cross(force.linear),
        )

    def moved_to_parent(self, rotation: Rotation, point: Vector3) -> Twist:
        """The same motion in the parent's frame.

        Arguments:
            rotation, point: the pose of this frame in the parent's.

        Returns:
            A motion, at the parent's origin.
        """
        angular = rotation @ self.angular
        return Twist(rotation @ self.linear + point.cross(angular), angular)

    def moved_to_child(self, rotation: Rotation, point: Vector3) -> Twist:
        """The same motion in a child's frame.

        Arguments:
            rotation, point: the pose of the child's frame in this one.

        Returns:
            A motion, at the child's origin.
        """
        back = rotation.T
        return Twist(back @ (self.linear + self.angular.cross(point)), back @ self.angular)


@dataclass(frozen=True, slots=True)
class Force:
    """A force vector, or wrench.

    Attributes:
        linear: the force.
        angular: the moment about the frame's origin.
    """

    linear: Vector3
    angular: Vector3

    @staticmethod
    def zero() -> Force:
        """No force.

        Returns:
            Six zeros.
        """
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

    def dot(self, motion: Twist) -> Scalar:
        """The power of this force at a velocity.

        Arguments:
            motion: the velocity, in the same frame.

        Returns:
            One scalar.
        """
        return motion.dot(self)

    def moved_to_parent(self, rotation: Rotation, point: Vector3) -> Force:
        """The same force in the parent's frame.

        Arguments:
            rotation, point: the pose of this frame in the parent's.

        Returns:
            A force, at the parent's origin.
        """
        linear = rotation @ self.linear
        return Force(linear, rotation @ self.angular + point.cross(linear))

    def moved_to_child(self, rotation: Rotation, point: Vector3) -> Force:
        """The same force in a child's frame.

        Arguments:
            rotation, point: the pose of the child's frame in this one.

        Returns:
            A force, at the child's origin.
        """
        back = rotation.T
        return Force(back @ self.linear, back @ (self.angular - point.cross(self.linear)))
