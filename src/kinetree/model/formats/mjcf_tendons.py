"""The tendons of a compiled MuJoCo model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kinetree.model.formats.mjcf_equality import softness
from kinetree.model.formats.mjcf_parts import GEOM, Parts, Remark
from kinetree.model.formats.mjcf_reflected import reflected
from kinetree.model.ranges import UNBOUNDED
from kinetree.model.softness import SoftLimit
from kinetree.model.tendons import FixedTendon, Pulley, SpatialTendon, Tendon, Via, Wrap

JOINT, PULLEY, SITE, SPHERE, CYLINDER = range(1, 6)  # mjtWrap
LEFT_OUT = "takes no part in the dynamics"


def tendons(parts: Parts) -> list[Tendon]:
    """The tendons, with their passive forces unless these are switched off."""
    m = parts.m
    return [_tendon(parts, i, name) for i, name in enumerate(parts.names("tendon", m.ntendon))]


def _tendon(parts: Parts, i: int, name: str) -> Tendon:
    m, off = parts.m, parts.off
    spatial = m.wrap_type[m.tendon_adr[i]] != JOINT
    springs, dampers = not off & {"SPRING", "PASSIVE"}, not off & {"DAMPER", "PASSIVE"}
    armature, damping = (
        parts.number(f"tendon_{x}", i) + reflected(m, "tendon", x, i)
        for x in ("armature", "damping")
    )
    rubs = not off & {"FRICTIONLOSS", "CONSTRAINT"}
    lower, upper = m.tendon_lengthspring[i].tolist()
    common: dict[str, Any] = {
        "name": name,
        "stiffness": parts.number("tendon_stiffness", i) if springs else 0.0,
        "rest": (lower, upper),
        "damping": damping if dampers else 0.0,
        "friction": parts.number("tendon_frictionloss", i) if rubs else 0.0,
        "armature": 0.0 if spatial else armature,
        "limits": parts.bounds("tendon_range", i) if m.tendon_limited[i] else UNBOUNDED,
        "force_range": _force_range(parts, i),
        "limit_softness": _soft_limit(m, i),
        "friction_softness": softness(m.tendon_solref_fri[i], m.tendon_solimp_fri[i]),
    }
    if not spatial:
        return FixedTendon(**common, coefficients=tuple(_coefficients(parts, i)))
    return SpatialTendon(**common, path=tuple(_path(parts, i)))


def _soft_limit(m: Any, i: int) -> SoftLimit:
    soft = softness(m.tendon_solref_lim[i], m.tendon_solimp_lim[i])
    return SoftLimit(soft.solref, soft.solimp, float(m.tendon_margin[i]))


def _force_range(parts: Parts, i: int) -> tuple[float, float]:
    known = hasattr(parts.m, "tendon_actfrclimited")
    return parts.bounds("tendon_actfrcrange", i) if known else UNBOUNDED


def _wraps(m: Any, i: int) -> Iterator[tuple[int, int, float]]:
    """The type, the object and the number of each part of a tendon."""
    for k in range(m.tendon_adr[i], m.tendon_adr[i] + m.tendon_num[i]):
        yield int(m.wrap_type[k]), int(m.wrap_objid[k]), float(m.wrap_prm[k])


def _coefficients(parts: Parts, i: int) -> Iterator[tuple[str, float]]:
    for _, joint, weight in _wraps(parts.m, i):
        yield parts.joints[joint], weight


def _path(parts: Parts, i: int) -> Iterator[Via | Wrap | Pulley]:
    for kind, number, value in _wraps(parts.m, i):
        if kind == PULLEY:
            yield Pulley(value)
        elif kind == SITE:
            yield Via(parts.sites[number])
        else:
            place = parts.place(GEOM, number)
            assert place is not None
            side = None if round(value) < 0 else parts.sites[round(value)]
            shape = "sphere" if kind == SPHERE else "cylinder"
            yield Wrap(shape, float(parts.m.geom_size[number][0]), place, side)


def tendon_remarks(parts: Parts) -> Iterator[Remark]:
    """Remarks on features of tendons that are left out."""
    m = parts.m
    for i, name in enumerate(parts.names("tendon", m.ntendon)):
        element = f"tendon {name!r}"
        spatial = m.wrap_type[m.tendon_adr[i]] != JOINT
        added = reflected(m, "tendon", "armature", i)
        if spatial and parts.number("tendon_armature", i) + added:
            yield "warning", element, f"its armature {LEFT_OUT}: that of fixed tendons does"
        for field, what in (
            ("stiffnesspoly", "the higher-order part of its spring (stiffness)"),
            ("dampingpoly", "the higher-order part of its damping"),
            ("springyield", "the yield of its spring (springyield)"),
        ):
            if parts.any(f"tendon_{field}", i):
                yield "warning", element, f"{what} {LEFT_OUT}"
