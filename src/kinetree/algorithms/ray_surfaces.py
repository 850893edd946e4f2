"""Where a ray meets the surface of a shape, for each kind of shape, in its frame.

Source: C. Ericson, Real-Time Collision Detection (2005), section 5.3; the side of a surface that
counts is that of MuJoCo (mju_rayGeom), as in `rays`.

    symbol    code    meaning
    p, d      p, d    start and direction of the ray, in the frame of the shape
    s         s       distance along it: p + s d is on the surface

Cost: O(1) for a ray and a shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Plane, Rectangle, Sphere
from kinetree.model.geometry.shapes import Solid
from kinetree.scalar import Scalar, absolute, less, logical_and, logical_not, select, sqrt
from kinetree.spatial import Vector3

FAR = 1e30
"""The distance of what a ray does not meet."""
TINY = 1e-15
"""Of discriminants and of directions along a surface, as in MuJoCo."""
Meetings = list[Scalar]
"""Distances along a ray; `FAR` for none."""


def met_if(s: Scalar, *conditions: Scalar) -> Scalar:
    """A distance if it is not negative and conditions hold."""
    for condition in (logical_not(less(s, 0.0)), *conditions):
        s = select(condition, s, FAR)
    return s


def _within(x: Scalar, most: float) -> Scalar:
    return logical_not(less(most, absolute(x)))


def _crossings(square: Scalar, half: Scalar, constant: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Whether q s^2 + 2 b s + c has roots, and these."""
    found = half * half - square * constant
    real = logical_and(logical_not(less(found, TINY)), less(TINY, square))
    safe = select(less(TINY, square), square, 1.0)
    root = sqrt(select(real, found, 1.0))
    return real, (-half - root) / safe, (-half + root) / safe


def _first(square: Scalar, half: Scalar, constant: Scalar) -> Scalar:
    """The first root that is not negative."""
    real, near, far = _crossings(square, half, constant)
    return select(real, select(less(near, 0.0), met_if(far), near), FAR)


def _plane(shape: Plane, p: Vector3, d: Vector3) -> Meetings:
    down = less(d.z, -TINY)
    s = -p.z / select(down, d.z, -1.0)
    return [met_if(select(down, s, FAR))]


def _rectangle(shape: Rectangle, p: Vector3, d: Vector3) -> Meetings:
    (s,) = _plane(Plane(), p, d)
    inside = [_within(p.x + s * d.x, shape.half_x), _within(p.y + s * d.y, shape.half_y)]
    return [met_if(s, *inside)]


def _sphere(shape: Sphere, p: Vector3, d: Vector3) -> Meetings:
    return [_first(d.dot(d), d.dot(p), p.dot(p) - shape.radius**2)]


def _ellipsoid(shape: Ellipsoid, p: Vector3, d: Vector3) -> Meetings:
    p, d = (Vector3(*(x / r for x, r in zip(u, shape.half_axes, strict=True))) for u in (p, d))
    return [_first(d.dot(d), d.dot(p), p.dot(p) - 1.0)]


def _wall(radius: float, half: float, p: Vector3, d: Vector3) -> Scalar:
    """The round side of a cylinder."""
    square, mixed = d.x * d.x + d.y * d.y, d.x * p.x + d.y * p.y
    s = _first(square, mixed, p.x * p.x + p.y * p.y - radius**2)
    return met_if(s, _within(p.z + s * d.z, half))


def _capsule(shape: Capsule, p: Vector3, d: Vector3) -> Meetings:
    found = [_wall(shape.radius, shape.half_length, p, d)]
    for side in (1.0, -1.0):
        from_end = p - Vector3(0.0, 0.0, side * shape.half_length)
        constant = from_end.dot(from_end) - shape.radius**2
        real, *roots = _crossings(d.dot(d), d.dot(from_end), constant)
        for s in roots:
            beyond = logical_not(less((p.z + s * d.z) * side, shape.half_length))
            found.append(met_if(s, real, beyond))
    return found


def _cylinder(shape: Cylinder, p: Vector3, d: Vector3) -> Meetings:
    found = [_wall(shape.radius, shape.half_length, p, d)]
    for s in _faces(p.z, d.z, shape.half_length):
        x, y = p.x + s * d.x, p.y + s * d.y
        found.append(met_if(s, logical_not(less(shape.radius**2, x * x + y * y))))
    return found


def _box(shape: Box, p: Vector3, d: Vector3) -> Meetings:
    found, half = [], shape.half_edges
    points, directions = tuple(p), tuple(d)
    for i in range(3):
        for s in _faces(points[i], directions[i], half[i]):
            others = ((i + 1) % 3, (i + 2) % 3)
            inside = [_within(points[j] + s * directions[j], half[j]) for j in others]
            found.append(met_if(s, *inside))
    return found


def _faces(p: Scalar, d: Scalar, half: float) -> Iterator[Scalar]:
    """Where a ray meets two parallel planes; `FAR` if it is parallel to them."""
    crosses = less(TINY, absolute(d))
    for side in (-1.0, 1.0):
        s = (side * half - p) / select(crosses, d, 1.0)
        yield select(crosses, s, FAR)


SURFACES: dict[type[Solid], Callable[[Any, Vector3, Vector3], Meetings]] = {
    Plane: _plane,
    Rectangle: _rectangle,
    Sphere: _sphere,
    Ellipsoid: _ellipsoid,
    Capsule: _capsule,
    Cylinder: _cylinder,
    Box: _box,
}
"""Where a ray meets each kind of shape, in its frame."""
