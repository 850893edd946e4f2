"""The sensors of a compiled MuJoCo model that are functions of the state."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

from kinetree._optional import optional
from kinetree.model.formats.mjcf_contact_sensors import watch
from kinetree.model.formats.mjcf_parts import SITE, XBODY, Parts, Remark
from kinetree.model.formats.mjcf_sensor_shapes import in_sight, sight_remark, zone
from kinetree.model.geometry import Collider
from kinetree.model.place import Place
from kinetree.model.sensors import KINDS, Carried, Sensor
from kinetree.spatial import Inertia, Transform, Vector3

OTHER_NAMES = {"jointactfrc": "jointactuatorfrc", "tendonactfrc": "tendonactuatorfrc"}
"""Names of sensors that differ between MuJoCo and MJCF."""
REAL, POSITIVE = 0, 1  # mjtDataType


def sensors(
    parts: Parts, inertia: Callable[[int], Inertia], actuators: dict[int, str]
) -> list[Sensor]:
    """The sensors, except those of unknown kinds and of parts that are left out.

    Arguments:
        inertia: of a body of MuJoCo, in its frame.
        actuators: the indices and names of those that are read.
    """
    found = []
    for i, name, kind in _named(parts):
        if _known(parts, i, kind, actuators):
            found.append(_sensor(parts, i, name, kind, inertia, actuators))
    return found


def _known(parts: Parts, i: int, kind: str, actuators: dict[int, str]) -> bool:
    """Whether a sensor can be read."""
    if kind not in KINDS or (KINDS[kind].of == "actuator" and not _of(parts, i, actuators)):
        return False
    m, at_site = parts.m, parts.m.sensor_objtype[i] == SITE
    if kind == "rangefinder":  # of a camera, or with more than a distance
        return bool(at_site and m.sensor_dim[i] == 1)
    zoned = kind == "touch" or (kind == "contact" and at_site)
    return not zoned or zone(parts, int(m.sensor_objid[i])) is not None


def _named(parts: Parts) -> Iterator[tuple[int, str, str]]:
    """The index, the name and the kind of every sensor."""
    kinds: Any = optional("mujoco", "reading MJCF").mjtSensor
    for i, name in enumerate(parts.names("sensor", parts.m.nsensor)):
        kind = kinds(parts.m.sensor_type[i]).name.removeprefix("mjSENS_").lower()
        yield i, name, OTHER_NAMES.get(kind, kind)


def _of(parts: Parts, i: int, actuators: dict[int, str]) -> str:
    return actuators.get(int(parts.m.sensor_objid[i]), "")


def _sensor(
    parts: Parts,
    i: int,
    name: str,
    kind: str,
    inertia: Callable[[int], Inertia],
    actuators: dict[int, str],
) -> Sensor:
    m, refers = parts.m, KINDS[kind].of
    number = int(m.sensor_objid[i])
    of = ""
    if refers == "joint":
        of = parts.joints[number]
    elif refers == "tendon":
        of = parts.names("tendon", m.ntendon)[number]
    elif refers == "actuator":
        of = actuators[number]
    shown = m.sensor_datatype[i] in (REAL, POSITIVE) and m.sensor_cutoff[i] > 0
    shown = shown and kind != "contact"  # MuJoCo does not bound what these show
    sensor = Sensor(
        name=name,
        kind=kind,
        place=_place(parts, i, kind) if refers == "place" else None,
        of=of,
        shapes=_shapes(parts, i, kind),
        watch=watch(parts, i) if kind == "contact" else None,
        reference=_reference(parts, i) if KINDS[kind].relative else None,
        field=Vector3(*m.opt.magnetic.tolist()),
        cutoff=float(m.sensor_cutoff[i]) if shown else math.inf,
        noise=parts.number("sensor_noise", i),
    )
    return replace(sensor, carried=_carried(parts, i, inertia)) if sensor.holds else sensor


def _shapes(parts: Parts, i: int, kind: str) -> tuple[Collider, ...]:
    """The zone of a touch or contact sensor, or the shapes that a rangefinder can meet."""
    number = int(parts.m.sensor_objid[i])
    if kind == "touch" or (kind == "contact" and parts.m.sensor_objtype[i] == SITE):
        found = zone(parts, number)
        return () if found is None else (found,)
    return tuple(in_sight(parts, number)) if kind == "rangefinder" else ()


def _place(parts: Parts, i: int, kind: str) -> Place | None:
    number = int(parts.m.sensor_objid[i])
    if kind.startswith("subtree"):
        return parts.place(XBODY, number)
    return parts.place(int(parts.m.sensor_objtype[i]), number)


def _reference(parts: Parts, i: int) -> Place | None:
    number = int(parts.m.sensor_refid[i])
    return None if number < 0 else parts.place(int(parts.m.sensor_reftype[i]), number)


def _carried(parts: Parts, i: int, inertia: Callable[[int], Inertia]) -> Carried:
    """The part that a sensor's body carries: the bodies fixed to it, and the joints below them."""
    m, number = parts.m, int(parts.m.sensor_objid[i])
    body = int(m.site_bodyid[number]) if m.sensor_objtype[i] == SITE else number
    poses = {body: Transform.identity()}
    total, joints = inertia(body) if body else Inertia.zero(), []
    for b in range(body + 1, m.nbody):
        parent = int(m.body_parentid[b])
        if parent not in poses:
            continue
        if m.body_jntnum[b]:
            joints.append(parts.joints[m.body_jntadr[b]])
        else:
            poses[b] = poses[parent] @ parts.pose(m.body_pos[b], m.body_quat[b])
            total = total + poses[b].to_parent(inertia(b))
    return Carried(total, _frames(parts, poses), tuple(joints))


def _frames(parts: Parts, bodies: Collection[int]) -> tuple[str, ...]:
    """The names of bodies, in their order, and of their sites."""
    on = (name for k, name in parts.sites.items() if parts.m.site_bodyid[k] in bodies)
    return (*(parts.links[b] for b in bodies), *on)


def sensor_remarks(parts: Parts, read: Collection[str]) -> Iterator[Remark]:
    """Remarks on sensors that are left out.

    Arguments:
        read: the names of those that are read.
    """
    for i, name, kind in _named(parts):
        if name not in read:
            yield (
                "note",
                f"sensor {name!r}",
                f"it is left out: sensors of kind {kind} are not read",
            )
        elif parts.any("sensor_delay", i) or parts.any("sensor_interval", i):
            yield "note", f"sensor {name!r}", "it measures without delay, and at every step"
        if name in read and kind == "rangefinder":
            yield from sight_remark(parts, i, f"sensor {name!r}")
