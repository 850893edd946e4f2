"""What each number of an argument or a result is: its joint, its unit, its place in the array."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.model import Model
from kinetree.model.joints.answers import Label
from kinetree.quantities.row import Kind, Quantity


def labels(model: Model, kind: Kind) -> list[Label]:
    """What each element of an array of a kind is, in their order: its name and its unit."""
    if not kind.count:
        return [Label(kind.meaning, kind.turning)]
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


def notes(model: Model, row: Quantity, loads: Sequence[str]) -> dict[str, str]:
    """For each argument and result of a quantity, what its elements are, for a reader.

    Arguments:
        loads: the names of the arguments that act from outside.
    """
    operands = {**dict(row.arguments), **row.results}
    found = {name: _note(model, what) for name, what in operands.items()}
    load = "wrench on a frame (force in N, then moment in N m, in the frame's axes)"
    point = "force in the world's axes in N, then its point in the frame's coordinates in m"
    return found | {name: point if "Point(" in name else load for name in loads}


def _note(model: Model, what: Kind | str) -> str:
    if isinstance(what, str):
        return what
    lines = [
        f"[{k}] {name}, {unit}" if unit else f"[{k}] {name}"
        for k, (name, unit) in enumerate(labels(model, what))
    ]
    return "\n".join([what.meaning, *lines])
