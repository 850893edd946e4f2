"""The shapes that MuJoCo's sensors need: zones of touch, and what the ray of one can meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kinetree.errors import ModelError
from kinetree.model.formats.mjcf_parts import Parts, Remark
from kinetree.model.geometry import Box, Capsule, Collider, Cylinder, Ellipsoid, Rectangle, Sphere
from kinetree.model.geometry.shapes import Solid

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom


def zone(parts: Parts, site: int) -> Collider | None:
    """The zone of a touch sensor: the shape of its site, fixed in its link."""
    m = parts.m
    shape = _solid(int(m.site_type[site]), m.site_size[site].tolist())
    link = parts.links[int(m.site_bodyid[site])]
    at = parts.pose(m.site_pos[site], m.site_quat[site])
    return None if shape is None else Collider(f"zone {site}", link, shape, at)


def in_sight(parts: Parts, site: int) -> Iterator[Collider]:
    """What a rangefinder can meet: visible shapes of other bodies."""
    m = parts.m
    for i in _visible(parts, site):
        shape = _solid(int(m.geom_type[i]), m.geom_size[i].tolist())
        if shape is not None:
            body = int(m.geom_bodyid[i])
            at = parts.pose(m.geom_pos[i], m.geom_quat[i])
            yield Collider(f"geom {i}", parts.links[body] if body else None, shape, at)


def unseen(parts: Parts, site: int) -> int:
    """How many shapes a rangefinder meets in MuJoCo and not here: meshes and height fields."""
    m = parts.m
    kinds = (int(m.geom_type[i]) for i in _visible(parts, site))
    return sum(kind in (HFIELD, MESH) or kind > MESH for kind in kinds)


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
    """Remarks on what a rangefinder does not meet here."""
    if count := unseen(parts, int(parts.m.sensor_objid[i])):
        yield "note", element, f"it does not see {count} meshes or height fields"
