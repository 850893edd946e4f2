"""Coordinates read off a rotation: its quaternion, its rotation vector, its angle about an axis."""

from __future__ import annotations

from kinetree.scalar import Scalar, atan2, less, select
from kinetree.spatial.exponential import quat_log, quat_unit
from kinetree.spatial.rotation import Rotation
from kinetree.spatial.vector import Vector3

Quaternion = tuple[Scalar, ...]


def quat_of(R: Rotation) -> Quaternion:
    """The unit quaternion (x, y, z, w) of a rotation, its largest part positive.

    The four rows below are 4 q q^T; the one with the largest diagonal entry loses no digits.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R.rows
    rows: list[Quaternion] = [
        (zy - yz, xz - zx, yx - xy, 1 + xx + yy + zz),
        (1 + xx - yy - zz, xy + yx, xz + zx, zy - yz),
        (xy + yx, 1 - xx + yy - zz, yz + zy, xz - zx),
        (xz + zx, yz + zy, 1 - xx - yy + zz, yx - xy),
    ]
    best, largest = rows[0], rows[0][3]
    for k, row in enumerate(rows[1:]):
        better = less(largest, row[k])
        largest = select(better, row[k], largest)
        best = tuple(select(better, a, b) for a, b in zip(row, best, strict=True))
    return quat_unit(best)


def rotation_vector(R: Rotation) -> Vector3:
    """The w with exp([w]) = R and |w| <= pi."""
    return quat_log(quat_of(R))


def angle_about(R: Rotation, axis: Vector3) -> Scalar:
    """The angle of the rotation about a unit axis u that is nearest to R in the Frobenius norm.

    It maximises tr(R_u(angle)^T R) = const + cos (tr R - u^T R u) + sin u . vee(R - R^T).
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R.rows
    turned = Vector3(zy - yz, xz - zx, yx - xy)
    return atan2(axis.dot(turned), xx + yy + zz - axis.dot(R @ axis))


def angle_between(axis: Vector3, start: Vector3, end: Vector3) -> Scalar:
    """The angle about a unit axis that turns one vector towards another, both seen along it.

    The parts across the axis are taken first: of vectors nearly along it, nothing else has digits.
    """
    a, b = axis.cross(start), axis.cross(end)
    return atan2(axis.dot(a.cross(b)), a.dot(b))
