"""Axes across another."""

from __future__ import annotations

import math
import sys

from kinetree.spatial import Vector3


def across(normal: Vector3) -> tuple[Vector3, Vector3]:
    """The x and y axes of a plane, turned from the z axis to its normal by the shortest way."""
    x, y, z = normal
    if z >= 0.0:
        k = 1.0 / (1.0 + z)
        xx, xy, yy = k * x * x, k * x * y, k * y * y
    else:  # the same without 1 + z, which loses digits; straight down: about the x axis
        slant = math.hypot(x, y)
        a, b = (x / slant, y / slant) if slant >= sys.float_info.min else (0.0, 1.0)
        xx, xy, yy = (1.0 - z) * a * a, (1.0 - z) * a * b, (1.0 - z) * b * b
    return Vector3(1.0 - xx, -xy, -x), Vector3(-xy, 1.0 - yy, -y)
