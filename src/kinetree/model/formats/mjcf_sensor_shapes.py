"""The shapes of MuJoCo's sensors: zones of touch sensors, and shapes that rangefinders can meet.

A ray meets the triangles of a mesh, as in MuJoCo; if there are too many, those of its hull. A
height field is its surface with walls around it, on a box.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.formats.collision_shapes import hull
from kinetree.model.formats.mjcf_parts import Parts, Remark
from kinetree.model.geometry import (
    Box,
    Capsule,
    Collider,
    Cylinder,
    Ellipsoid,
    Rectangle,
    Sphere,
    Triangles,
)
from kinetree.model.geometry.shapes import Solid
from kinetree.spatial import Rotation, Transform, Vector3

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom


MOST_TRIANGLES = 2000
"""The most triangles of a mesh: each is in the program of every rangefinder."""


def zone(parts: Parts, site: int) -> Collider | None:
    """The zone of a touch sensor: the shape of its site, fixed in its link."""
    m = parts.m
    shape = _solid(int(m.site_type[site]), m.site_size[site].tolist())
    link = parts.links[int(m.site_bodyid[site])]
    at = parts.pose(m.site_pos[site], m.site_quat[site])
    return None if shape is None else Collider(f"zone {site}", link, shape, at)


def in_sight(parts: Parts, site: int) -> Iterator[Collider]:
    """The shapes that a rangefinder can meet: visible ones of other bodies."""
    m = parts.m
    for i in _visible(parts, site):
        body = int(m.geom_bodyid[i])
        at = parts.pose(m.geom_pos[i], m.geom_quat[i])
        link = parts.links[body] if body else None
        for k, (shape, inside) in enumerate(_met(m, i)):
            yield Collider(f"geom {i}.{k}", link, shape, at @ inside)


def _met(m: Any, i: int) -> Iterator[tuple[Solid, Transform]]:
    """The solids of a geom that rays meet, with their poses in its frame."""
    here, kind, data = Transform.identity(), int(m.geom_type[i]), int(m.geom_dataid[i])
    if kind == MESH:
        try:
            yield Triangles(_mesh(m, data)), here
        except ModelError:  # flat, so that it has no hull
            return
    elif kind == HFIELD:
        half_x, half_y, _, depth = m.hfield_size[data].tolist()
        base = Transform(Rotation.identity(), Vector3(0.0, 0.0, -0.5 * depth))
        yield Box((half_x, half_y, 0.5 * depth)), base
        triangles = _field(m, data)
        if len(triangles) <= MOST_TRIANGLES:
            yield Triangles(triangles), here
    else:
        shape = _solid(kind, m.geom_size[i].tolist())
        if shape is not None:
            yield shape, here


def _mesh(m: Any, mesh: int) -> Any:
    """The corners of a mesh's triangles, or of its hull's if there are too many."""
    start, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
    vertices = np.array(m.mesh_vert[start : start + count], dtype=float)
    if m.mesh_facenum[mesh] <= MOST_TRIANGLES:
        first = int(m.mesh_faceadr[mesh])
        return vertices[m.mesh_face[first : first + m.mesh_facenum[mesh]]]
    from scipy.spatial import ConvexHull  # importing takes time

    corners = np.array(hull(vertices).vertices)
    return corners[ConvexHull(corners).simplices]


def _field(m: Any, field: int) -> Any:
    """The corners of the triangles of a height field's surface and of the walls around it."""
    rows, columns, start = m.hfield_nrow[field], m.hfield_ncol[field], m.hfield_adr[field]
    half_x, half_y, top, _ = m.hfield_size[field].tolist()
    data = m.hfield_data[start : start + rows * columns].astype(float).reshape(rows, columns)
    x, y = np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows)
    grid = np.stack([*np.meshgrid(x, y), data * top], axis=-1)
    cells = [(grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1])]
    for edge in (grid[0], grid[-1], grid[:, 0], grid[:, -1]):
        foot = edge * [1.0, 1.0, 0.0]
        cells.append((foot[:-1], foot[1:], edge[1:], edge[:-1]))
    halves = [((a, b, c), (a, c, d)) for a, b, c, d in cells]
    corners = [np.stack(x, axis=-2).reshape(-1, 3, 3) for both in halves for x in both]
    return np.concatenate(corners)


def coarse(parts: Parts, site: int) -> Iterator[tuple[int, str]]:
    """The geoms that a rangefinder sees differently than in MuJoCo, and the difference."""
    m = parts.m
    for i in _visible(parts, site):
        kind, data = int(m.geom_type[i]), int(m.geom_dataid[i])
        if kind == MESH and m.mesh_facenum[data] > MOST_TRIANGLES:
            yield i, f"it sees the hull of {{}}, which has more than {MOST_TRIANGLES} triangles"
        elif kind == HFIELD and len(_field(m, data)) > MOST_TRIANGLES:
            yield i, f"it does not see {{}}, which has more than {MOST_TRIANGLES} triangles"
        elif kind > MESH:
            yield i, "it does not see {}, a signed distance field"


def _visible(parts: Parts, site: int) -> Iterator[int]:
    m, own = parts.m, int(parts.m.site_bodyid[site])
    for i in range(m.ngeom):
        material = int(m.geom_matid[i])
        rgba: Any = m.geom_rgba[i] if material < 0 else m.mat_rgba[material]
        if rgba[3] > 0.0 and int(m.geom_bodyid[i]) != own:
            yield i


def _solid(kind: int, size: list[float]) -> Solid | None:
    try:
        if kind == PLANE:
            return Rectangle(*(x if x > 0.0 else float("inf") for x in size[:2]))
        if kind == SPHERE:
            return Sphere(size[0])
        if kind in (CAPSULE, CYLINDER):
            return (Capsule if kind == CAPSULE else Cylinder)(size[0], size[1])
        if kind == ELLIPSOID:
            return Ellipsoid((size[0], size[1], size[2]))
        return Box((size[0], size[1], size[2])) if kind == BOX else None
    except ModelError:  # without extent
        return None


def sight_remark(parts: Parts, i: int, element: str) -> Iterator[Remark]:
    """Remarks on shapes that a rangefinder does not see here."""
    for geom, how in coarse(parts, int(parts.m.sensor_objid[i])):
        yield "note", element, how.format(f"geom {parts.geoms[geom]!r}")
