"""Coordinates of joints in series through one point, in closed form.

Parts that turn about axes through one point and parts that slide come apart: the rotation is the
product of those that turn, whatever slides between them; what slides is then linear.

Three angles about axes a, b, c with b across both others (Euler angles are those) follow Davenport:
with w = R_b(t2) c,

    a . R c = cos(t2 - l),    l the angle about b from c to a
    R c = R_a(t1) w,    R_c(t3) = R_b(-t2) R_a(-t1) R
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetree.model.joints.inverse import solve_normal_equations
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Revolute
from kinetree.scalar import Scalar, atan2, sqrt
from kinetree.spatial import Rotation, Transform, Vector3
from kinetree.spatial.angles import angle_about, angle_between

if TYPE_CHECKING:
    from kinetree.model.joints.base import Joint

ACROSS = 1e-9
"""Cosines below this are those of axes at right angles."""
DEPENDENT = 1e-9


def series_coordinates(parts: Sequence[Joint], X: Transform) -> list[list[Scalar]] | None:
    """The coordinates of each part, or None if the series has no closed form here."""
    sliding = [part for part in parts if isinstance(part, Prismatic)]
    turning = [part for part in parts if not isinstance(part, Prismatic)]
    if not _independent([part.axis for part in sliding]):
        return None
    angles = _turning_coordinates(turning, X.rotation)
    if angles is None:
        return None
    found = iter(angles)
    turned = Rotation.identity()
    axes: list[Vector3] = []
    rows: list[list[Scalar]] = []
    for part in parts:
        if isinstance(part, Prismatic):
            axes.append(turned @ part.axis)
            rows.append([0])
        else:
            rows.append(next(found))
            turned = turned @ part.transform(rows[-1]).rotation
    lengths = iter(solve_normal_equations([list(a) for a in axes], list(X.translation)))
    pairs = zip(parts, rows, strict=True)
    return [[next(lengths)] if isinstance(part, Prismatic) else row for part, row in pairs]


def _turning_coordinates(parts: Sequence[Joint], R: Rotation) -> list[list[Scalar]] | None:
    """The coordinates of parts that turn about one point."""
    from kinetree.model.joints.ball import Ball, ExponentialBall

    if len(parts) == 1 and isinstance(parts[0], (Ball, ExponentialBall)):
        return [parts[0].coordinates_at(Transform(R, Vector3.zero()))]
    axes = [part.axis for part in parts if isinstance(part, Revolute)]
    if len(axes) < len(parts) or len(axes) > 3:
        return None
    if len(axes) == 3:
        found = _davenport(R, *axes) if _davenport_axes(*axes) else None
        return None if found is None else [[angle] for angle in found]
    if len(axes) == 2:
        if not _independent(axes):
            return None
        first = angle_between(axes[0], axes[1], R @ axes[1])
        return [[first], [angle_about(Rotation.about(axes[0], -first) @ R, axes[1])]]
    return [[angle_about(R, axis)] for axis in axes]


def _davenport(R: Rotation, a: Vector3, b: Vector3, c: Vector3) -> list[Scalar]:
    """Three angles about axes of which the second is across the others."""
    end = R @ c
    across = a.cross(end)
    apart = atan2(sqrt(across.dot(across)), a.dot(end))
    start = angle_between(b, c, a)
    second = start - apart if start > ACROSS else start + apart
    first = angle_between(a, Rotation.about(b, second) @ c, end)
    rest = Rotation.about(b, -second) @ (Rotation.about(a, -first) @ R)
    return [first, second, angle_about(rest, c)]


def second_solution(parts: Sequence[Joint]) -> Callable[[Any], list[Any]] | None:
    """From three angles to the three others of the same rotation; None for other parts."""
    axes = [part.axis for part in parts if isinstance(part, Revolute)]
    if len(axes) != 3 or not _davenport_axes(*axes):
        return None
    twice = 2 * angle_between(axes[1], axes[2], axes[0])
    return lambda angles: [angles[0] + math.pi, twice - angles[1], angles[2] + math.pi]


def _davenport_axes(a: Vector3, b: Vector3, c: Vector3) -> bool:
    return bool(abs(a.dot(b)) <= ACROSS and abs(b.dot(c)) <= ACROSS)


def _independent(axes: Sequence[Vector3]) -> bool:
    """Whether axes of numbers span as many directions as there are."""
    if len(axes) < 2:
        return True
    if len(axes) == 2:
        normal = axes[0].cross(axes[1])
        return bool(normal.dot(normal) > DEPENDENT)
    return len(axes) == 3 and bool(abs(axes[0].cross(axes[1]).dot(axes[2])) > DEPENDENT)
