"""A plane and a cylinder: the lowest point, the one above it, and two more of the lower end.

The lowest point of the end that is nearer to the plane and the two others make a triangle with
equal sides. The second touch is the lowest point of the other end.
"""

from __future__ import annotations

import math

from kinetree.algorithms.contact.pairs.plane_sphere import above
from kinetree.algorithms.contact.touch import Touch, direction, z_axis
from kinetree.model.geometry import Cylinder, Plane
from kinetree.scalar import Scalar, less, select
from kinetree.spatial import Transform, Vector3


def plane_cylinder(
    plane: Plane, X1: Transform, cylinder: Cylinder, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touches of a plane and a cylinder."""
    normal, axis = z_axis(X1), z_axis(X2)
    rise = normal.dot(axis)
    axis = axis * select(less(0.0, rise), -1.0, 1.0)  # towards the plane
    level = Vector3(*(row.x for row in X2.rotation.rows))
    _, down = direction(axis * normal.dot(axis) - normal, level)
    end, low = axis * cylinder.half_length, down * cylinder.radius
    side = down.cross(axis) * (cylinder.radius * math.sqrt(3.0) / 2)
    center = X2.translation
    points = (
        center + low + end,
        center + low - end,
        center - low * 0.5 + end + side,
        center - low * 0.5 + end - side,
    )
    return [above(X1, point) for point in points]
