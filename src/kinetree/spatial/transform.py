"""Rigid transforms: the pose of one frame in another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from kinetree.scalar import Scalar
from kinetree.spatial.rotation import Rotation
from kinetree.spatial.vector import Vector3

T = TypeVar("T", bound="Movable")


class Movable(Protocol):
    """A quantity that can be transformed from a child's frame to its parent's."""

    def moved_to_parent(self: T, rotation: Rotation, point: Vector3) -> T: ...


class Returnable(Protocol):
    """A quantity that can be transformed from a parent's frame to its child's."""

    def moved_to_child(self: U, rotation: Rotation, point: Vector3) -> U: ...


U = TypeVar("U", bound=Returnable)


@dataclass(frozen=True, slots=True)
class Transform:
    """X_PC: the pose of a child frame C in its parent frame P.

    Attributes:
        rotation: R_PC, the axes of C in P.
        translation: the origin of C in P.
    """

    rotation: Rotation
    translation: Vector3

    @staticmethod
    def identity() -> Transform:
        """The pose of a frame in itself.

        Returns:
            The identity.
        """
        return Transform(Rotation.identity(), Vector3.zero())

    def __matmul__(self, other: Transform) -> Transform:
        """X_PC @ X_CD = X_PD."""
        return Transform(self.rotation @ other.rotation, self.point(other.translation))

    def point(self, p: Vector3) -> Vector3:
        """The coordinates in P of a point given in C.

        Arguments:
            p: the point's coordinates in C.

        Returns:
            Its coordinates in P.
        """
        return self.translation + self.rotation @ p

    def inverse(self) -> Transform:
        """X_CP: the pose of the parent in the child.

        Returns:
            A transform.
        """
        back = self.rotation.T
        return Transform(back, -(back @ self.translation))

    def to_parent(self, value: T) -> T:
        """A motion, force or inertia given in C, in the coordinates of P.

        Arguments:
            value: in C.

        Returns:
            The same in P.
        """
        return value.moved_to_parent(self.rotation, self.translation)

    def to_child(self, value: U) -> U:
        """A motion or force given in P, in the coordinates of C.

        Arguments:
            value: in P.

        Returns:
            The same in C.
        """
        return value.moved_to_child(self.rotation, self.translation)

    def matrix(self) -> list[list[Scalar]]:
        """The homogeneous 4x4 matrix.

        Returns:
            Four rows of four scalars.
        """
        pairs = zip(self.rotation.rows, self.translation, strict=True)
        return [[*row, p] for row, p in pairs] + [[0, 0, 0, 1]]
