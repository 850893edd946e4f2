"""A plane and the convex hull of a mesh: the lowest vertex, and up to three others.

Each of the others is the lowest one that is not near those before. MuJoCo takes the lowest vertex,
too, and at most two of its neighbours in the hull, in the order of its tables.
"""

from __future__ import annotations

import math

from kinetree.algorithms.contact.touch import FAR, Touch, lowest, z_axis
from kinetree.model.geometry import ConvexMesh, Plane
from kinetree.scalar import Scalar, less, select
from kinetree.spatial import Transform, Vector3

SLOTS = 4
APART = 0.3
"""Touches are at least this far from each other, times the largest distance from the origin."""


def plane_mesh(
    plane: Plane, X1: Transform, mesh: ConvexMesh, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touches of a plane and some vertices of a hull."""
    normal = z_axis(X1)
    down = X2.rotation.T @ normal
    start = normal.dot(X2.translation - X1.translation)
    vertices = [Vector3(*v) for v in mesh.vertices]
    heights = [down.dot(v) for v in vertices]
    apart = APART * max(math.hypot(*v) for v in mesh.vertices)
    found = []
    for _ in range(SLOTS):
        height, vertex = lowest(heights, vertices)
        # FAR is a constant, so that the distance of an unused slot does not vary
        distance = select(less(height, FAR), start + height, FAR)
        point = X2.point(vertex) - normal * (distance * 0.5)
        found.append(Touch(distance, point, normal))
        near = [(v - vertex).dot(v - vertex) for v in vertices]
        heights = [
            select(less(square, apart * apart), FAR, h)
            for square, h in zip(near, heights, strict=True)
        ]
    return found
