"""Shapes of robot files as shapes that can touch, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, ModelError
from kinetree.model.disassemble import fresh
from kinetree.model.formats.meshes import load_mesh
from kinetree.model.formats.packages import find_file
from kinetree.model.geometry import (
    Box,
    Capsule,
    Collider,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    Solid,
    Sphere,
)
from kinetree.model.model import Shape
from kinetree.spatial import Rotation, Transform, Vector3

MOST_POINTS = 2000
"""Of a mesh: if it has more, only the farthest in as many directions are used."""
MOST_VERTICES = 128
"""Of a hull: if it has more, it is replaced by its extreme points in as many directions."""

CANNOT_TOUCH = "has a collision shape that cannot touch"
"""The remark on a link with a degenerate shape."""


def solid_of(shape: Shape) -> Solid:
    """The solid of a shape that is not a mesh.

    Arguments:
        shape: of a link.
    """
    size = shape.size
    if shape.kind == "sphere":
        return Sphere(size[0])
    if shape.kind == "box":
        x, y, z = (edge / 2 for edge in size)
        return Box((x, y, z))
    if shape.kind == "ellipsoid":
        return Ellipsoid((size[0], size[1], size[2]))
    return (Capsule if shape.kind == "capsule" else Cylinder)(size[0], size[1] / 2)


def shape_of(collider: Collider) -> Shape | None:
    """The shape of a robot file for a collider on a link.

    Arguments:
        collider: of a model.

    Returns:
        A shape, or None for planes, height fields and meshes.
    """
    solid, link = collider.shape, collider.frame or ""
    kind, size = solid.kind, tuple[float, ...]()
    if isinstance(solid, Sphere):
        size = (solid.radius,)
    elif isinstance(solid, (Capsule, Cylinder)):
        size = (solid.radius, 2 * solid.half_length)
    elif isinstance(solid, Box):
        size = tuple(2 * x for x in solid.half_edges)
    elif isinstance(solid, Ellipsoid):
        size = solid.half_axes
    return Shape(link, "collision", kind, size, collider.at) if size else None


def colliders_of(shapes: list[Shape], remarks: list[str]) -> list[Collider]:
    """A collider for each collision shape that is not a mesh.

    Arguments:
        shapes: of the links.
        remarks: a list to which omissions are appended.
    """
    found: dict[str, Collider] = {}
    for shape in shapes:
        if shape.role == "collision" and shape.kind != "mesh":
            try:
                name = fresh(f"{shape.link}_collision", found)
                found[name] = Collider(name, shape.link, solid_of(shape), shape.placement)
            except ModelError as e:
                remarks.append(f"link {shape.link!r} {CANNOT_TOUCH}: {e}")
    return list(found.values())


def mesh_of(shape: Shape) -> ConvexMesh:
    """The hull of a mesh file; an error that names the file if it cannot be read.

    Arguments:
        shape: a mesh.
    """
    folder = Path(shape.folder) if shape.folder else None
    path = find_file(shape.file, folder)
    if path is None:
        where = f" in {folder}" if folder else ""
        raise KinetreeError(f"the mesh {shape.file!r} is missing{where}")
    triangles = load_mesh(path, shape.size)
    if triangles is None:
        raise KinetreeError(f"the mesh {path} cannot be read")
    return hull(triangles.vertices)


def hull(points: Any) -> ConvexMesh:
    """The hull of points, with a limited number of vertices.

    Arguments:
        points: (n, 3), m.
    """
    given: Any = np.asarray(points, dtype=float)
    if len(given) > MOST_POINTS:  # the time for their hull may grow with the square
        given = _farthest(given, MOST_POINTS)
    whole = ConvexMesh(given)
    if len(whole.vertices) <= MOST_VERTICES:
        return whole
    return ConvexMesh(_farthest(np.array(whole.vertices), MOST_VERTICES))


def _farthest(points: np.ndarray, count: int) -> Any:
    """The points that are farthest in some directions."""
    farthest = [np.argmax(points @ direction) for direction in _directions(count)]
    return points[np.unique(farthest)]


def _directions(count: int) -> np.ndarray:
    """Directions spread evenly over the sphere (Fibonacci spiral)."""
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + np.sqrt(5.0)) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def fitted_capsule(solid: Cylinder | Ellipsoid | ConvexMesh) -> tuple[Capsule, Transform]:
    """A capsule along the longest axis of a shape, and its pose.

    It encloses a hull; of a cylinder or an ellipsoid it has the length and the largest radius.

    Arguments:
        solid: the shape.
    """
    if isinstance(solid, ConvexMesh):
        return _capsule_around(solid)
    r = solid.radius if isinstance(solid, Cylinder) else 0.0
    extent = (r, r, solid.half_length) if isinstance(solid, Cylinder) else solid.half_axes
    along = max(range(3), key=extent.__getitem__) if isinstance(solid, Ellipsoid) else 2
    radius = max(x for k, x in enumerate(extent) if k != along)
    capsule = Capsule(radius, max(extent[along] - radius, 1e-3 * radius))
    rows = [[float((j + along + 1) % 3 == i) for j in range(3)] for i in range(3)]
    return capsule, Transform(Rotation(*(Vector3(*row) for row in rows)), Vector3(0.0, 0.0, 0.0))


def _capsule_around(mesh: ConvexMesh) -> tuple[Capsule, Transform]:
    """A capsule around a hull along its longest principal axis, and its pose."""
    vertices = np.array(mesh.vertices)
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    _, _, axes = np.linalg.svd(vertices - vertices.mean(axis=0))
    z, x = axes[0], axes[1]
    local = (vertices - middle) @ np.stack([x, np.cross(z, x), z], axis=1)
    center = (local.min(axis=0) + local.max(axis=0)) / 2
    local = local - center
    across = np.hypot(local[:, 0], local[:, 1])
    radius = float(across.max())
    reach = np.abs(local[:, 2]) - np.sqrt(np.maximum(radius**2 - across**2, 0.0))
    half = max(float(reach.max()), 1e-3 * radius)
    R = np.stack([x, np.cross(z, x), z], axis=1)
    origin = middle + R @ center
    rotation = Rotation(*(Vector3(*row) for row in R.tolist()))
    return Capsule(radius, half), Transform(rotation, Vector3(*origin.tolist()))
