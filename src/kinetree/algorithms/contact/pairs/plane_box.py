"""A plane and a box: its four lower corners.

Of two opposite corners one is below the box's centre. MuJoCo considers these four, too. If an edge
or face of the box is exactly normal to the plane, two opposite corners can be level with the
centre: MuJoCo counts both, up to four in all.
"""

from __future__ import annotations

from itertools import product

from kinetree.algorithms.contact.touch import Touch, z_axis
from kinetree.model.geometry import Box, Plane
from kinetree.scalar import Scalar, less, select
from kinetree.spatial import Transform, Vector3


def plane_box(plane: Plane, X1: Transform, box: Box, X2: Transform, margin: Scalar) -> list[Touch]:
    """The touches of a plane and the lower corners of a box."""
    normal = z_axis(X1)
    height = normal.dot(X2.translation - X1.translation)
    x, y, z = box.half_edges
    found = []
    for sx, sy in product((-1.0, 1.0), repeat=2):
        corner = X2.rotation @ Vector3(sx * x, sy * y, -z)
        rise = normal.dot(corner)
        down = select(less(0.0, rise), -1.0, 1.0)  # this corner, or the opposite one
        distance = height + rise * down
        point = X2.translation + corner * down - normal * (distance * 0.5)
        found.append(Touch(distance, point, normal))
    return found
