"""What each number of an argument or a result is: its joint, its unit, its place in the array."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from kinetree.model import Model
from kinetree.model.joints.answers import Label
from kinetree.quantities.row import Kind, Quantity


def labels(model: Model, kind: Kind) -> list[Label]:
    """What each element of an array of a kind is, in their order: its name and its unit."""
    if kind.count in ("", "links"):
        names = [body.name for body in model.bodies] if kind.count else [kind.meaning]
        parts = ["".join(letters) for letters in product(*kind.axes)]
        return [
            Label(f"{name}.{part}" if part else name, kind.turning)
            for name in names
            for part in parts
        ]
    velocities = model.velocity_labels
    if kind.count == "nv":
        turns = [label.unit.startswith("rad") for label in velocities]
        units = [kind.turning if turning else kind.sliding for turning in turns]
        return [Label(label.name, unit) for label, unit in zip(velocities, units, strict=True)]
    rate = "/s" if kind is Kind.COORDINATE_RATE else ""
    return [
        Label(label.name, f"{label.unit}{rate}" if label.unit else rate.replace("/s", "1/s"))
        for label in model.coordinate_labels
    ]


def notes(model: Model, row: Quantity, loads: Mapping[str, str]) -> dict[str, str]:
    """For each argument and result of a quantity, what its elements are, for a reader.

    Arguments:
        loads: the external loads that it is given, name -> what its elements are.
    """
    operands = {**dict(row.arguments), **row.results}
    return {name: _note(model, what) for name, what in operands.items()} | dict(loads)


def _note(model: Model, what: Kind | str) -> str:
    if isinstance(what, str):
        return what
    lines = [
        f"[{k}] {name}, {unit}" if unit else f"[{k}] {name}"
        for k, (name, unit) in enumerate(labels(model, what))
    ]
    return "\n".join([what.meaning, *lines])
