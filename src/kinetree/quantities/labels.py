"""What each number of an argument or a result is: its joint, its unit, its place in the array."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from kinetree.algorithms.contact import touch_labels
from kinetree.model import Model
from kinetree.model.joints.answers import Label
from kinetree.quantities.row import Kind, Quantity


def labels(model: Model, kind: Kind) -> list[Label]:
    """What each element of an array of a kind is, in their order: its name and its unit."""
    if kind.count in ("", "links", "touches"):
        names = [kind.meaning]
        if kind.count == "links":
            names = [body.name for body in model.bodies]
        if kind.count == "touches":
            names = [label.name for label in touch_labels(model)]
        parts = ["".join(letters) for letters in product(*kind.axes)]
        return [
            Label(f"{name}.{part}" if part else name, kind.turning)
            for name in names
            for part in parts
        ]
    if kind.count == "constraints":
        return [Label(constraint.name, "") for constraint in model.constraints]
    if kind.count == "rows":
        rows = model.constraint_labels
        return [Label(x.name, kind.turning if x.unit == "rad" else kind.sliding) for x in rows]
    if kind.count in ("actuators", "activations"):
        all_of_them = model.equipment.actuators, model.equipment.stateful
        return [Label(x.name, "") for x in all_of_them[kind.count == "activations"]]
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
    arguments = {x.name: x.kind for x in row.arguments if x.given(model)}
    operands = {**arguments, **row.results}
    return {name: _note(model, what) for name, what in operands.items()} | dict(loads)


def _note(model: Model, what: Kind | str) -> str:
    if isinstance(what, str):
        return what
    lines = [
        f"[{k}] {name}, {unit}" if unit else f"[{k}] {name}"
        for k, (name, unit) in enumerate(labels(model, what))
    ]
    return "\n".join([what.meaning, *lines])
