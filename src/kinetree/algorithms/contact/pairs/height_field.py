"""Uneven ground and balls: one touch with a ball, one at each end of a capsule.

The height h(x, y) below the centre of a ball and its slopes define a plane there, and the touch is
with that plane: exact on flat and evenly sloping ground, and close to it where the ground bends
little over the radius of the ball.

The height is a sum over the points of the grid, each weighted by a hat function of x times one of
y: bilinear interpolation without a search for the cell.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.contact.touch import Touch, clip, z_axis
from kinetree.model.geometry import Capsule, HeightField, Sphere
from kinetree.scalar import (
    Scalar,
    absolute,
    less,
    less_equal,
    logical_and,
    maximum,
    select,
    sqrt,
)
from kinetree.spatial import Transform, Vector3


def field_sphere(
    field: HeightField, X1: Transform, sphere: Sphere, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touch of uneven ground and a ball."""
    return [_ball(field, X1, X2.translation, sphere.radius)]


def field_capsule(
    field: HeightField, X1: Transform, capsule: Capsule, X2: Transform, margin: Scalar
) -> list[Touch]:
    """The touches of uneven ground and the balls at the ends of a capsule."""
    axis = z_axis(X2)
    ends = (X2.translation + axis * h for h in (capsule.half_length, -capsule.half_length))
    return [_ball(field, X1, end, capsule.radius) for end in ends]


def _ball(field: HeightField, X1: Transform, center: Vector3, radius: Scalar) -> Touch:
    """The touch with a ball about a centre, given in the world."""
    local = X1.rotation.T @ (center - X1.translation)
    height, slope_x, slope_y = _surface(field, local.x, local.y)
    steep = 1 / sqrt(slope_x * slope_x + slope_y * slope_y + 1.0)
    normal = X1.rotation @ Vector3(-slope_x * steep, -slope_y * steep, steep)
    distance = (local.z - height) * steep - radius
    return Touch(distance, center - normal * (distance * 0.5 + radius), normal)


def _surface(field: HeightField, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The height at a place, and its slopes along x and y."""
    along, rates = _hats(x, field.half_x, len(field.heights[0]))
    across, rates_y = _hats(y, field.half_y, len(field.heights))
    rows = [_sum(along, row) for row in field.heights]
    slopes = [_sum(rates, row) for row in field.heights]
    return _sum(across, rows), _sum(across, slopes), _sum(rates_y, rows)


def _hats(x: Scalar, half: float, count: int) -> tuple[list[Scalar], list[Scalar]]:
    """The weight of each point of a line of the grid at x, and the rate of the weight."""
    cell = 2.0 * half / (count - 1)
    at = clip((x + half) * (1 / cell), 0.0, count - 1.0)
    inside = select(less(absolute(x), half), 1 / cell, 0.0)
    weights = [maximum(1.0 - absolute(at - k), 0.0) for k in range(count)]
    rates = []
    for k in range(count):
        rises = logical_and(less_equal(k - 1.0, at), less(at, float(k)))
        falls = logical_and(less_equal(float(k), at), less(at, k + 1.0))
        rates.append(select(rises, inside, select(falls, -inside, 0.0)))
    return weights, rates


def _sum(weights: Sequence[Scalar], values: Sequence[Scalar]) -> Scalar:
    return sum((w * v for w, v in zip(weights, values, strict=True)), start=0.0)
