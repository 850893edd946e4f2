"""A ball and a cylinder: one touch, with its side, a flat end, or the edge between them.

If the centre of the ball is inside the cylinder, the ball leaves through what is nearest.
"""

from __future__ import annotations

from kinetree.algorithms.contact.touch import (
    UNIT_X,
    Touch,
    chosen,
    common_normal,
    direction,
    z_axis,
)
from kinetree.algorithms.contact.touch import between_balls as balls
from kinetree.model.geometry import Cylinder, Sphere
from kinetree.scalar import Scalar, absolute, less, logical_and, logical_not, select
from kinetree.spatial import Transform


def sphere_cylinder(
    sphere: Sphere, X1: Transform, cylinder: Cylinder, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touch of a ball and a cylinder."""
    center, r, R, h = X1.translation, sphere.radius, cylinder.radius, cylinder.half_length
    axis = z_axis(X2)
    along = axis.dot(center - X2.translation)
    foot = X2.translation + axis * along
    across, outward = direction(center - foot, UNIT_X)
    up = select(less(0.0, along), 1.0, -1.0)
    beside, above = less(absolute(along), h), less(across, R)
    nearer_end = less(h - absolute(along), R - across)
    inside = logical_and(beside, above)
    by_side = logical_and(beside, logical_not(logical_and(inside, nearer_end)))
    by_end = above

    side = balls(center, r, foot, R, common_normal(X1, X2))
    height = along * up - h
    outwards = axis * up
    end = Touch(height - r, center - outwards * ((height + r) * 0.5), -outwards)
    edge = X2.translation + outwards * h + outward * R
    corner = balls(center, r, edge, 0.0, -outwards)
    return [chosen(by_side, side, chosen(by_end, end, corner))]
