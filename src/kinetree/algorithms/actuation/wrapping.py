"""The shortest path of a tendon around a sphere or a cylinder.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Spatial tendons", whose choice of paths is followed.

In the plane through the centre and both ends (of a sphere), or normal to the axis (of a cylinder),
the path is a tangent, an arc and a tangent.

    symbol    code          meaning
    e_0, e_1  ends          where the tendon comes from and goes to, in the plane
    r         radius
    t_0, t_1  touch         where the tangents touch the circle; there are two such paths
    s         side          where the tendon is to run: the longer path is taken if the centre is
                            in the triangle of both ends and the side

The tendon is straight if an end is inside the circle, if the straight path misses it (and is on the
side asked for), or if the tangents of the better path cross. A path inside the circle touches it in
one point, found by Newton's method; see `wrapping_inside`.

Cost: O(1).
"""

from __future__ import annotations

from typing import NamedTuple

from kinetree.algorithms.actuation.plane import (
    TINY,
    Arc,
    Plane,
    Point,
    norm,
    plane_of_sphere,
    root,
    safe,
)
from kinetree.algorithms.actuation.wrapping_inside import within
from kinetree.algorithms.actuation.wrapping_outside import around
from kinetree.scalar import Scalar, less, logical_and, logical_not, logical_or, select
from kinetree.spatial import Vector3


class Way(NamedTuple):
    """The path of a tendon around a body, in the body's frame.

    wraps: whether it touches the body.
    first, last: where the arc begins and ends.
    arc: its length.
    """

    wraps: Scalar
    first: Vector3
    last: Vector3
    arc: Scalar


def wrapped(kind: str, radius: float, p0: Vector3, p1: Vector3, side: Vector3 | None) -> Way:
    """The path between two points around a sphere or a cylinder, all in the body's frame."""
    x, y = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0)
    plane = plane_of_sphere(p0, p1) if kind == "sphere" else Plane(x, y)
    ends = plane.seen(p0), plane.seen(p1)
    middle = None if side is None else _on_circle(plane.seen(side), radius)
    found = around(ends, middle, radius)
    if side is not None:
        found = _either(less(norm(side), radius), within(ends, radius), found)
    wraps, t0, t1, arc = found
    first, last = plane.back(t0), plane.back(t1)
    wraps = logical_and(wraps, logical_and(less(TINY, norm(p0)), less(TINY, norm(p1))))
    if kind == "cylinder":
        first, last, arc = _climbed(p0, p1, first, last, arc)
    return Way(wraps, first, last, arc)


def _climbed(
    p0: Vector3, p1: Vector3, first: Vector3, last: Vector3, arc: Scalar
) -> tuple[Vector3, Vector3, Scalar]:
    """The touching points at heights in proportion to the path, and the length of the helix."""
    a, b = (_level(p - t) for p, t in ((p0, first), (p1, last)))
    climb = (p1.z - p0.z) / safe(a + arc + b)
    z0, z1 = p0.z + climb * a, p0.z + climb * (a + arc)
    length = root(arc * arc + (z1 - z0) * (z1 - z0))
    return Vector3(first.x, first.y, z0), Vector3(last.x, last.y, z1), length


def _level(d: Vector3) -> Scalar:
    """The length of a vector along the plane."""
    return norm(Vector3(d.x, d.y, 0.0))


def _on_circle(p: Point, radius: float) -> Point:
    scale = radius / safe(norm(Vector3(p[0], p[1], 0.0)))
    return p[0] * scale, p[1] * scale


def _either(inside: Scalar, a: Arc, b: Arc) -> Arc:
    """The first path where the condition holds, else the second."""
    wraps = logical_or(logical_and(inside, a[0]), logical_and(logical_not(inside), b[0]))
    t0, t1 = (
        (select(inside, x[0], y[0]), select(inside, x[1], y[1]))
        for x, y in ((a[1], b[1]), (a[2], b[2]))
    )
    return wraps, t0, t1, select(inside, a[3], b[3])
