"""The contacts that contact sensors of a compiled MuJoCo model watch."""

from __future__ import annotations

from kinetree.model.formats.mjcf_parts import BODY, GEOM, SITE, XBODY, Parts
from kinetree.model.sensors import Watch
from kinetree.model.sensors.kinds import FIELDS, REDUCTIONS


def watch(parts: Parts, i: int) -> Watch:
    """The `Watch` of a contact sensor; a subtree is MuJoCo's body with its frame."""
    m = parts.m
    bits, reduce, slots = (int(x) for x in m.sensor_intprm[i][:3])
    return Watch(
        first=_side(parts, int(m.sensor_objtype[i]), int(m.sensor_objid[i])),
        second=_side(parts, int(m.sensor_reftype[i]), int(m.sensor_refid[i])),
        fields=tuple(name for k, name in enumerate(FIELDS) if bits >> k & 1),
        reduce=REDUCTIONS[reduce],
        slots=slots,
    )


def _side(parts: Parts, kind: int, number: int) -> tuple[str, ...] | None:
    """The geoms of one side; None for any."""
    m = parts.m
    if number < 0 or kind == SITE:
        return None
    if kind == GEOM:
        return (parts.geoms[number],)
    bodies = {number}
    if kind == XBODY:
        for b in range(number + 1, m.nbody):
            if int(m.body_parentid[b]) in bodies:
                bodies.add(b)
    assert kind in (BODY, XBODY)
    return tuple(parts.geoms[i] for i in range(m.ngeom) if int(m.geom_bodyid[i]) in bodies)
