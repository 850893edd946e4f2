"""The contacts of a compiled MuJoCo model: geoms, pairs of them, and their parameters.

The pairs are those that pass MuJoCo's filters (mj_collision), and the parameters are combined as in
MuJoCo (mj_contactParam). A pair names the geom of the simpler type first, as MuJoCo's contacts do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.errors import ModelError
from kinetree.model.formats.collision_shapes import hull
from kinetree.model.geometry import (
    Box,
    Capsule,
    Collider,
    ContactOptions,
    ContactPair,
    Cylinder,
    Ellipsoid,
    HeightField,
    Plane,
    Solid,
    Sphere,
)
from kinetree.model.geometry.options import CONES, INTEGRATORS
from kinetree.spatial import Transform, Vector3

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)  # mjtGeom
MINVAL = 1e-15  # mjMINVAL
OVERRIDE, DIAGEXACT = "OVERRIDE", "DIAGEXACT"  # mjtEnableBit
MOST_PAIRS = 10_000
"""The most contact pairs of one robot."""
PROBE = """<mujoco><worldbody><geom name="a" size="1" margin="1"/><body pos="3 0 0"><freejoint/>
<geom name="b" size="1" margin="2"/></body></worldbody></mujoco>"""
Remark = tuple[str, str, str]
"""Severity, element, message."""


@dataclass(frozen=True)
class Contacts:
    """The colliders and contact pairs of a compiled model.

    Arguments:
        mujoco: the package.
        m: the model.
        names: of the geoms.
        links: the names here of MuJoCo's bodies.
        off: the disabled flags.
        pose: makes a transform of a position and a quaternion of MuJoCo's.
    """

    mujoco: Any
    m: Any
    names: Sequence[str]
    links: Sequence[str]
    off: set[str]
    pose: Callable[[Any, Any], Transform]

    @cached_property
    def solids(self) -> dict[int, Solid]:
        """The shape of each geom that can touch."""
        m = self.m
        touching = [i for i in range(m.ngeom) if m.geom_contype[i] or m.geom_conaffinity[i]]
        paired = [int(i) for i in (*m.pair_geom1, *m.pair_geom2)]
        found = {}
        for i in sorted({*touching, *paired}):
            try:
                found[i] = self._solid(i)
            except ModelError:
                continue  # reported in `remarks`
        return {i: solid for i, solid in found.items() if solid is not None}

    def _solid(self, i: int) -> Solid | None:
        m, kind, size = self.m, int(self.m.geom_type[i]), self.m.geom_size[i].tolist()
        if kind == PLANE:
            return Plane()
        if kind == SPHERE:
            return Sphere(size[0])
        if kind in (CAPSULE, CYLINDER):
            return (Capsule if kind == CAPSULE else Cylinder)(size[0], size[1])
        if kind == ELLIPSOID:
            return Ellipsoid(tuple(size))
        if kind == BOX:
            return Box(tuple(size))
        if kind == MESH:
            mesh = int(m.geom_dataid[i])
            start = m.mesh_vertadr[mesh]
            return hull(m.mesh_vert[start : start + m.mesh_vertnum[mesh]])
        return _height_field(m, int(m.geom_dataid[i])) if kind == HFIELD else None

    def colliders(self) -> Iterator[Collider]:
        """The geoms that can touch; those of the world body are in the world."""
        for i, solid in self.solids.items():
            body = int(self.m.geom_bodyid[i])
            at = self.pose(self.m.geom_pos[i], self.m.geom_quat[i])
            center = Vector3(*self.m.body_ipos[body].tolist()) if body else None
            yield Collider(self.names[i], self.links[body] if body else None, solid, at, center)

    def pairs(self) -> list[ContactPair]:
        """The pairs that can touch, in the order of MuJoCo's contacts; none if too many can."""
        return [] if self._too_many else self._pairs

    @property
    def _too_many(self) -> bool:
        return len(self._pairs) > MOST_PAIRS

    @cached_property
    def _pairs(self) -> list[ContactPair]:
        """The pairs that can touch, until there are too many."""
        if self.off & {"CONTACT", "CONSTRAINT"}:
            return []
        m = self.m
        found: dict[frozenset[int], tuple[tuple[int, int, int], ContactPair]] = {}
        for k, (g1, g2) in enumerate(zip(m.pair_geom1, m.pair_geom2, strict=True)):
            one, two = self._ordered(int(g1), int(g2))
            if self._both_known(one, two) and self._weld(one) != self._weld(two):
                key = self._signature(one, two), 0, k
                found[frozenset((one, two))] = key, self._given_pair(k, one, two)
        for rank, (one, two) in enumerate(self._dynamic()):
            if len(found) > MOST_PAIRS:
                break
            if frozenset((one, two)) not in found:
                key = self._signature(one, two), 1, rank
                found[frozenset((one, two))] = key, self._combined_pair(one, two)
        return [pair for _, pair in sorted(found.values(), key=lambda item: item[0])]

    def _both_known(self, one: int, two: int) -> bool:
        """Whether both shapes are known and MuJoCo has a function for them."""
        if one not in self.solids or two not in self.solids:
            return False
        ground = (PLANE, HFIELD)
        return not (self.m.geom_type[one] in ground and self.m.geom_type[two] in ground)

    def _ordered(self, g1: int, g2: int) -> tuple[int, int]:
        """The two geoms, the one of the simpler type first."""
        return (g2, g1) if self.m.geom_type[g1] > self.m.geom_type[g2] else (g1, g2)

    def _weld(self, geom: int) -> int:
        return int(self.m.body_weldid[self.m.geom_bodyid[geom]])

    def _signature(self, g1: int, g2: int) -> int:
        bodies = sorted(int(self.m.geom_bodyid[g]) for g in (g1, g2))
        return (bodies[0] << 16) + bodies[1]

    def _dynamic(self) -> Iterator[tuple[int, int]]:
        """The pairs that pass contype, conaffinity, exclusions and the parent filter."""
        m = self.m
        excluded = {int(x) for x in m.exclude_signature}
        geoms = np.array(list(self.solids), dtype=int)
        types, affinities = m.geom_contype[geoms], m.geom_conaffinity[geoms]
        for k, g1 in enumerate(geoms.tolist()):
            rest = slice(k + 1, None)
            masks = (types[k] & affinities[rest]) | (types[rest] & affinities[k])
            for g2 in geoms[rest][masks != 0].tolist():
                one, two = self._ordered(g1, g2)
                if (
                    self._both_known(one, two)
                    and self._signature(g1, g2) not in excluded
                    and not self._neighbours(g1, g2)
                ):
                    yield one, two

    def _neighbours(self, g1: int, g2: int) -> bool:
        """Whether two geoms are on one body, or on a body and its parent that both move."""
        m, one, two = self.m, self._weld(g1), self._weld(g2)
        if one == two:
            return True
        if "FILTERPARENT" in self.off or 0 in (one, two):
            return False
        above = [int(m.body_weldid[m.body_parentid[body]]) for body in (one, two)]
        return one == above[1] or two == above[0]

    def _given_pair(self, k: int, one: int, two: int) -> ContactPair:
        m = self.m
        margin, gap = float(m.pair_margin[k]), float(m.pair_gap[k])
        return self._pair(
            one,
            two,
            condim=int(m.pair_dim[k]),
            friction=m.pair_friction[k],
            solref=m.pair_solref[k],
            solimp=m.pair_solimp[k],
            solreffriction=m.pair_solreffriction[k],
            margin=margin,
            gap=gap,
        )

    def _combined_pair(self, one: int, two: int) -> ContactPair:
        """The parameters of two geoms, combined as MuJoCo does."""
        m, both = self.m, [one, two]
        add = np.sum if margins_add(self.mujoco) else np.max
        margin, gap = float(add(m.geom_margin[both])), float(add(m.geom_gap[both]))
        first, second = m.geom_priority[both]
        if first != second:
            above = one if first > second else two
            own = {key: getattr(m, f"geom_{key}")[above] for key in ("solref", "solimp")}
            condim, friction = m.geom_condim[above], m.geom_friction[above]
        else:
            own = self._mixed(one, two)
            condim, friction = m.geom_condim[both].max(), m.geom_friction[both].max(axis=0)
        sliding, torsional, rolling = friction.tolist()
        five = (sliding, sliding, torsional, rolling, rolling)
        return self._pair(
            one, two, condim=int(condim), friction=five, margin=margin, gap=gap, **own
        )

    def _mixed(self, one: int, two: int) -> dict[str, Any]:
        m = self.m
        weights = m.geom_solmix[[one, two]]
        small = weights < MINVAL
        share = 0.5 if small.all() else 0.0 if small[0] else 1.0
        if not small.any():
            share = weights[0] / weights.sum()
        solref1, solref2 = m.geom_solref[one], m.geom_solref[two]
        standard = solref1[0] > 0 and solref2[0] > 0
        mixed = share * solref1 + (1 - share) * solref2
        return {
            "solref": mixed if standard else np.minimum(solref1, solref2),
            "solimp": share * m.geom_solimp[one] + (1 - share) * m.geom_solimp[two],
        }

    def _pair(self, one: int, two: int, **given: Any) -> ContactPair:
        """A pair with the parameters given, or with the ones that override all."""
        opt = self.m.opt
        if _enabled(self.mujoco, opt, OVERRIDE):
            given |= {k: getattr(opt, f"o_{k}") for k in ("friction", "solref", "solimp")}
            given["margin"] = float(opt.o_margin)
        if not margins_add(self.mujoco):  # older releases subtract the gap from the margin
            given["margin"] = max(0.0, given["margin"] - given["gap"])
        listed = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in given.items()}
        return ContactPair(self.names[one], self.names[two], **listed)

    def options(self) -> ContactOptions:
        """The settings of the model's <option>."""
        opt = self.m.opt
        return ContactOptions(
            float(opt.timestep),
            CONES[int(opt.cone)],
            float(opt.impratio),
            INTEGRATORS[int(opt.integrator)],
            limits=not self.off & {"LIMIT", "CONSTRAINT"},
            refsafe="REFSAFE" not in self.off,
            eulerdamp="EULERDAMP" not in self.off,
            diagexact=_enabled(self.mujoco, opt, DIAGEXACT),
        )

    def remarks(self) -> Iterator[Remark]:
        """Remarks on contacts that are left out."""
        m = self.m
        if _enabled(self.mujoco, m.opt, DIAGEXACT):
            yield "warning", "flag 'diagexact'", "the diagonal of contacts is approximated"
        if self._too_many:
            yield (
                "warning",
                "contact",
                f"more than {MOST_PAIRS} pairs of geoms can touch: all contacts are left out; "
                "contype, conaffinity and <exclude> say which pairs can",
            )
        for i in range(m.ngeom):
            if not (m.geom_contype[i] or m.geom_conaffinity[i]):
                continue
            element = f"geom {self.names[i]!r}"
            if i not in self.solids:
                why = "a signed distance field" if m.geom_type[i] == SDF else "flat or empty"
                yield "warning", element, f"it takes no part in contact: it is {why}"
            for field, what in (("adhesion", "adhesion"), ("surfacevel", "surface velocity")):
                values = getattr(m, f"geom_{field}", None)
                if values is not None and np.any(values[i]):
                    yield "warning", element, f"its {what} takes no part in contact"


@cache
def margins_add(mujoco: Any) -> bool:
    """Whether the margins of two geoms add up, as in MuJoCo 4, or the larger one counts.

    Arguments:
        mujoco: the package.
    """
    m = mujoco.MjModel.from_xml_string(PROBE)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    return bool(d.contact.includemargin[0] == 3.0)


def _enabled(mujoco: Any, opt: Any, flag: str) -> bool:
    bit = int(getattr(mujoco.mjtEnableBit, f"mjENBL_{flag}", 0))
    return bool(opt.enableflags & bit)


def _height_field(m: Any, number: int) -> HeightField:
    """The surface of a height field; MuJoCo's data are between 0 and 1."""
    rows, columns, start = m.hfield_nrow[number], m.hfield_ncol[number], m.hfield_adr[number]
    half_x, half_y, top, _ = m.hfield_size[number].tolist()
    data = m.hfield_data[start : start + rows * columns].astype(float).reshape(rows, columns)
    return HeightField(data * top, half_x, half_y)
