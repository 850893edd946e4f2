"""The surfaces of a robot: meshes if they can be read, primitives, or boxes of equal inertia."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinetree.errors import ModelWarning
from kinetree.model import Model
from kinetree.model.formats.meshes import Triangles
from kinetree.model.formats.packages import find_file
from kinetree.model.model import WORLD, Body, Shape
from kinetree.show.view.geometry import (
    box,
    capsule,
    inertia_box,
    primitive,
)
from kinetree.show.view.painted import Texture, painted_mesh
from kinetree.spatial import Transform
from kinetree.typing import Array

BONE = 0.012
"""The radius of the bones between joints, as a share of the robot's size."""


class Surface(NamedTuple):
    """A surface fixed in a body.

    body: its index, or WORLD.
    pose: in the body's frame, (4, 4).
    source: "mesh", "primitive", "inertia" or "bone".
    color: red, green, blue and opacity, from 0 to 1, as the robot file has it; empty if none.
    texture: a picture on it; None if it has one colour.
    """

    body: int
    pose: Array
    triangles: Triangles
    source: str
    color: tuple[float, ...] = ()
    texture: Texture | None = None


class Drawing(NamedTuple):
    """The drawing of a robot.

    surfaces: its surfaces.
    failed: the meshes that are not drawn, as its file names them, each with the reason.
    """

    surfaces: list[Surface]
    failed: dict[str, str]


def matrix(X: Transform) -> Array:
    """A transform as a homogeneous matrix, (4, 4)."""
    return np.array(X.matrix(), float)


def parts(model: Model, folder: Path | None = None) -> Drawing:
    """The drawing of a robot.

    Arguments:
        model: of the robot.
        folder: where meshes are looked for; by default in the folder of the robot file.

    Returns:
        The visual shapes of each link, or those for collisions where none of them can be drawn; of
        each body without shapes a box of equal inertia, with bones from its joint to those of its
        children. A warning names each mesh that cannot be drawn.
    """
    found, failed = list[Surface](), dict[str, str]()
    for shapes in _shapes_of_links(model).values():
        for role in ("visual", "collision"):
            surfaces = [
                surface
                for shape in shapes
                if shape.role == role
                for surface in _surfaces(model, shape, folder, failed)
            ]
            found += surfaces
            if surfaces:
                break
    for file, reason in failed.items():
        warnings.warn(f"the mesh {file!r} is not drawn: {reason}", ModelWarning, stacklevel=2)
    return Drawing(found + _instead(model, {part.body for part in found}), failed)


def _instead(model: Model, drawn: set[int]) -> list[Surface]:
    """The surfaces of bodies without shapes."""
    found = list[Surface]()
    for i, body in enumerate(model.bodies):
        if i not in drawn:
            found += [*_boxes(i, body), *_bones(model, i)]
    return found if WORLD in drawn else [*found, *_bones(model, WORLD)]


def extent(model: Model) -> float:
    """The size of a robot, m: the distance of its farthest body, along the tree."""
    reach = {WORLD: 0.0}
    for i, body in enumerate(model.bodies):
        reach[i] = reach[body.parent] + float(np.linalg.norm(matrix(body.placement)[:3, 3]))
    return max(*reach.values(), 0.3)


def _shapes_of_links(model: Model) -> dict[str, list[Shape]]:
    found: dict[str, list[Shape]] = {}
    for shape in model.shapes:
        if shape.link in model.frame_numbers:
            found.setdefault(shape.link, []).append(shape)
    return found


def _surfaces(
    model: Model, shape: Shape, folder: Path | None, failed: dict[str, str]
) -> list[Surface]:
    """The surfaces of a shape; none if its mesh is missing or cannot be read.

    Arguments:
        failed: receives the file of such a mesh, and the reason.
    """
    frame = model.frame(shape.link)
    pose = matrix(frame.placement @ shape.placement)
    if shape.kind != "mesh":
        solid = primitive(shape.kind, shape.size)
        return [Surface(frame.body, pose, solid, "primitive", shape.color)]
    around = Path(shape.folder) if folder is None and shape.folder else folder
    path = find_file(shape.file, around)
    skin = find_file(shape.texture, around) if shape.texture else None
    mesh = [] if path is None else painted_mesh(path, shape.size, skin)
    if not mesh:
        missing = "it is in none of the robot's folders; name a wider one with folder="
        failed[shape.file] = missing if path is None else f"{path.name} cannot be read"
    return [
        Surface(frame.body, pose, x, "mesh", color or shape.color, texture)
        for x, color, texture in mesh
    ]


def center(body: Body) -> tuple[Array, Array]:
    """The centre of mass of a body (3,), and its inertia about it (3, 3)."""
    point, rotational = body.inertia.center_and_rotational()
    rows = [[float(x) for x in row] for row in rotational.rows]
    return np.array([float(x) for x in point]), np.array(rows)


def _boxes(i: int, body: Body) -> Iterator[Surface]:
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
    yield Surface(i, pose, box(*np.maximum(edges, thin)), "inertia")


def _bones(model: Model, i: int) -> Iterator[Surface]:
    """From the frame of a body to the joint of each child, or to its frames if it has none."""
    radius = BONE * extent(model)
    children = [body.placement for body in model.bodies if body.parent == i]
    for placement in children or [f.placement for f in model.frames if f.body == i]:
        end = matrix(placement)[:3, 3]
        length = float(np.linalg.norm(end))
        if length > radius:
            pose = along(end / length)
            pose[:3, 3] = end / 2
            yield Surface(i, pose, capsule(radius, length), "bone")


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
