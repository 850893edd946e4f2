"""Points of a plane, and roots and quotients with finite derivatives; see `wrapping`.

Source: as of `wrapping`. A `select` computes both of its branches: the one not taken must not
divide by zero, nor have an infinite derivative.

Cost: O(1).
"""

from __future__ import annotations

from typing import NamedTuple

from kinetree.scalar import (
    Scalar,
    absolute,
    less,
    logical_and,
    logical_not,
    logical_or,
    select,
    sqrt,
)
from kinetree.spatial import Vector3

TINY = 1e-15
Point = tuple[Scalar, Scalar]
Arc = tuple[Scalar, Point, Point, Scalar]
"""Whether a path touches the circle, its two points there, and the length of its arc."""


class Plane(NamedTuple):
    """Two axes normal to each other."""

    x: Vector3
    y: Vector3

    def seen(self, p: Vector3) -> Point:
        """The coordinates of a point in the plane."""
        return p.dot(self.x), p.dot(self.y)

    def back(self, p: Point) -> Vector3:
        """The point with these coordinates."""
        return self.x * p[0] + self.y * p[1]


def norm(v: Vector3) -> Scalar:
    """The length of a vector, with a finite derivative where it is zero."""
    return root(v.dot(v))


def root(x: Scalar) -> Scalar:
    """The square root; zero, with a derivative of zero, where x is not positive."""
    positive = less(0.0, x)
    return select(positive, sqrt(select(positive, x, 1.0)), 0.0)


def safe(x: Scalar) -> Scalar:
    """A length to divide by: one where it vanishes."""
    return select(less(x, TINY), 1.0, x)


def plane_of_sphere(p0: Vector3, p1: Vector3) -> Plane:
    """The plane through the centre and two points, its first axis towards p0."""
    x = p0 * (1.0 / safe(norm(p0)))
    normal = p0.cross(p1)
    size = norm(normal)
    a, b, c = absolute(x.x), absolute(x.y), absolute(x.z)
    by_y = logical_and(less(a, b), less(c, b))
    by_z = logical_and(less(a, c), less(b, c))
    by_x = logical_not(logical_or(by_y, by_z))
    # for points on one line with the centre: any plane through it
    other = x.cross(Vector3(*(select(largest, 0.0, 1.0) for largest in (by_x, by_y, by_z))))
    straight = less(size, TINY)
    way = [select(straight, o, n) for o, n in zip(other, normal, strict=True)]
    n = Vector3(*way)
    y = (n * (1.0 / safe(norm(n)))).cross(x)
    return Plane(x, y)


def minus(a: Point, b: Point) -> Point:
    """a - b."""
    return a[0] - b[0], a[1] - b[1]


def dot(a: Point, b: Point) -> Scalar:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1]


def square(a: Point) -> Scalar:
    """The square of the length."""
    return dot(a, a)
