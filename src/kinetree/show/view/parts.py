"""What a robot is drawn with: meshes if they are found, primitives, or boxes of equal inertia."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinetree.model import Model
from kinetree.model.model import WORLD, Body, Shape
from kinetree.show.view.geometry import (
    Triangles,
    box,
    capsule,
    find_mesh,
    inertia_box,
    load_mesh,
    primitive,
)
from kinetree.spatial import Transform
from kinetree.typing import Array

BONE = 0.012
"""The radius of what connects joints, as a share of the robot's size."""


class Part(NamedTuple):
    """A surface fixed in a body.

    body: its number, or WORLD.
    pose: in the body's frame, (4, 4).
    source: "mesh", "primitive", "inertia" or "bone".
    """

    body: int
    pose: Array
    triangles: Triangles
    source: str


def matrix(X: Transform) -> Array:
    """A transform as a homogeneous matrix, (4, 4)."""
    return np.array(X.matrix(), float)


def parts(model: Model, folder: Path | None = None) -> list[Part]:
    """Everything that is drawn of a robot.

    Arguments:
        model: of the robot.
        folder: where meshes are looked for; by default in the folder of the robot file.

    Returns:
        The shapes of each body that has visible ones, and of each other one a box of equal inertia
        with bones from its joint to those of its children.
    """
    shapes = _visible(model)
    found = [part for shape in shapes for part in _shaped(model, shape, folder)]
    drawn = {part.body for part in found}
    for i, body in enumerate(model.bodies):
        if i not in drawn:
            found += [*_boxes(i, body), *_bones(model, i)]
    if WORLD not in drawn:
        found += _bones(model, WORLD)
    return found


def extent(model: Model) -> float:
    """The size of a robot, m: how far its farthest body is, along the tree."""
    reach = {WORLD: 0.0}
    for i, body in enumerate(model.bodies):
        reach[i] = reach[body.parent] + float(np.linalg.norm(matrix(body.placement)[:3, 3]))
    return max(*reach.values(), 0.3)


def _visible(model: Model) -> list[Shape]:
    """The visual shapes; those for collisions where a link has no other."""
    seen = {shape.link for shape in model.shapes if shape.role == "visual"}
    return [s for s in model.shapes if s.role == "visual" or s.link not in seen]


def _shaped(model: Model, shape: Shape, folder: Path | None) -> Iterator[Part]:
    if shape.link not in model.frame_numbers:
        return
    frame = model.frame(shape.link)
    pose = matrix(frame.placement @ shape.placement)
    if shape.kind != "mesh":
        yield Part(frame.body, pose, primitive(shape.kind, shape.size), "primitive")
        return
    path = _mesh_file(shape, folder)
    mesh = None if path is None else load_mesh(path, shape.size)
    if mesh is not None:
        yield Part(frame.body, pose, mesh, "mesh")


def _mesh_file(shape: Shape, folder: Path | None) -> Path | None:
    around = Path(shape.folder) if folder is None and shape.folder else folder
    return find_mesh(shape.file, around)


def missing_meshes(model: Model, folder: Path | None = None) -> list[str]:
    """The meshes that are in none of the robot's folders, as its file names them.

    Arguments:
        model: of the robot.
        folder: where meshes are looked for; by default in the folder of the robot file.
    """
    meshes = [shape for shape in _visible(model) if shape.kind == "mesh"]
    return list(dict.fromkeys(s.file for s in meshes if _mesh_file(s, folder) is None))


def center(body: Body) -> tuple[Array, Array]:
    """The centre of mass of a body (3,), and its inertia about it (3, 3)."""
    point, rotational = body.inertia.center_and_rotational()
    rows = [[float(x) for x in row] for row in rotational.rows]
    return np.array([float(x) for x in point]), np.array(rows)


def _boxes(i: int, body: Body) -> Iterator[Part]:
    mass = float(body.inertia.mass)
    if mass <= 0.0:
        return
    place, rotational = center(body)
    edges, axes = inertia_box(mass, rotational)
    if edges.max() <= 0.0:
        return
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, place
    thin = 0.02 * edges.max()
    yield Part(i, pose, box(*np.maximum(edges, thin)), "inertia")


def _bones(model: Model, i: int) -> Iterator[Part]:
    """From the frame of a body to the joint of each child."""
    radius = BONE * extent(model)
    for body in model.bodies:
        end = matrix(body.placement)[:3, 3]
        length = float(np.linalg.norm(end))
        if body.parent == i and length > radius:
            pose = along(end / length)
            pose[:3, 3] = end / 2
            yield Part(i, pose, capsule(radius, length), "bone")


def along(direction: Array) -> Array:
    """A pose whose z axis has a direction, at the origin, (4, 4).

    Arguments:
        direction: of length one, (3,).
    """
    other = np.eye(3)[np.argmin(np.abs(direction))]
    x = np.cross(other, direction)
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3, :3] = np.stack([x, np.cross(direction, x), direction], axis=1)
    return pose
