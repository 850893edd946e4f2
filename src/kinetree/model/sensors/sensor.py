"""A sensor: the quantity it measures, and its place."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from kinetree.errors import ModelError, among, unknown
from kinetree.model.checked import Checked
from kinetree.model.geometry import Box, Capsule, Collider, Cylinder, Ellipsoid, Sphere
from kinetree.model.joints import Label
from kinetree.model.place import Place, References
from kinetree.model.sensors.kinds import KINDS, Watch
from kinetree.spatial import Inertia, Vector3

MAGNETIC_FIELD = Vector3(0.0, -0.5, 0.0)
"""In the world's axes, MuJoCo's default."""


ZONES = (Sphere, Capsule, Cylinder, Ellipsoid, Box)
"""The shapes that the zone of a touch sensor can have."""


@dataclass(frozen=True)
class Carried:
    """The rigid part that a link carries, and the joints of its child bodies.

    A force sensor measures the wrench that supports it; a subtree sensor covers all of it.

    Arguments:
        inertia: of the link and all that is fixed to it, in the first of the frames.
        frames: the names of the link, first, and of the frames fixed to it.
        joints: the names of the joints of its child bodies.
    """

    inertia: Inertia
    frames: tuple[str, ...]
    joints: tuple[str, ...] = ()

    def renamed(self, prefix: str) -> Carried:
        """The same part of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A part.
        """
        frames, joints = (tuple(prefix + x for x in names) for names in (self.frames, self.joints))
        return replace(self, frames=frames, joints=joints)


@dataclass(frozen=True, kw_only=True)
class Sensor(Checked):
    """A sensor.

    Arguments:
        name: unique in a robot.
        kind: a key of `KINDS`, such as "gyro".
        place: its place, for kinds that have one.
        of: the name of the joint, tendon or actuator, for the other kinds.
        reference: the place relative to which it measures; None for the world.
        carried: the part it carries, for forces, torques and subtrees; `equip` finds it if None.
        shapes: of a touch sensor its zone, with the link whose contacts count as its frame; of a
            rangefinder all shapes that it can meet; of a contact sensor a zone in which contacts
            count, if it has one.
        watch: the contacts that a contact sensor watches.
        field: the magnetic field in the world's axes, for a magnetometer.
        opposite: whether its numbers are negated: those of the child on the parent.
        cutoff: the largest absolute value that it shows.
        noise: the standard deviation of its noise, for readings with noise.
    """

    name: str
    kind: str
    place: Place | None = None
    of: str = ""
    reference: Place | None = None
    carried: Carried | None = None
    shapes: tuple[Collider, ...] = ()
    watch: Watch | None = None
    field: Vector3 = MAGNETIC_FIELD
    opposite: bool = False
    cutoff: float = math.inf
    noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not among(self.kind, KINDS):
            raise unknown("kind of sensor", self.kind, KINDS, "kinetree")
        needs = KINDS[self.kind].of
        given = "place" if self.place is not None else ""
        if (needs == "place") != (given == "place") or (needs not in ("", "place") and not self.of):
            what = f"a {needs}" if needs else "nothing"
            raise ModelError(f"sensor {self.name!r}: a {self.kind} refers to {what}")
        if self.kind == "touch" and not (
            len(self.shapes) == 1 and isinstance(self.shapes[0].shape, ZONES)
        ):
            raise ModelError(
                f"sensor {self.name!r}: a touch sensor has one shape, its zone: a sphere, a "
                "capsule, a cylinder, an ellipsoid or a box"
            )

        if (self.kind == "contact") != (self.watch is not None):
            raise ModelError(f"sensor {self.name!r}: a contact sensor, and no other, has a `watch`")

    @property
    def holds(self) -> bool:
        """Whether its numbers depend on the part it carries."""
        return self.kind in ("force", "torque") or self.kind.startswith("subtree")

    @property
    def size(self) -> int:
        """The number of measured numbers."""
        return len(self.labels)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The name and the unit of each number that it measures."""
        kind = KINDS[self.kind]
        if self.watch is not None:
            return tuple(Label(f"{self.name}.{x}", unit) for x, unit in self.watch.labels)
        return tuple(Label(f"{self.name}.{x}" if x else self.name, kind.unit) for x in kind.labels)

    @property
    def references(self) -> References:
        """The names that it refers to."""
        places = tuple(x.frame for x in (self.place, self.reference) if x is not None)
        carried = self.carried
        places += tuple(x.frame for x in self.shapes if x.frame is not None)
        frames = places if carried is None else (*places, *carried.frames)
        joints = () if carried is None else carried.joints
        named = {"joints": joints, "tendons": (), "actuators": ()}
        if self.of:
            named[f"{KINDS[self.kind].of}s"] = (self.of,)
        return References(frames, **named)

    def renamed(self, prefix: str) -> Sensor:
        """The same sensor of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A sensor.
        """
        place, reference, carried = (
            None if x is None else x.renamed(prefix)
            for x in (self.place, self.reference, self.carried)
        )
        of = prefix + self.of if self.of else ""
        return replace(
            self,
            name=prefix + self.name,
            of=of,
            place=place,  # type: ignore[arg-type]
            reference=reference,  # type: ignore[arg-type]
            carried=carried,  # type: ignore[arg-type]
            shapes=tuple(x.renamed(prefix) for x in self.shapes),
            watch=None if self.watch is None else self.watch.renamed(prefix),
        )
