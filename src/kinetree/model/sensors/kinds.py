"""The kinds of sensors: the object that each refers to, its quantities and their unit.

The quantities of a contact sensor are defined by its `Watch`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinetree.errors import ModelError, among, unknown
from kinetree.model.checked import Checked

XYZ = ("x", "y", "z")
ONE = ("",)
QUATERNION = ("w", "x", "y", "z")


@dataclass(frozen=True)
class SensorKind:
    """The properties of all sensors of one kind.

    Arguments:
        labels: of the numbers that it measures.
        unit: of these numbers; empty where it depends on a joint, or there is none.
        of: its object: "place", "joint", "tendon", "actuator" or "" for the whole robot.
        relative: whether it may measure relative to another place.
        positive: whether its cutoff bounds from above only.
    """

    labels: tuple[str, ...]
    unit: str
    of: str
    relative: bool = False
    positive: bool = False


KINDS: dict[str, SensorKind] = {
    # at a place
    "accelerometer": SensorKind(XYZ, "m/s^2", "place"),
    "velocimeter": SensorKind(XYZ, "m/s", "place"),
    "gyro": SensorKind(XYZ, "rad/s", "place"),
    "force": SensorKind(XYZ, "N", "place"),
    "torque": SensorKind(XYZ, "N m", "place"),
    "magnetometer": SensorKind(XYZ, "", "place"),
    "framepos": SensorKind(XYZ, "m", "place", True),
    "framequat": SensorKind(QUATERNION, "", "place", True),
    "framexaxis": SensorKind(XYZ, "", "place", True),
    "frameyaxis": SensorKind(XYZ, "", "place", True),
    "framezaxis": SensorKind(XYZ, "", "place", True),
    "framelinvel": SensorKind(XYZ, "m/s", "place", True),
    "frameangvel": SensorKind(XYZ, "rad/s", "place", True),
    "framelinacc": SensorKind(XYZ, "m/s^2", "place"),
    "frameangacc": SensorKind(XYZ, "rad/s^2", "place"),
    "touch": SensorKind(ONE, "N", "place", positive=True),
    "rangefinder": SensorKind(ONE, "m", "place"),
    # of contacts: its numbers are those of `Watch`
    "contact": SensorKind((), "", ""),
    # of a link and all it carries
    "subtreecom": SensorKind(XYZ, "m", "place"),
    "subtreelinvel": SensorKind(XYZ, "m/s", "place"),
    "subtreeangmom": SensorKind(XYZ, "N m s", "place"),
    # of joints
    "jointpos": SensorKind(ONE, "", "joint"),
    "jointvel": SensorKind(ONE, "", "joint"),
    "jointactuatorfrc": SensorKind(ONE, "", "joint"),
    "jointlimitpos": SensorKind(ONE, "", "joint"),
    "jointlimitvel": SensorKind(ONE, "", "joint"),
    "jointlimitfrc": SensorKind(ONE, "", "joint"),
    "ballquat": SensorKind(QUATERNION, "", "joint"),
    "ballangvel": SensorKind(XYZ, "rad/s", "joint"),
    # of tendons and actuators
    "tendonpos": SensorKind(ONE, "", "tendon"),
    "tendonvel": SensorKind(ONE, "", "tendon"),
    "tendonactuatorfrc": SensorKind(ONE, "", "tendon"),
    "tendonlimitpos": SensorKind(ONE, "", "tendon"),
    "tendonlimitvel": SensorKind(ONE, "", "tendon"),
    "tendonlimitfrc": SensorKind(ONE, "N", "tendon"),
    "actuatorpos": SensorKind(ONE, "", "actuator"),
    "actuatorvel": SensorKind(ONE, "", "actuator"),
    "actuatorfrc": SensorKind(ONE, "", "actuator"),
    # of the whole robot
    "e_potential": SensorKind(ONE, "J", ""),
    "e_kinetic": SensorKind(ONE, "J", ""),
}
"""The sensors that are functions of state, acceleration and controls, under MJCF's names."""

FIELDS: dict[str, tuple[tuple[str, ...], str]] = {
    "found": (("",), ""),
    "force": (("normal", "tangent1", "tangent2"), "N"),
    "torque": (("normal", "tangent1", "tangent2"), "N m"),
    "dist": (("",), "m"),
    "pos": (("x", "y", "z"), "m"),
    "normal": (("x", "y", "z"), ""),
    "tangent": (("x", "y", "z"), ""),
}
"""The fields of a contact, in this order: labels of their numbers, and the unit."""
REDUCTIONS = ("none", "mindist", "maxforce", "netforce")


@dataclass(frozen=True, kw_only=True)
class Watch(Checked):
    """The contacts that a contact sensor watches: those of one side with the other.

    Arguments:
        first, second: the names of the colliders of each side; None for any. The normal points
            from the first side to the second.
        fields: the quantities of each contact, of "found" (the number of contacts), "force" and
            "torque" (along the normal and two tangents), "dist", "pos", "normal", "tangent".
        reduce: which contacts are shown: the first ones ("none"), those that overlap most
            ("mindist"), those with the largest force ("maxforce"), or all as one ("netforce"),
            whose force is in the world's axes, at their centre of force.
        slots: the number of contacts shown. Unused slots are zero.
    """

    first: tuple[str, ...] | None = None
    second: tuple[str, ...] | None = None
    fields: tuple[str, ...] = ("found",)
    reduce: str = "none"
    slots: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in self.fields:
            if not among(field, FIELDS):
                raise unknown("field of a contact", field, FIELDS, "a contact sensor")
        if not among(self.reduce, REDUCTIONS):
            raise unknown("reduction", self.reduce, REDUCTIONS, "a contact sensor")
        if self.slots < 1 or not self.fields:
            raise ModelError("a contact sensor shows at least one field of one contact")
        object.__setattr__(self, "fields", tuple(x for x in FIELDS if x in self.fields))

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """The name and the unit of each number."""
        each = [
            (".".join((f, x) if x else (f,)), FIELDS[f][1])
            for f in self.fields
            for x in FIELDS[f][0]
        ]
        if self.slots == 1:
            return tuple(each)
        return tuple((f"{k}.{name}", unit) for k in range(self.slots) for name, unit in each)

    def renamed(self, prefix: str) -> Watch:
        """The same of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A watch.
        """
        sides = (
            None if x is None else tuple(prefix + c for c in x) for x in (self.first, self.second)
        )
        first, second = sides
        return replace(self, first=first, second=second)
