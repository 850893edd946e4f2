"""What each number of an argument or a result is: its joint, its unit, its place in the array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.model import Model
from kinetree.model.joints import Joint
from kinetree.quantities.row import Kind, Quantity

QUATERNION = ("quaternion x", "quaternion y", "quaternion z", "quaternion w")


class Label(NamedTuple):
    """The name of one number, and its unit."""

    name: str
    unit: str

    def __str__(self) -> str:
        return f"{self.name}, {self.unit}" if self.unit else self.name


def labels(model: Model, kind: Kind) -> list[Label]:
    """What each element of an array of a kind is, in their order.

    Returns:
        The name of the joint, with an index if it has several elements, and the unit.
    """
    found: list[Label] = []
    for number in model.coordinate_order:
        body = model.bodies[number]
        units = _units(body.joint, kind)
        names = [f"{body.joint_name}[{k}]" for k in range(len(units))]
        if len(units) == 1:
            names = [body.joint_name]
        found += map(Label, names, units)
    return found


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
    lines = [f"[{k}] {label}" for k, label in enumerate(labels(model, what))]
    return "\n".join([what.meaning, *lines])


def _units(joint: Joint, kind: Kind) -> list[str]:
    """The unit of each of a joint's elements; of quaternions, which part it is."""
    neutral = joint.neutral()
    turns = [any(float(x) != 0.0 for x in axis.angular) for axis in joint.subspace(neutral)]
    units = [kind.turning if turning else kind.sliding for turning in turns]
    if kind.count == "nv" or joint.nq == joint.nv:
        return units
    # a quaternion is what `normalized` scales; the other coordinates have their velocity's unit
    scaled = [x != 2.0 for x in joint.normalized([2.0] * joint.nq)]
    parts = list(QUATERNION) * (sum(scaled) // len(QUATERNION))
    velocities = [[1.0 if i == k else 0.0 for i in range(joint.nv)] for k in range(joint.nv)]
    rates = [joint.coordinate_rates(neutral, v) for v in velocities]
    return [
        parts.pop(0) if scaled[k] else next(u for u, r in zip(units, rates, strict=True) if r[k])
        for k in range(joint.nq)
    ]
