"""The rotation within the range of a ball joint that is nearest in swing, twist and angle.

Source: P. Baerlocher & R. Boulic, as in `ball_limits`.

    symbol    code        meaning
    s_x, s_y  across      of the swing's quaternion (s_x, s_y, 0, w)
    s, c      s, c        of the twist's quaternion (0, 0, s, c)

Their product is the quaternion of M. A swing is scaled back to its cone, a twist to its limits.

Cost: a few dozen operations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.algorithms.ball_limits import TINY, from_middle, twist_of
from kinetree.model.limits import BallRange
from kinetree.scalar import Scalar, atan2, cos, less, maximum, minimum, select, sin, sqrt
from kinetree.spatial import Rotation
from kinetree.spatial.angles import quat_of


def nearest_rotation(given: BallRange, rotation: Rotation) -> Rotation:
    """The rotation with the nearest swing, twist and angle that the range allows.

    Arguments:
        given: the range.
        rotation: of the body in the joint frame.
    """
    x, y, z, w = quat_of(from_middle(given, rotation))
    square = z * z + w * w
    told = less(TINY, square)  # after a swing by half a turn any twist will do
    upright = sqrt(select(told, square, 1.0))
    s, c = z / upright, select(told, w / upright, 1.0)  # of half the twist
    across = [x * c - y * s, x * s + y * c]  # s_x, s_y
    if given.has_swing:
        a, b = given.sines
        ratio = across[0] * across[0] * (1 / (a * a)) + across[1] * across[1] * (1 / (b * b))
        across = [k / sqrt(maximum(ratio, 1.0)) for k in across]
    if given.has_twist:
        low, high = given.twist_ends
        half = 0.5 * minimum(maximum(twist_of(given, 2 * s * c, c * c - s * s), low), high)
        s, c = sin(half), cos(half)
    if given.always_twisted:
        ratio = math.cos(0.5 * given.angle) / c
        left = sqrt(maximum(1 - ratio * ratio, 0.0))
        size = sqrt(across[0] * across[0] + across[1] * across[1] + TINY)
        across = [k * minimum(left / size, 1.0) for k in across]
    x, y = across
    w = sqrt(maximum(1 - x * x - y * y, 0.0))
    parts = [x * c + y * s, y * c - x * s, w * s, w * c]
    if given.has_angle and not given.always_twisted:
        parts = _shortened(parts, given.angle)
    R = given.middle @ (given.axes @ Rotation.quat_xyzw(*parts) @ given.axes.T)
    return R.T if given.inverse else R


def _shortened(parts: Sequence[Scalar], angle: float) -> list[Scalar]:
    """A quaternion whose rotation is at most an angle."""
    x, y, z, w = parts
    size = sqrt(x * x + y * y + z * z + TINY)
    sign = select(less(w, 0.0), -1.0, 1.0)
    half = minimum(atan2(size, w * sign), 0.5 * angle)
    ratio = sin(half) / size * sign
    return [x * ratio, y * ratio, z * ratio, cos(half)]
