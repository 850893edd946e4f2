"""The keyframes and custom numbers of a compiled MuJoCo model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kinetree.model.formats.mjcf_parts import Parts
from kinetree.model.keyframe import REFERENCE, Keyframe, Values
from kinetree.spatial import Rotation, Vector3

FREE, BALL = 0, 1  # mjtJoint
COORDINATES, VELOCITIES = {FREE: 7, BALL: 4}, {FREE: 6, BALL: 3}
NEUTRAL = {FREE: (0.0,) * 6 + (1.0,), BALL: (0.0, 0.0, 0.0, 1.0)}


def keyframes(parts: Parts, actuators: dict[int, str]) -> list[Keyframe]:
    """The keyframes, in the coordinates and velocities used here.

    Arguments:
        actuators: the indices and names of those that are read.
    """
    m = parts.m
    found = [
        Keyframe(
            name=name,
            time=float(m.key_time[k]),
            coordinates=tuple(_coordinates(parts, m.key_qpos[k])),
            velocities=tuple(_velocities(parts, m.key_qpos[k], m.key_qvel[k])),
            activations=tuple(_activations(m, m.key_act[k], actuators)),
            controls=tuple((x, (float(m.key_ctrl[k][i]),)) for i, x in actuators.items()),
        )
        for k, name in enumerate(parts.names("key", m.nkey))
    ]
    return [*_reference(parts, found), *found]


def _reference(parts: Parts, others: list[Keyframe]) -> Iterator[Keyframe]:
    """Where the file puts its bodies, if that is not the neutral configuration here."""
    m = parts.m
    coordinates = tuple(_coordinates(parts, m.qpos0))
    moved = any(
        values != NEUTRAL.get(int(m.jnt_type[j]), (0.0,))
        for j, (_, values) in enumerate(coordinates)
    )
    if moved and all(x.name != REFERENCE for x in others):
        yield Keyframe(name=REFERENCE, coordinates=coordinates)


def _coordinates(parts: Parts, qpos: Any) -> Iterator[tuple[str, tuple[float, ...]]]:
    m = parts.m
    for j, name in enumerate(parts.joints):
        kind, start = int(m.jnt_type[j]), m.jnt_qposadr[j]
        values = qpos[start : start + COORDINATES.get(kind, 1)].tolist()
        if kind in COORDINATES:
            *place, w, x, y, z = values
            values = [*place, x, y, z, w]
        yield name, tuple(values)


def _velocities(parts: Parts, qpos: Any, qvel: Any) -> Iterator[tuple[str, tuple[float, ...]]]:
    m = parts.m
    for j, name in enumerate(parts.joints):
        kind, start = int(m.jnt_type[j]), m.jnt_dofadr[j]
        values = qvel[start : start + VELOCITIES.get(kind, 1)].tolist()
        if kind == FREE:  # MuJoCo has it in the world's axes
            w, x, y, z = qpos[m.jnt_qposadr[j] + 3 : m.jnt_qposadr[j] + 7].tolist()
            seen = Rotation.quat_xyzw(x, y, z, w).T @ Vector3(*values[:3])
            values = [*seen, *values[3:]]
        yield name, tuple(values)


def _activations(
    m: Any, act: Any, actuators: dict[int, str]
) -> Iterator[tuple[str, tuple[float, ...]]]:
    for i, name in actuators.items():
        if m.actuator_actadr[i] >= 0:
            yield name, (float(act[m.actuator_actadr[i]]),)


def numerics(parts: Parts) -> Values:
    """The custom numbers, by name."""
    m = parts.m
    return tuple(
        (name, tuple(m.numeric_data[start : start + count].tolist()))
        for name, start, count in zip(
            parts.names("numeric", m.nnumeric), m.numeric_adr, m.numeric_size, strict=True
        )
    )
