"""Rotations, held as the nine entries of the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

from kinetree.scalar import Scalar, cos, known, sin
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
        return (
            Rotation.about(Vector3(0, 0, 1), yaw)
            @ Rotation.about(Vector3(0, 1, 0), pitch)
            @ Rotation.about(Vector3(1, 0, 0), roll)
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
        plane = self._plane()
        if plane is not None:
            return plane.turn(matrix)
        half = tuple(self @ row for row in matrix.rows)  # rows of A R^T
        columns = Matrix3(*half).T.rows
        return Matrix3(*(self @ column for column in columns)).T

    def turn_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        """R S R^T, six entries of it."""
        plane = self._plane()
        if plane is not None:
            return Symmetric3.of_rows(*plane.turn(Matrix3(*matrix.rows)).rows)
        u, v, w = (matrix @ row for row in self.rows)  # columns of S R^T
        a, b, c = self.rows
        return Symmetric3(a.dot(u), b.dot(v), c.dot(w), a.dot(v), a.dot(w), b.dot(w))

    def _plane(self) -> _Plane | None:
        """The rotation as one in a plane, if one axis is known to go to another or its opposite."""
        rows = [[known(entry) for entry in row] for row in self.rows]
        for i, row in enumerate(rows):
            if row.count(0) == 2:
                j = next(k for k in range(3) if row[k] != 0)
                sign = row[j]
                if sign in (1, -1) and all(rows[k][j] == 0 for k in range(3) if k != i):
                    return _Plane(self, i, j, sign)
        return None


class _Plane:
    """A rotation that takes axis j to axis i, or to its opposite, and turns the plane across.

    On the other two axes it is B = [[c, -d s], [s, d c]], a rotation after a reflection if d = -1.
    Because c^2 + s^2 = 1, turning a block of A = [[x, y], [z, w]] takes four multiplications:

        e = s (x - w) + c (d y + d z)
        B A B^T = [[x - s e, c e - d z], [c e - d y, w + s e]]
    """

    def __init__(self, rotation: Rotation, i: int, j: int, sign: Scalar) -> None:
        self.i, self.j, self.sign = i, j, sign
        self.rows = [k for k in range(3) if k != i]
        self.columns = [k for k in range(3) if k != j]
        entries = [list(row) for row in rotation.rows]
        self.c = entries[self.rows[0]][self.columns[0]]
        self.s = entries[self.rows[1]][self.columns[0]]
        self.d = sign if (i + j) % 2 == 0 else -sign  # det R = 1

    def turn(self, matrix: Matrix3) -> Matrix3:
        """R A R^T."""
        A = [list(row) for row in matrix.rows]
        (p, q), (m, n) = self.rows, self.columns
        i, j, c, s, d = self.i, self.j, self.c, self.s, self.d
        R: list[list[Scalar]] = [[0, 0, 0] for _ in range(3)]
        R[i][i] = A[j][j]
        # the row and the column of the fixed axis are vectors of the plane
        x, y = A[m][j] * self.sign, A[n][j] * (self.sign * d)
        R[p][i], R[q][i] = c * x - s * y, s * x + c * y
        x, y = A[j][m] * self.sign, A[j][n] * (self.sign * d)
        R[i][p], R[i][q] = c * x - s * y, s * x + c * y
        # symmetric and skew part of the plane's own block; the skew part does not turn
        y, z = A[m][n] * d, A[n][m] * d
        e = s * (A[m][m] - A[n][n]) + c * (y + z)
        R[p][p], R[q][q] = A[m][m] - s * e, A[n][n] + s * e
        R[p][q], R[q][p] = c * e - z, c * e - y
        return Matrix3(*(Vector3(*row) for row in R))
