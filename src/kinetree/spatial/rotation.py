"""Rotations, held as the nine entries of the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

from kinetree.scalar import Scalar, cos, sin
from kinetree.spatial.vector import Matrix3, Symmetric3, Vector3


@dataclass(frozen=True, slots=True)
class Rotation:
    """R_AB: takes the coordinates of a vector in frame B to its coordinates in frame A."""

    a: Vector3
    b: Vector3
    c: Vector3

    @staticmethod
    def identity() -> Rotation:
        return Rotation(Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1))

    @staticmethod
    def about(axis: Vector3, angle: Scalar) -> Rotation:
        """The rotation about a unit axis u: u uT + cos(angle) (1 - u uT) + sin(angle) [u].

        Liu & Jain eq. 53, grouped so that a coordinate axis leaves exact zeros and ones.
        """
        s, c = sin(angle), cos(angle)
        x, y, z = axis
        xx, yy, zz = x * x, y * y, z * z
        v = 1 - c
        return Rotation(
            Vector3(xx + c * (1 - xx), x * y * v - s * z, x * z * v + s * y),
            Vector3(x * y * v + s * z, yy + c * (1 - yy), y * z * v - s * x),
            Vector3(x * z * v - s * y, y * z * v + s * x, zz + c * (1 - zz)),
        )

    @staticmethod
    def rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Rotation:
        """URDF's fixed-axis angles: R_z(yaw) R_y(pitch) R_x(roll)."""
        sr, cr = sin(roll), cos(roll)
        sp, cp = sin(pitch), cos(pitch)
        sy, cy = sin(yaw), cos(yaw)
        return Rotation(
            Vector3(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            Vector3(sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            Vector3(-sp, cp * sr, cp * cr),
        )

    @staticmethod
    def quat_xyzw(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Rotation:
        """The rotation of a unit quaternion; the length is not corrected."""
        x2, y2, z2 = x + x, y + y, z + z
        xx, yy, zz = x * x2, y * y2, z * z2
        xy, xz, yz = x * y2, x * z2, y * z2
        wx, wy, wz = w * x2, w * y2, w * z2
        return Rotation(
            Vector3(1 - (yy + zz), xy - wz, xz + wy),
            Vector3(xy + wz, 1 - (xx + zz), yz - wx),
            Vector3(xz - wy, yz + wx, 1 - (xx + yy)),
        )

    @property
    def rows(self) -> tuple[Vector3, Vector3, Vector3]:
        return (self.a, self.b, self.c)

    @property
    def T(self) -> Rotation:
        """The inverse."""
        return Rotation(*Matrix3(*self.rows).T.rows)

    @overload
    def __matmul__(self, other: Vector3) -> Vector3: ...

    @overload
    def __matmul__(self, other: Rotation) -> Rotation: ...

    def __matmul__(self, other: Vector3 | Rotation) -> Vector3 | Rotation:
        """R @ v turns a vector, R @ S composes two rotations."""
        if isinstance(other, Vector3):
            return Vector3(self.a.dot(other), self.b.dot(other), self.c.dot(other))
        columns = other.T.rows
        return Rotation(*(Vector3(*(row.dot(column) for column in columns)) for row in self.rows))

    def turn(self, matrix: Matrix3) -> Matrix3:
        """R A R^T."""
        half = tuple(self @ row for row in matrix.rows)  # rows of A R^T
        columns = Matrix3(*half).T.rows
        return Matrix3(*(self @ column for column in columns)).T

    def turn_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        """R S R^T, six entries of it.

        Each is a sum of its own: forms with fewer products take one diagonal entry from the
        others, and lose the digits of a small one.
        """
        u, v, w = (matrix @ row for row in self.rows)  # columns of S R^T
        a, b, c = self.rows
        return Symmetric3(a.dot(u), b.dot(v), c.dot(w), a.dot(v), a.dot(w), b.dot(w))
