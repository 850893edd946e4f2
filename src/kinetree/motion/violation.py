"""The amount and the place of a motion's violation of a constraint."""

from __future__ import annotations

from typing import NamedTuple


class Violation(NamedTuple):
    """The worst violation of one constraint.

    Attributes:
        constraint: its name, such as "velocity", "root force" or "frame 'tool'".
        label: the joint, or the axis of the frame.
        amount: in the constraint's unit: m, rad, m/s, rad/s, N or N m.
        time: s.
        relative: the amount divided by the tolerance between samples.
    """

    constraint: str
    label: str
    amount: float
    time: float
    relative: float

    def __str__(self) -> str:
        when = f"at t = {self.time:.3g} s"
        if self.constraint.startswith("frame"):
            unit = "rad" if self.label.startswith("r") else "m"
            return f"{self.constraint} strays by {self.amount:.3g} {unit} in {self.label} {when}"
        if self.constraint == "ground force":
            kind, _, frame = self.label.partition(" of ")
            what = "cone of friction" if kind == "friction" else "area"
            return f"the ground force on {frame!r} leaves its {what} by {self.amount:.3g} N {when}"
        return f"{self.constraint} of {self.label!r} is violated by {self.amount:.3g} {when}"
