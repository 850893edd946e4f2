"""Three-vectors and three-by-three matrices, general and symmetric, over any scalar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetree.scalar import Scalar

if TYPE_CHECKING:
    from kinetree.spatial.rotation import Rotation


@dataclass(frozen=True, slots=True)
class Vector3:
    """A vector in some Cartesian frame.

    Attributes:
        x, y, z: its components.
    """

    x: Scalar
    y: Scalar
    z: Scalar

    @staticmethod
    def zero() -> Vector3:
        """The zero vector.

        Returns:
            Three zeros.
        """
        return Vector3(0, 0, 0)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    __array_ufunc__ = None  # NumPy's arrays leave sums and differences with vectors to us

    def __add__(self, other: Vector3 | Iterable[Scalar]) -> Vector3:
        b = other if isinstance(other, Vector3) else Vector3(*other)
        return Vector3(self.x + b.x, self.y + b.y, self.z + b.z)

    __radd__ = __add__

    def __sub__(self, other: Vector3 | Iterable[Scalar]) -> Vector3:
        b = other if isinstance(other, Vector3) else Vector3(*other)
        return Vector3(self.x - b.x, self.y - b.y, self.z - b.z)

    def __rsub__(self, other: Iterable[Scalar]) -> Vector3:
        return Vector3(*other) - self

    def __neg__(self) -> Vector3:
        return Vector3(-self.x, -self.y, -self.z)

    def __mul__(self, s: Scalar) -> Vector3:
        return Vector3(self.x * s, self.y * s, self.z * s)

    def dot(self, other: Vector3) -> Scalar:
        """The scalar product.

        Arguments:
            other: the other factor.

        Returns:
            One scalar.
        """
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector3) -> Vector3:
        """The cross product.

        Arguments:
            other: the second factor.

        Returns:
            A vector.
        """
        return Vector3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )


@dataclass(frozen=True, slots=True)
class Matrix3:
    """A general 3x3 matrix, stored by rows.

    Attributes:
        a, b, c: its rows.
    """

    a: Vector3
    b: Vector3
    c: Vector3

    @staticmethod
    def cross(v: Vector3) -> Matrix3:
        """[v], the matrix of the cross product with v: Liu & Jain eq. 20.

        Arguments:
            v: the first factor of the product.

        Returns:
            A skew-symmetric matrix.
        """
        return Matrix3(Vector3(0, -v.z, v.y), Vector3(v.z, 0, -v.x), Vector3(-v.y, v.x, 0))

    @property
    def rows(self) -> tuple[Vector3, Vector3, Vector3]:
        """The rows."""
        return (self.a, self.b, self.c)

    @property
    def T(self) -> Matrix3:
        """The transpose."""
        a, b, c = self.rows
        return Matrix3(Vector3(a.x, b.x, c.x), Vector3(a.y, b.y, c.y), Vector3(a.z, b.z, c.z))

    def __add__(self, other: Matrix3) -> Matrix3:
        return Matrix3(self.a + other.a, self.b + other.b, self.c + other.c)

    def __sub__(self, other: Matrix3) -> Matrix3:
        return Matrix3(self.a - other.a, self.b - other.b, self.c - other.c)

    def __mul__(self, s: Scalar) -> Matrix3:
        return Matrix3(self.a * s, self.b * s, self.c * s)

    def __matmul__(self, v: Vector3) -> Vector3:
        return Vector3(self.a.dot(v), self.b.dot(v), self.c.dot(v))


@dataclass(frozen=True, slots=True, eq=False)
class Symmetric3:
    """A symmetric 3x3 matrix, stored as six numbers.

    Attributes:
        xx, yy, zz, xy, xz, yz: its entries.
    """

    xx: Scalar
    yy: Scalar
    zz: Scalar
    xy: Scalar
    xz: Scalar
    yz: Scalar

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symmetric3) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    @staticmethod
    def diagonal(d: Scalar) -> Symmetric3:
        """A multiple of the identity.

        Arguments:
            d: each entry of the diagonal.

        Returns:
            A symmetric matrix.
        """
        return Symmetric3(d, d, d, 0, 0, 0)

    @staticmethod
    def outer(u: Vector3, v: Vector3) -> Symmetric3:
        """u vT, for u and v that make it symmetric (v = s u).

        Arguments:
            u, v: parallel vectors.

        Returns:
            A symmetric matrix.
        """
        return Symmetric3(u.x * v.x, u.y * v.y, u.z * v.z, u.x * v.y, u.x * v.z, u.y * v.z)

    @staticmethod
    def of_rows(a: Vector3, b: Vector3, c: Vector3) -> Symmetric3:
        """The symmetric matrix with given rows; the entries below the diagonal are not read.

        Arguments:
            a, b, c: the rows.

        Returns:
            A symmetric matrix.
        """
        return Symmetric3(a.x, b.y, c.z, a.y, a.z, b.z)

    @property
    def rows(self) -> tuple[Vector3, Vector3, Vector3]:
        """The rows."""
        return (
            Vector3(self.xx, self.xy, self.xz),
            Vector3(self.xy, self.yy, self.yz),
            Vector3(self.xz, self.yz, self.zz),
        )

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.xx, self.yy, self.zz, self.xy, self.xz, self.yz))

    def __add__(self, other: Symmetric3) -> Symmetric3:
        return Symmetric3(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Symmetric3) -> Symmetric3:
        return Symmetric3(*(a - b for a, b in zip(self, other, strict=True)))

    def __mul__(self, s: Scalar) -> Symmetric3:
        return Symmetric3(*(a * s for a in self))

    def __matmul__(self, v: Vector3) -> Vector3:
        a, b, c = self.rows
        return Vector3(a.dot(v), b.dot(v), c.dot(v))

    def turned(self, R: Rotation) -> Symmetric3:
        """R S R^T: this matrix in other axes.

        Each entry is computed as a sum of its own. Forms with fewer products compute one diagonal
        entry from the others, and lose the digits of a small one.

        Arguments:
            R: the rotation to them.

        Returns:
            A symmetric matrix.
        """
        u, v, w = (self @ row for row in R.rows)  # columns of S R^T
        a, b, c = R.rows
        return Symmetric3(a.dot(u), b.dot(v), c.dot(w), a.dot(v), a.dot(w), b.dot(w))
