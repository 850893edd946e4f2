"""Rotations, held as the nine entries of the matrix.

`AxisRotation` and `ProductRotation` are rotations of known structure: they give the same results
with fewer multiplications. `Rotation.about` and products of rotations make them, and `structured`
finds the structure in the entries of a constant rotation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import overload

from kinetree.scalar import Scalar, cos, known, sin
from kinetree.spatial.vector import Matrix3, Symmetric3, Vector3


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """R_AB: takes the coordinates of a vector in frame B to its coordinates in frame A.

    Attributes:
        a, b, c: the rows of the matrix.
    """

    a: Vector3
    b: Vector3
    c: Vector3

    @staticmethod
    def identity() -> Rotation:
        """The rotation that changes nothing.

        Returns:
            The identity.
        """
        return Rotation(Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1))

    @staticmethod
    def about(axis: Vector3, angle: Scalar) -> Rotation:
        """The rotation about an axis u: u uT + cos(angle) (1 - u uT) + sin(angle) [u].

        Liu & Jain eq. 53, grouped so that a coordinate axis leaves exact zeros and ones.

        Arguments:
            axis: u, of length one.
            angle: rad.

        Returns:
            The rotation.
        """
        s, c = sin(angle), cos(angle)
        x, y, z = axis
        xx, yy, zz = x * x, y * y, z * z
        v = 1 - c
        rows = (
            Vector3(xx + c * (1 - xx), x * y * v - s * z, x * z * v + s * y),
            Vector3(x * y * v + s * z, yy + c * (1 - yy), y * z * v - s * x),
            Vector3(x * z * v - s * y, y * z * v + s * x, zz + c * (1 - zz)),
        )
        along = [k for k, entry in enumerate(axis) if known(entry) != 0.0]
        return AxisRotation(*rows, axis=along[0]) if len(along) == 1 else Rotation(*rows)

    @staticmethod
    def rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Rotation:
        """The rotation of URDF's fixed-axis angles: R_z(yaw) R_y(pitch) R_x(roll).

        Arguments:
            roll, pitch, yaw: rad.

        Returns:
            The rotation.
        """
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
        """The rotation of a quaternion.

        Arguments:
            x, y, z, w: its components; only its direction counts, but it must not be zero.

        Returns:
            The rotation.
        """
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rotation) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows)

    @property
    def rows(self) -> tuple[Vector3, Vector3, Vector3]:
        """The rows of the matrix."""
        return (self.a, self.b, self.c)

    @property
    def T(self) -> Rotation:
        """The inverse."""
        return Rotation(*_transposed(self))

    @property
    def is_constant(self) -> bool:
        """Whether it is the same in every state."""
        return all(known(x) is not None for row in self.rows for x in row)

    @overload
    def __matmul__(self, other: Vector3) -> Vector3: ...

    @overload
    def __matmul__(self, other: Rotation) -> Rotation: ...

    def __matmul__(self, other: Vector3 | Rotation) -> Vector3 | Rotation:
        """R @ v turns a vector, R @ S composes two rotations."""
        return self._turned(other) if isinstance(other, Vector3) else other._after(self)

    def turn(self, matrix: Matrix3) -> Matrix3:
        """R A R^T: a matrix in the axes of A.

        Arguments:
            matrix: in the axes of B.

        Returns:
            A matrix.
        """
        half = tuple(self @ row for row in matrix.rows)  # rows of A R^T
        columns = Matrix3(*half).T.rows
        return Matrix3(*(self @ column for column in columns)).T

    def turn_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        """R S R^T: a symmetric matrix in the axes of A.

        Arguments:
            matrix: in the axes of B.

        Returns:
            A symmetric matrix.
        """
        return matrix.turned(self)

    def structured(self) -> Rotation:
        """The same rotation, as an `AxisRotation` if its entries have that structure.

        Returns:
            A rotation.
        """
        fixed = self._fixed_axes
        return AxisRotation(*self.rows, axis=fixed[0]) if len(fixed) == 1 else self

    @property
    def _fixed_axes(self) -> list[int]:
        """The coordinate axes whose row and column are known to be those of the identity."""
        pairs = zip(self.rows, _transposed(self), _UNITS, strict=True)
        return [
            k
            for k, (row, column, unit) in enumerate(pairs)
            if all([known(entry) for entry in v] == [*unit] for v in (row, column))
        ]

    @property
    def _is_simple(self) -> bool:
        """Whether turning a vector by it is cheaper than turning it by a general rotation."""
        return all(known(x) in (-1.0, 0.0, 1.0) for row in self.rows for x in row)

    def _turned(self, v: Vector3) -> Vector3:
        return Vector3(self.a.dot(v), self.b.dot(v), self.c.dot(v))

    def _after(self, left: Rotation) -> Rotation:
        """The product left @ self."""
        return Rotation(*_product(left, self))


_UNITS = (Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1))


def _transposed(R: Rotation) -> tuple[Vector3, Vector3, Vector3]:
    return Matrix3(*R.rows).T.rows


def _product(R: Rotation, S: Rotation) -> tuple[Vector3, Vector3, Vector3]:
    """The rows of R S."""
    columns = _transposed(S)
    a, b, c = (Vector3(*(row.dot(column) for column in columns)) for row in R.rows)
    return a, b, c


@dataclass(frozen=True, slots=True, eq=False)
class AxisRotation(Rotation):
    """A rotation about a coordinate axis, which mixes only the two other coordinates.

    axis: 0, 1 or 2.
    """

    axis: int = field(compare=False)

    @property
    def T(self) -> Rotation:
        return AxisRotation(*_transposed(self), axis=self.axis)

    @property
    def _is_simple(self) -> bool:
        return True

    def _after(self, left: Rotation) -> Rotation:
        rows = _product(left, self)
        about_the_same = isinstance(left, AxisRotation) and left.axis == self.axis
        if about_the_same or len(left._fixed_axes) == 3:
            return AxisRotation(*rows, axis=self.axis)
        # one after the other costs less than their product, whose entries are all different
        return ProductRotation(*rows, left=left, right=self) if left._is_simple else Rotation(*rows)

    def turn(self, matrix: Matrix3) -> Matrix3:
        def between(cc: Scalar, ss: Scalar, ij: Scalar, ji: Scalar) -> tuple[Scalar, Scalar]:
            return cc * ij - ss * ji, cc * ji - ss * ij

        return self._turned_matrix(matrix, between)

    def turn_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        def between(cc: Scalar, ss: Scalar, ij: Scalar, _: Scalar) -> tuple[Scalar, Scalar]:
            entry = (cc - ss) * ij
            return entry, entry

        return Symmetric3.of_rows(*self._turned_matrix(matrix, between).rows)

    def _turned_matrix(
        self, matrix: Matrix3 | Symmetric3, between: Callable[..., tuple[Scalar, Scalar]]
    ) -> Matrix3:
        """R A R^T.

        between: from the squares of cosine and sine and the entries A_ij and A_ji between the axes
            that turn to what these entries contribute to their own places.
        """
        k, i, j = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3
        R, A = ([list(row) for row in x.rows] for x in (self, matrix))
        c, s = R[i][i], R[j][i]
        cc, ss, cs = c * c, s * s, c * s
        level, mixed = cs * (A[i][i] - A[j][j]), cs * (A[i][j] + A[j][i])
        turned = [[A[k][k]] * 3 for _ in range(3)]
        turned[i][i] = cc * A[i][i] + (ss * A[j][j] - mixed)
        turned[j][j] = ss * A[i][i] + (cc * A[j][j] + mixed)
        ij, ji = between(cc, ss, A[i][j], A[j][i])
        turned[i][j], turned[j][i] = level + ij, level + ji
        turned[i][k], turned[j][k] = c * A[i][k] - s * A[j][k], s * A[i][k] + c * A[j][k]
        turned[k][i], turned[k][j] = c * A[k][i] - s * A[k][j], s * A[k][i] + c * A[k][j]
        return Matrix3(*(Vector3(*row) for row in turned))


@dataclass(frozen=True, slots=True, eq=False)
class ProductRotation(Rotation):
    """The product of two rotations, which it applies one after the other."""

    left: Rotation = field(compare=False)
    right: Rotation = field(compare=False)

    @property
    def T(self) -> Rotation:
        return ProductRotation(*_transposed(self), left=self.right.T, right=self.left.T)

    def _turned(self, v: Vector3) -> Vector3:
        return self.left @ (self.right @ v)

    def _after(self, left: Rotation) -> Rotation:
        return (left @ self.left) @ self.right

    def turn(self, matrix: Matrix3) -> Matrix3:
        return self.left.turn(self.right.turn(matrix))

    def turn_symmetric(self, matrix: Symmetric3) -> Symmetric3:
        return self.left.turn_symmetric(self.right.turn_symmetric(matrix))
