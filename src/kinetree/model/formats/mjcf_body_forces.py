"""The body forces of a compiled MuJoCo model: gravity compensation, and the fluid around bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from kinetree.model.body_forces import BodyForce, Compensation, Fluid, FluidBox, FluidEllipsoid
from kinetree.model.formats.mjcf_parts import BODY, GEOM, Parts, Remark
from kinetree.spatial import Vector3

SPHERE, CAPSULE, CYLINDER = 2, 3, 5  # mjtGeom
MINVAL = 1e-15  # mjMINVAL
ALL_PASSIVE = ({"PASSIVE"}, {"SPRING", "DAMPER"})
"""Flags that switch off all passive forces: of older releases, and of MuJoCo 4."""


def body_forces(parts: Parts) -> list[BodyForce]:
    """The forces on bodies, unless passive forces are switched off."""
    if any(flags <= parts.off for flags in ALL_PASSIVE):
        return []
    return [*_compensations(parts), *_fluid(parts)]


def _compensations(parts: Parts) -> Iterator[BodyForce]:
    m = parts.m
    for i in range(1, m.nbody):
        mass = float(m.body_gravcomp[i] * m.body_mass[i])
        place = parts.place(BODY, i)
        if mass and place is not None:
            yield Compensation(name=f"{parts.links[i]} compensation", place=place, mass=mass)


def _fluid(parts: Parts) -> Iterator[BodyForce]:
    m, opt = parts.m, parts.m.opt
    fluid = Fluid(float(opt.density), float(opt.viscosity), Vector3(*opt.wind.tolist()))
    if not fluid.density and not fluid.viscosity:
        return
    for i in range(1, m.nbody):
        if m.body_mass[i] < MINVAL:
            continue
        first = int(m.body_geomadr[i])
        own = range(first, first + int(m.body_geomnum[i]))
        shapes = [g for g in own if m.geom_fluid[g][0] > 0.0]
        if shapes:
            yield from (_ellipsoid(parts, g, fluid) for g in shapes)
        else:
            yield _box(parts, i, fluid)


def _box(parts: Parts, i: int, fluid: Fluid) -> BodyForce:
    """The box that has the inertia of a body."""
    place, mass = parts.place(BODY, i), float(parts.m.body_mass[i])
    xx, yy, zz = parts.m.body_inertia[i].tolist()
    squares = (yy + zz - xx, xx + zz - yy, xx + yy - zz)
    x, y, z = (math.sqrt(max(MINVAL, s) / mass * 6.0) for s in squares)
    assert place is not None
    return FluidBox(name=f"{parts.links[i]} fluid", place=place, fluid=fluid, edges=(x, y, z))


def _ellipsoid(parts: Parts, g: int, fluid: Fluid) -> BodyForce:
    """The ellipsoid of a geom; its coefficients are scaled by the interaction coefficient."""
    share, blunt, slender, angular, kutta, magnus, *added = parts.m.geom_fluid[g].tolist()
    place = parts.place(GEOM, g)
    assert place is not None
    scaled = Fluid(fluid.density * share, fluid.viscosity * share, fluid.wind)
    a, b, c, d, e, f = added
    return FluidEllipsoid(
        name=f"{parts.links[parts.m.geom_bodyid[g]]} fluid {g}",
        place=place,
        fluid=scaled,
        half_axes=_half_axes(parts.m, g),
        blunt=blunt,
        slender=slender,
        angular=angular,
        kutta=kutta,
        magnus=magnus,
        added_volume=(a, b, c),
        added_moment=(d, e, f),
    )


def _half_axes(m: Any, g: int) -> tuple[float, float, float]:
    """The half axes of the ellipsoid that represents a shape."""
    x, y, z = m.geom_size[g].tolist()
    kind = int(m.geom_type[g])
    if kind == SPHERE:
        return x, x, x
    if kind == CAPSULE:
        return x, x, y + x
    return (x, x, y) if kind == CYLINDER else (x, y, z)


def body_force_remarks(parts: Parts) -> Iterator[Remark]:
    """Remarks on forces on bodies that differ from MuJoCo's."""
    flags = getattr(parts.m, "jnt_actgravcomp", None)
    for j, name in enumerate(parts.joints):
        if flags is not None and flags[j] and parts.m.body_gravcomp.any():
            yield (
                "note",
                f"joint {name!r}",
                "gravity compensation counts as a passive force here, not as one of its actuators "
                "(actuatorgravcomp)",
            )
