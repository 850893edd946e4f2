"""Triangles of simple solids, each about its own origin, and files of meshes."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetree.model.formats.files import read_file
from kinetree.typing import Array

ROUND = 32
"""Corners of a circle."""
STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
"""A triangle of a binary STL file."""
MESHES = (".stl", ".obj", ".ply", ".glb", ".dae")
LARGEST_MESH = 1 << 28  # bytes
PACKAGE = "package.xml"
"""The file that makes a folder a ROS package."""
DESCRIPTIONS = ("urdf", "xacro", "mjcf", "xml", "robots")
"""Usual names of the folder with the robot file, beside that with its meshes."""


class Triangles(NamedTuple):
    """A surface: vertices (n, 3) in m, faces (m, 3) with the numbers of three vertices."""

    vertices: Array
    faces: npt.NDArray[np.integer[Any]]


def box(x: float, y: float, z: float) -> Triangles:
    """A box.

    Arguments:
        x, y, z: the lengths of its edges, m.
    """
    corners = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) / 2.0
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return Triangles(corners * (x, y, z), np.array(faces))


def turned(profile: Array) -> Triangles:
    """The surface that a curve makes when it turns about z.

    Arguments:
        profile: points (radius, z) from the top to the bottom, (n, 2).
    """
    angles = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    radius, height = profile[:, :1], profile[:, 1:]
    x, y = radius * np.cos(angles), radius * np.sin(angles)
    vertices = np.stack([x, y, np.broadcast_to(height, x.shape)], axis=-1).reshape(-1, 3)
    faces = []
    for i in range(len(profile) - 1):
        for j in range(ROUND):
            a, b = i * ROUND + j, i * ROUND + (j + 1) % ROUND
            faces += [(a, a + ROUND, b), (b, a + ROUND, b + ROUND)]
    return Triangles(vertices, np.array(faces))


def cylinder(radius: float, length: float) -> Triangles:
    """A cylinder along z.

    Arguments:
        radius, length: m.
    """
    h = length / 2
    return turned(
        np.array([(0.0, h), (radius, h), (radius, h), (radius, -h), (radius, -h), (0, -h)])
    )


def capsule(radius: float, length: float) -> Triangles:
    """A cylinder along z with half a ball at either end.

    Arguments:
        radius: m.
        length: of the cylinder alone, m.
    """
    angles = np.linspace(0.0, np.pi, 17)
    shift = np.where(angles <= np.pi / 2, length / 2, -length / 2)
    profile = np.stack([radius * np.sin(angles), radius * np.cos(angles) + shift], axis=1)
    middle = np.array([(radius, -length / 2)])
    return turned(np.concatenate([profile[:9], middle, profile[9:]]))


def ellipsoid(x: float, y: float, z: float) -> Triangles:
    """An ellipsoid.

    Arguments:
        x, y, z: half of its axes, m.
    """
    angles = np.linspace(0.0, np.pi, 17)
    ball = turned(np.stack([np.sin(angles), np.cos(angles)], axis=1))
    return Triangles(ball.vertices * (x, y, z), ball.faces)


def primitive(kind: str, size: tuple[float, ...]) -> Triangles:
    """The triangles of a shape that is not a mesh.

    Arguments:
        kind, size: as in `model.model.Shape`.
    """
    makers: dict[str, Callable[..., Triangles]] = {
        "box": box,
        "cylinder": cylinder,
        "capsule": capsule,
        "ellipsoid": ellipsoid,
    }
    return ellipsoid(*(size * 3)) if kind == "sphere" else makers[kind](*size)


def inertia_box(mass: float, rotational: Array) -> tuple[Array, Array]:
    """The box of even density that has the same inertia.

    Arguments:
        mass: kg.
        rotational: inertia about the centre of mass, (3, 3), kg m^2.

    Returns:
        The lengths of its edges (3,), m, and the axes along them, the columns of a (3, 3) rotation.
    """
    moments, axes = np.linalg.eigh(rotational)
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    squares = 6.0 / mass * (moments.sum() - 2.0 * moments)
    return np.sqrt(np.maximum(squares, 0.0)), axes


def find_mesh(name: str, folder: Path | None) -> Path | None:
    """The file of a mesh, if there is one in the robot's folders or in a package.

    The robot's folders are that of its file, the one above if it has a usual name (urdf, mjcf),
    and the package around it, which is known by its package.xml. Nothing else is opened.

    Arguments:
        name: as the robot file has it; package:// is looked for in the robot's folders, in packages
            beside them, and in the folders of ROS_PACKAGE_PATH.
        folder: of the robot file.
    """
    if "\0" in name:
        return None
    roots, packages = _robot_folders(folder), list[Path]()
    rest, places = name.removeprefix("file://"), roots
    if name.startswith("package://"):
        package, _, rest = name.removeprefix("package://").partition("/")
        packages = _packages(package, roots)
        places = [*packages, *(root / package for root in roots), *roots]
    found = (Path(os.path.realpath(place / rest)) for place in places)
    homes = [*roots, *packages]
    inside = (path for path in found if any(path.is_relative_to(home) for home in homes))
    return next((path for path in inside if path.is_file()), None)


def _robot_folders(folder: Path | None) -> list[Path]:
    """Where a robot's own files may be: its folder, and those around it that belong to it."""
    if folder is None:
        return []
    home = Path(os.path.realpath(folder))
    above = [home.parent] if home.name in DESCRIPTIONS else []
    around = (place for place in home.parents if (place / PACKAGE).is_file())
    return list(dict.fromkeys([home, *above, *(p for p in [next(around, None)] if p)]))


