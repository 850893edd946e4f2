"""Rotations, held as the nine entries of the matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import overload

from kinetree.scalar import Scalar, cos, known, sin
from kinetree.spatial.vector import Matrix3, Symmetric3, Vector3


@dataclass(frozen=True, slots=True)
class Rotation:
    """R_AB: takes the coordinates of a vector in frame B to its coordinates in frame A.

    steps: two rotations it is the product of, if it takes less to do one after the other.
    """

    a: Vector3
    b: Vector3
    c: Vector3
    steps: tuple[Rotation, Rotation] | None = field(
        default=None, kw_only=True, compare=False, repr=False
    )

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
        """The rotation of a quaternion of any length but zero: that of its direction."""
        scale = 2 / (x * x + y * y + z * z + w * w)
        x2, y2, z2 = x * scale, y * scale, z * scale
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
        steps = (self.steps[1].T, self.steps[0].T) if self.steps else None
        return Rotation(*Matrix3(*self.rows).T.rows, steps=steps)

    @property
    def axis(self) -> int | None:
        """The coordinate axis that stays where it is: 0, 1 or 2."""
        rows = [tuple(row) for row in self.rows]
        for k in range(3):
            others = (*rows[k][:k], *rows[k][k + 1 :], *(rows[i][k] for i in range(3) if i != k))
            if known(rows[k][k]) == 1.0 and all(known(x) == 0.0 for x in others):
                return k
        return None

    @property
    def is_known(self) -> bool:
        """Whether it is the same in every state."""
        return all(known(x) is not None for row in self.rows for x in row)

    @property
    def exchanges(self) -> bool:
        """Whether it only exchanges coordinate axes, and turns some round."""
        return all(known(x) in (-1.0, 0.0, 1.0) for row in self.rows for x in row)

    @overload
    def __matmul__(self, other: Vector3) -> Vector3: ...

    @overload
    def __matmul__(self, other: Rotation) -> Rotation: ...

    def __matmul__(self, other: Vector3 | Rotation) -> Vector3 | Rotation:
        """R @ v turns a vector, R @ S composes two rotations."""
        if isinstance(other, Vector3):
            if self.steps:
                return self.steps[0] @ (self.steps[1] @ other)
            return Vector3(self.a.dot(other), self.b.dot(other), self.c.dot(other))
        if other.steps:
            return (self @ other.steps[0]) @ other.steps[1]
        columns = other.T.rows
        rows = (Vector3(*(row.dot(column) for column in columns)) for row in self.rows)
        return Rotation(*rows, steps=self._steps(other))

    def _steps(self, other: Rotation) -> tuple[Rotation, Rotation] | None:
        """This and another rotation, if one after the other takes less than their product."""
        axes = self.axis, other.axis
        simple = self.exchanges or axes[0] is not None
        return (self, other) if simple and axes[1] is not None and axes[0] != axes[1] else None

    def turn(self, matrix: Matrix3) -> Matrix3:
        """R A R^T."""
        if self.steps:
            return self.steps[0].turn(self.steps[1].turn(matrix))
        if self.axis is not None:
            return self._turn_about(self.axis, matrix)
        half = tuple(self @ row for row in matrix.rows)  # rows of A R^T
        columns = Matrix3(*half).T.rows
        return Matrix3(*(self @ column for column in columns)).T

    def turn_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        """R S R^T, six entries of it.

        Each is a sum of its own: forms with fewer products take one diagonal entry from the
        others, and lose the digits of a small one.
        """
        if self.steps:
            return self.steps[0].turn_symmetric(self.steps[1].turn_symmetric(matrix))
        if self.axis is not None:
            return Symmetric3.of_rows(*self._turn_about(self.axis, matrix).rows)
        if matrix.squares and not self.is_known:
            d, *roots = matrix.squares
            a, b = (self @ root for root in roots)
            return Symmetric3.diagonal(d) + Symmetric3.outer(b, b) + Symmetric3.outer(a, a)
        u, v, w = (matrix @ row for row in self.rows)  # columns of S R^T
        a, b, c = self.rows
        return Symmetric3(a.dot(u), b.dot(v), c.dot(w), a.dot(v), a.dot(w), b.dot(w))

    def _turn_about(self, k: int, matrix: Matrix3 | Symmetric3) -> Matrix3:
        """R A R^T of a rotation about a coordinate axis, of which only two others are turned."""
        i, j = (k + 1) % 3, (k + 2) % 3
        R, A = ([list(row) for row in x.rows] for x in (self, matrix))
        c, s = R[i][i], R[j][i]
        cc, ss, cs = c * c, s * s, c * s
        level, across = cs * (A[i][i] - A[j][j]), cs * (A[i][j] + A[j][i])
        turned = [[A[k][k]] * 3 for _ in range(3)]
        turned[i][i] = cc * A[i][i] + (ss * A[j][j] - across)
        turned[j][j] = ss * A[i][i] + (cc * A[j][j] + across)
        if isinstance(matrix, Symmetric3):
            turned[i][j] = turned[j][i] = level + (cc - ss) * A[i][j]
        else:
            turned[i][j] = level + (cc * A[i][j] - ss * A[j][i])
            turned[j][i] = level + (cc * A[j][i] - ss * A[i][j])
        turned[i][k], turned[j][k] = c * A[i][k] - s * A[j][k], s * A[i][k] + c * A[j][k]
        turned[k][i], turned[k][j] = c * A[k][i] - s * A[k][j], s * A[k][i] + c * A[k][j]
        return Matrix3(*(Vector3(*row) for row in turned))
