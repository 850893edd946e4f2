"""The inertia of solid shapes of constant density: closed forms, and sums over triangles of meshes.

A solid in front of a closed surface is a sum of signed tetrahedra, one for each triangle with the
origin. With the corners a, b, c of a triangle as the rows of A, its tetrahedron has the volume
V = det(A)/6, the first moment V (a + b + c)/4 and the second moments V/20 (AT A + s sT), where
s = a + b + c. (Source: Blow and Binstock, "How to find the inertia tensor (or other mass
properties) of a 3D solid body represented by a triangle mesh", 2004.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.model.description import WATER, Description, Link
from kinetree.model.formats.meshes import Triangles, load_mesh
from kinetree.model.formats.packages import find_file
from kinetree.model.model import Shape
from kinetree.model.problem import Problem
from kinetree.spatial import Inertia, Symmetric3, Vector3


def with_inertias_of_shapes(description: Description, density: float = WATER) -> Description:
    """A description whose links without inertia have that of their shapes, with remarks.

    The collision shapes count, and the visual ones for links that have no others.

    Arguments:
        description: of a robot.
        density: of all shapes, kg/m^3.
    """
    by_link: dict[str, dict[str, list[Shape]]] = {}
    for shape in description.shapes:
        by_link.setdefault(shape.link, {}).setdefault(shape.role, []).append(shape)
    links, remarks = [], list(description.remarks)
    for link in description.links:
        roles = by_link.get(link.name, {})
        shapes = roles.get("collision") or roles.get("visual") or []
        if shapes and link.inertia == Inertia.zero():
            found, said = inertia_of_shapes((shape, density) for shape in shapes)
            remarks += [Problem("warning", f"link {link.name!r}", x, link.where) for x in said]
            message = f"its inertia is that of its shapes at {density:g} kg/m^3: {found.mass:g} kg"
            remarks.append(Problem("note", f"link {link.name!r}", message, link.where))
            link = Link(link.name, found, link.where)
        links.append(link)
    return replace(description, links=links, remarks=remarks)


def inertia_of_shapes(shapes: Iterable[tuple[Shape, float]]) -> tuple[Inertia, list[str]]:
    """The sum of the inertias of shapes in their link's frame, and remarks.

    Arguments:
        shapes: each with its density, kg/m^3.
    """
    total, said = Inertia.zero(), list[str]()
    for shape, density in shapes:
        try:
            if shape.kind == "mesh":
                inertia = _mesh(shape, density, said)
            else:
                volume, moments = SOLIDS[shape.kind](*map(abs, shape.size))
                m = density * volume
                xx, yy, zz = (m * x for x in moments)
                about = Symmetric3(xx, yy, zz, 0.0, 0.0, 0.0)
                inertia = Inertia.about_center(m, Vector3.zero(), about)
        except KinetreeError as e:
            said.append(f"one of its shapes has no inertia: {e}")
            continue
        total = total + shape.placement.to_parent(inertia)
    return total, said


def _box(x: float, y: float, z: float) -> tuple[float, tuple[float, ...]]:
    xx, yy, zz = x * x / 12, y * y / 12, z * z / 12
    return x * y * z, (yy + zz, xx + zz, xx + yy)


def _ellipsoid(x: float, y: float, z: float) -> tuple[float, tuple[float, ...]]:
    xx, yy, zz = x * x / 5, y * y / 5, z * z / 5
    return 4 / 3 * math.pi * x * y * z, (yy + zz, xx + zz, xx + yy)


def _sphere(r: float) -> tuple[float, tuple[float, ...]]:
    return _ellipsoid(r, r, r)


def _cylinder(r: float, length: float) -> tuple[float, tuple[float, ...]]:
    across = r * r / 4 + length * length / 12
    return math.pi * r * r * length, (across, across, r * r / 2)


def _capsule(r: float, length: float) -> tuple[float, tuple[float, ...]]:
    """A cylinder with half a ball at each end, whose centre of mass is 3/8 r beyond the end."""
    middle, (xx, _, zz) = _cylinder(r, length)
    ball, (turning, *_) = _sphere(r)
    total = middle + ball
    if not total:
        return 0.0, (0.0, 0.0, 0.0)
    across = middle * xx + ball * (turning + length * length / 4 + 3 / 8 * length * r)
    return total, (across / total, across / total, (middle * zz + ball * turning) / total)


SOLIDS: dict[str, Callable[..., tuple[float, tuple[float, ...]]]] = {
    "box": _box,
    "ellipsoid": _ellipsoid,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
}
"""The volume of a shape, and the moments of inertia of one kilogramme of it."""


def _mesh(shape: Shape, density: float, said: list[str]) -> Inertia:
    path = find_file(shape.file, Path(shape.folder) if shape.folder else None)
    triangles = None if path is None else load_mesh(path, shape.size)
    if triangles is None:
        raise KinetreeError(f"the mesh {shape.file!r:.200} cannot be read")
    if not _is_closed(triangles):
        said.append(f"the mesh {shape.file!r:.200} is not closed: its convex hull counts")
        triangles = _hull(triangles)
    corners: Any = triangles.vertices[triangles.faces].astype(float)
    volume = np.linalg.det(corners) / 6
    sums = corners.sum(axis=1)
    total = float(volume.sum())
    sign = math.copysign(1.0, total)  # a surface that is inside out
    with np.errstate(all="ignore"):
        first = sign * (volume[:, None] * sums).sum(axis=0) / 4
        outer = np.einsum("nki,nkj->nij", corners, corners) + sums[:, :, None] * sums[:, None, :]
        second = sign * (volume[:, None, None] * outer).sum(axis=0) / 20
    if not (np.isfinite(second).all() and abs(total) > 0.0):
        raise KinetreeError(f"the mesh {shape.file!r:.200} has no volume")
    xx, yy, zz, xy, xz, yz = (
        float(second[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    )
    rotational = Symmetric3(yy + zz, xx + zz, xx + yy, -xy, -xz, -yz) * density
    return Inertia(density * abs(total), Vector3(*(density * first).tolist()), rotational)


def _is_closed(triangles: Triangles) -> bool:
    """Whether each edge has one triangle on either side."""
    faces: Any = triangles.faces
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there = {tuple(edge) for edge in edges.tolist()}
    return len(there) == len(edges) and all((b, a) in there for a, b in there)


def _hull(triangles: Triangles) -> Triangles:
    """The convex hull, its triangles turned outwards."""
    from scipy.spatial import ConvexHull, QhullError  # rarely needed, and importing takes time

    try:
        hull = ConvexHull(triangles.vertices)
    except (QhullError, ValueError):
        raise KinetreeError("a mesh is flat") from None
    vertices: Any = hull.points
    faces = hull.simplices.copy()
    corners = vertices[faces]
    outwards = np.einsum(
        "ni,ni->n",
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
        hull.equations[:, :3],
    )
    faces[outwards < 0] = faces[outwards < 0][:, ::-1]
    return Triangles(vertices, faces)
