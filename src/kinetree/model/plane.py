"""The axes of a plane, given its normal."""

from __future__ import annotations

import math
import sys

from kinetree.spatial import Vector3


def plane_axes(normal: Vector3) -> tuple[Vector3, Vector3]:
    """The x and y axes of the plane with a unit normal.

    They are the coordinate axes x and y, turned by the shortest rotation from z to the normal.
    """
    x, y, z = normal
    if z >= 0.0:
        k = 1.0 / (1.0 + z)
        xx, xy, yy = k * x * x, k * x * y, k * y * y
    else:  # the same without 1 + z, which loses digits; straight down: half a turn about x
        slant = math.hypot(x, y)
        a, b = (x / slant, y / slant) if slant >= sys.float_info.min else (0.0, 1.0)
        xx, xy, yy = (1.0 - z) * a * a, (1.0 - z) * a * b, (1.0 - z) * b * b
    return Vector3(1.0 - xx, -xy, -x), Vector3(-xy, 1.0 - yy, -y)