def _packages(name: str, roots: list[Path]) -> list[Path]:
    """The folders of a package: around the robot's, beside them, or listed in ROS_PACKAGE_PATH."""
    if name in ("", ".", ".."):
        return []
    above = dict.fromkeys(parent for root in roots for parent in root.parents)
    around = [place for place in (*roots, *above) if place.name == name]
    beside = [place / name for place in above]
    known = [p for p in (*around, *beside) if p in roots or (p / PACKAGE).is_file()]
    listed = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
    named = [Path(place) / name for place in listed if place]
    return [Path(os.path.realpath(place)) for place in (*known, *named)]


def load_mesh(path: Path, scale: tuple[float, ...]) -> Triangles | None:
    """The triangles of a file, or None if it cannot be read.

    Arguments:
        path: of an STL, OBJ, PLY, GLB or DAE file (the last needs the package pycollada).
        scale: along x, y and z; one if empty.
    """
    kind = path.suffix.lower()
    content = read_file(path, LARGEST_MESH) if kind in MESHES else b""
    if not 0 < len(content) <= LARGEST_MESH:
        return None
    mesh = _binary_stl(content) if kind == ".stl" else None
    mesh = _any_mesh(content, kind[1:]) if mesh is None else mesh
    if mesh is None or not len(mesh.faces) or not np.isfinite(mesh.vertices).all():
        return None
    return Triangles(mesh.vertices * (scale or 1.0), mesh.faces)


def _any_mesh(content: bytes, kind: str) -> Triangles | None:
    import trimesh

    try:  # from memory: it opens none of the files that this one names
        mesh: Any = trimesh.load(io.BytesIO(content), file_type=kind, force="mesh")
        return Triangles(np.asarray(mesh.vertices, float), np.asarray(mesh.faces))
    except Exception:  # whatever a reader of many formats raises
        return None


def _binary_stl(content: bytes) -> Triangles | None:
    """A binary STL file with equal corners made one, so that shading is smooth; else None.

    Several times as fast as the reader of all formats: robots have dozens of such files.
    """
    count = int.from_bytes(content[80:84], "little")
    if len(content) != 84 + STL.itemsize * count:
        return None
    corners = np.frombuffer(content, STL, count, 84)["corners"].reshape(-1, 3) + np.float32(0.0)
    order = np.lexsort(corners.T)
    new = np.ones(len(order), bool)
    new[1:] = (corners[order[1:]] != corners[order[:-1]]).any(axis=1)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new) - 1
    return Triangles(corners[order[new]].astype(float), number.reshape(-1, 3))
