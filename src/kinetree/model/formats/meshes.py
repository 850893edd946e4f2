"""The triangles in files of meshes."""

from __future__ import annotations

import io
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


class Triangles(NamedTuple):
    """A surface: vertices (n, 3) in m, faces (m, 3) with the indices of three vertices."""

    vertices: npt.NDArray[np.floating[Any]]
    faces: npt.NDArray[np.integer[Any]]


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
    try:  # from memory, so that trimesh opens no files that this one names
        mesh: Any = trimesh.load(io.BytesIO(content), file_type=kind, force="mesh")
        return Triangles(np.asarray(mesh.vertices, float), np.asarray(mesh.faces))
    except Exception:  # whatever a reader of many formats raises
        return None


def _binary_stl(content: bytes) -> Triangles | None:
    """A binary STL file with equal corners merged, so that shading is smooth; else None.

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
