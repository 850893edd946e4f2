"""Quaternion and Euler angles of a rotation matrix of floats."""

from __future__ import annotations

import math

from kinetree.spatial import Rotation
from kinetree.spatial.angles import quat_of

STRAIGHT = 1e-15
"""Below this the first and the last of three angles turn about one axis."""


def quaternion(R: Rotation) -> tuple[float, float, float, float]:
    """The unit quaternion (x y z w) of a rotation, its largest part positive."""
    x, y, z, w = quat_of(R)
    return x, y, z, w


def euler_angles(R: Rotation, sequence: str) -> tuple[float, float, float]:
    """The angles of `joints.euler` for a rotation. If two of them share an axis, the last is zero.

    Arguments:
        sequence: the letters of the axes, such as "zyx".
    """
    a, b = ("xyz".index(letter) for letter in sequence[:2])
    c = 3 - a - b  # the third axis, which the last turn may be about
    s = 1.0 if (b - a) % 3 == 1 else -1.0  # whether a, b, c are right-handed
    M = [list(row) for row in R.rows]
    if sequence[2] == sequence[0]:
        # the row of a is that of R_b R_a: (cos b, sin b sin c, s sin b cos c)
        sin_middle = math.hypot(M[a][b], M[a][c])
        last = math.atan2(M[a][b], s * M[a][c]) if sin_middle > STRAIGHT else 0.0
        middle = math.atan2(sin_middle, M[a][a])
        other, sine = c, -s * math.sin(last)
    else:
        # the row of a is that of R_b R_c: (cos b cos c, -s cos b sin c, s sin b)
        cos_middle = math.hypot(M[a][a], M[a][b])
        last = math.atan2(-s * M[a][b], M[a][a]) if cos_middle > STRAIGHT else 0.0
        middle = math.atan2(s * M[a][c], cos_middle)
        other, sine = a, s * math.sin(last)
    # what the first turn does to the axis of the second, found by undoing the last: where those two
    # are nearly one, it makes up for the error of the last
    cosine = math.cos(last)
    turned = [row[b] * cosine + row[other] * sine for row in M]
    return math.atan2(s * turned[c], turned[b]), middle, last


def roll_pitch_yaw(R: Rotation) -> tuple[float, float, float]:
    """The angles of Rotation.rpy. If they share an axis, roll is zero."""
    yaw, pitch, roll = euler_angles(R, "zyx")
    return roll, pitch, yaw
