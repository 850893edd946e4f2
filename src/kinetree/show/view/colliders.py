"""The surfaces of a robot's colliders, and the planes of the world that it stands on."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.contact import slot_count
from kinetree.model import Model
from kinetree.model.formats.meshes import Triangles
from kinetree.model.geometry import (
    Box,
    Capsule,
    Collider,
    ContactPair,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Plane,
    Solid,
    Sphere,
)
from kinetree.model.model import WORLD
from kinetree.show.view.geometry import box, capsule, cylinder, ellipsoid
from kinetree.show.view.parts import Surface, extent, matrix
from kinetree.spatial import Transform
from kinetree.typing import Array


def collider_surfaces(model: Model) -> list[Surface]:
    """The surface of each collider; planes are squares.

    Arguments:
        model: of the robot.
    """
    side = 4.0 * extent(model)
    return [
        Surface(*_place(model, collider), solid_surface(collider.shape, side), "collider")
        for collider in model.colliders
    ]


def grounds(model: Model) -> list[Array]:
    """The poses of the planes that are fixed in the world, (4, 4) each.

    Arguments:
        model: of the robot.
    """
    placed = [(_place(model, x), x.shape) for x in model.colliders]
    return [pose for (body, pose), shape in placed if body == WORLD and isinstance(shape, Plane)]


def on_robot(model: Model, *names: str) -> bool:
    """Whether all of some colliders are on links that move.

    Arguments:
        model: of the robot.
        names: of the colliders.
    """
    return all(_place(model, x)[0] != WORLD for x in model.colliders if x.name in names)


def touch_pairs(model: Model) -> list[ContactPair]:
    """The pair that each touch of a robot belongs to.

    Arguments:
        model: of the robot.
    """
    shape = {x.name: x.shape for x in model.colliders}
    return [
        pair
        for pair in model.contacts
        for _ in range(slot_count(shape[pair.first], shape[pair.second]))
    ]


def solid_surface(shape: Solid, side: float) -> Triangles:
    """The triangles of a shape, in its own frame.

    Arguments:
        shape: of `kinetree.geometry`.
        side: of the square that a plane is drawn as, m.
    """
    match shape:
        case Sphere():
            return ellipsoid(*[shape.radius] * 3)
        case Capsule():
            return capsule(shape.radius, 2.0 * shape.half_length)
        case Cylinder():
            return cylinder(shape.radius, 2.0 * shape.half_length)
        case Box():
            return box(*(2.0 * x for x in shape.half_edges))
        case Ellipsoid():
            return ellipsoid(*shape.half_axes)
        case ConvexMesh():
            return _hull(np.array(shape.vertices))
        case HeightField():
            return _grid(np.array(shape.heights), shape.half_x, shape.half_y)
    return _grid(np.zeros((2, 2)), side / 2, side / 2)


def _place(model: Model, collider: Collider) -> tuple[int, Array]:
    """The body that a collider is fixed in, and its pose there, (4, 4)."""
    at = collider.at
    assert isinstance(at, Transform)
    if collider.frame is None:
        return WORLD, matrix(at)
    frame = model.frame(collider.frame)
    return frame.body, matrix(frame.placement @ at)


def _hull(vertices: Array) -> Triangles:
    from scipy.spatial import ConvexHull  # importing takes time

    return Triangles(vertices, np.array(ConvexHull(vertices).simplices))


def _grid(heights: Array, half_x: float, half_y: float) -> Triangles:
    """Heights over a rectangle, two triangles for each cell."""
    rows, columns = heights.shape
    y, x = np.meshgrid(
        np.linspace(-half_y, half_y, rows), np.linspace(-half_x, half_x, columns), indexing="ij"
    )
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    return Triangles(np.stack([x, y, heights], axis=-1).reshape(-1, 3), faces)
