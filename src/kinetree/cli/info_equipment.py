"""What `kinetree info` shows of tendons, actuators, sensors, keyframes and body forces."""

from __future__ import annotations

import math
from typing import Any

from rich.markup import escape
from rich.table import Table

from kinetree.model.actuators import Actuator
from kinetree.model.body_forces import BodyForce
from kinetree.model.model import Model
from kinetree.model.ranges import Range
from kinetree.model.sensors import Sensor
from kinetree.model.tendons import Tendon


def equipment(model: Model) -> dict[str, list[dict[str, Any]]]:
    """All of it, as values that JSON has; null where there is no bound."""
    parts = model.equipment
    return {
        "tendons": [_tendon(x) for x in parts.tendons],
        "actuators": [_actuator(x) for x in parts.actuators],
        "sensors": [_sensor(x) for x in parts.sensors],
        "keyframes": [{"name": x.name, "time": x.time} for x in parts.keyframes],
        "body_forces": [_body_force(x) for x in parts.body_forces],
    }


def equipment_tables(found: dict[str, list[dict[str, Any]]]) -> list[Table]:
    """A table for each kind of parts that there is."""
    columns = {
        "tendons": ("kind", "through", "stiffness", "damping"),
        "actuators": ("along", "activation", "control", "force"),
        "sensors": ("kind", "at", "numbers"),
        "keyframes": ("time",),
        "body_forces": ("kind", "at"),
    }
    return [_table(what, found[what], keys) for what, keys in columns.items() if found[what]]


def _table(what: str, rows: list[dict[str, Any]], keys: tuple[str, ...]) -> Table:
    table = Table(what.removesuffix("s").replace("_", " "), *keys, box=None)
    for row in rows:
        table.add_row(escape(row["name"]), *(escape(_shown(row[key])) for key in keys))
    return table


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_shown, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)


def _tendon(x: Tendon) -> dict[str, Any]:
    refers = x.references
    return {
        "name": x.name,
        "kind": type(x).__name__.removesuffix("Tendon").lower(),
        "through": [*refers.joints, *refers.frames],
        "stiffness": x.stiffness,
        "damping": x.damping,
        "friction": x.friction,
        "armature": x.armature,
        "limits": _bounds(x.limits),
    }


def _actuator(x: Actuator) -> dict[str, Any]:
    refers = x.references
    return {
        "name": x.name,
        "along": [*refers.joints, *refers.tendons, *refers.frames],
        "activation": None if x.activation is None else type(x.activation).__name__.lower(),
        "control": _bounds(x.control_range),
        "force": _bounds(x.force_range),
    }


def _sensor(x: Sensor) -> dict[str, Any]:
    at = x.of if x.place is None else x.place.frame
    if x.watch is not None:
        sides = (x.watch.first, x.watch.second)
        at = " and ".join("anything" if side is None else ", ".join(side) for side in sides)
    return {"name": x.name, "kind": x.kind, "at": at, "numbers": x.size}


def _body_force(x: BodyForce) -> dict[str, Any]:
    return {"name": x.name, "kind": type(x).__name__, "at": x.place.frame}


def _bounds(bounds: Range) -> list[float | None]:
    return [x if math.isfinite(x) else None for x in bounds]
