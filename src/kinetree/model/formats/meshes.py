"""Files of meshes: where they are, and the triangles in them."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetree._optional import optional
from kinetree.model.formats.files import read_file

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

    vertices: npt.NDArray[np.floating[Any]]
    faces: npt.NDArray[np.integer[Any]]


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
        # some files have a third slash, as if the package were a path
        package, _, rest = name.removeprefix("package://").lstrip("/").partition("/")
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
    trimesh = optional("trimesh", f"reading the mesh of a .{kind} file")
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
