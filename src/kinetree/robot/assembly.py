"""Building a robot in Python, link by link; see docs/building.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from kinetree.errors import ModelError, among, unknown
from kinetree.model import Drive, Limits, Model
from kinetree.model.arguments import (
    PoseLike,
    given_inertia,
    given_number,
    given_transform,
    given_vector,
)
from kinetree.model.assemble import assemble
from kinetree.model.constraints import Constraint
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.joints import Joint
from kinetree.model.model import STANDARD_GRAVITY, Shape
from kinetree.robot import Robot
from kinetree.robot.problems import warn_of_problems
from kinetree.spatial import Inertia

ORIGIN = (0.0, 0.0, 0.0)
SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3}
"""How many lengths a shape has."""


class Assembly:
    """A robot under construction: its links and joints, starting with the root link.

    Arguments:
        name: of the robot.
        root: the name of its root link.
        inertia, mass, com: of the root link, as in `add`.
        gravity: the acceleration of free fall in the world's axes, m/s^2.
    """

    def __init__(
        self,
        name: str,
        root: str = "base",
        inertia: Any = None,
        *,
        mass: float | None = None,
        com: Sequence[float] | None = None,
        gravity: Sequence[float] | None = None,
    ) -> None:
        self.name = _named("the robot", name)
        self.gravity = STANDARD_GRAVITY if gravity is None else given_vector("gravity", gravity)
        self._links: dict[str, Link] = {}
        self._connections: dict[str, Connection] = {}
        self._constraints: dict[str, Constraint] = {}
        self._shapes: list[Shape] = []
        self._add_link(root, _given_inertia(inertia, mass, com))

    def add(
        self,
        link: str,
        parent: str,
        joint: Joint | None = None,
        at: PoseLike = ORIGIN,
        inertia: Any = None,
        *,
        mass: float | None = None,
        com: Sequence[float] | None = None,
        name: str = "",
        limits: Limits | Sequence[float] | None = None,
        drive: Drive | Mapping[str, float] | None = None,
        mimic: str | Sequence[Any] | None = None,
    ) -> None:
        """Add a link, connected to another by a joint.

        Arguments:
            link: the name of the new link.
            parent: the name of the link that carries it.
            joint: one of `kinetree.joints`; None if the link is fixed.
            at: where the joint is in the parent's frame: a point, a 4x4 matrix, or a Transform. The
                link's frame is there when the joint stands at its neutral coordinates.
            inertia: the rotational inertia about the centre of mass, in the link's axes, kg m^2: a
                symmetric 3x3 matrix or its three diagonal entries, none for a point mass. Or an
                Inertia, which says the mass and its centre, too.
            mass: kg; a link has none by default.
            com: the centre of mass in the link's frame, m; by default its origin.
            name: of the joint; by default that of the link and "_joint".
            limits: (lower, upper) of each coordinate, or a Limits with those of velocity and
                effort.
            drive: a Drive, or its numbers by name, such as {"armature": 0.1, "damping": 0.5}.
            mimic: the name of another joint that this one follows, or (name, multiplier) or (name,
                multiplier, offset): its coordinate is multiplier q + offset of the other's.
        """
        if not among(parent, self._links):
            raise unknown("link", parent, self._links, f"assembly {self.name!r}")
        if not (joint is None or isinstance(joint, Joint)):
            raise ModelError(
                f"joint={joint!r}: a joint of kinetree.joints is expected, such as "
                "Revolute('z'), or None for a fixed link"
            )
        if joint is None and any(x is not None for x in (limits, drive, mimic)):
            raise ModelError(f"link {link!r} is fixed: limits, drive and mimic need a joint")
        name = _named("a joint", name or f"{link}_joint")
        if name in self._connections:
            raise ModelError(f"assembly {self.name!r} already has a joint named {name!r}")
        connection = Connection(
            name,
            parent,
            link,
            given_transform(at),
            joint,
            _given_limits(limits),
            self._where,
            _given_drive(drive),
            _given_mimicry(mimic),
        )
        self._add_link(link, _given_inertia(inertia, mass, com))
        self._connections[name] = connection

    def add_frame(self, name: str, parent: str, at: PoseLike = ORIGIN) -> None:
        """Add a named frame to a link.

        Arguments:
            name: of the frame.
            parent: the link on which it is.
            at: its pose there, as in `add`.
        """
        self.add(name, parent, None, at, name=f"{name}_fixed")

    def add_shape(
        self,
        link: str,
        kind: str,
        size: Sequence[float],
        at: PoseLike = ORIGIN,
        *,
        color: Sequence[float] = (),
    ) -> None:
        """Say what a link looks like; it may have several shapes.

        Arguments:
            link: the name of the link.
            kind: "box", "sphere", "cylinder", "capsule" or "ellipsoid".
            size: the edges of a box, (radius,), (radius, length along z), or half axes, m.
            at: its pose in the link's frame, as in `add`.
            color: red, green and blue, from 0 to 1, and opacity if it is not opaque.
        """
        if not among(link, self._links):
            raise unknown("link", link, self._links, f"assembly {self.name!r}")
        if not among(kind, SIZES):
            raise unknown("kind of shape", kind, SIZES, f"assembly {self.name!r}")
        lengths = tuple(given_number("size", x) for x in size)
        if len(lengths) != SIZES[kind] or min(lengths) <= 0.0:
            raise ModelError(f"size={size!r}: a {kind} has {SIZES[kind]} positive numbers")
        rgba = (*(given_number("color", x) for x in color), *(1.0,) * (len(color) == 3))
        if len(rgba) not in (0, 4) or not all(0.0 <= x <= 1.0 for x in rgba):
            raise ModelError(f"color={color!r}: three or four numbers from 0 to 1 are expected")
        placed = given_transform(at)
        self._shapes.append(Shape(link, "visual", kind, lengths, placed, color=rgba))

    def constrain(self, *constraints: Constraint) -> None:
        """Close loops, hold links and couple joints, all of which were added before.

        Arguments:
            constraints: of `kinetree.constraints`, such as LoopJoint("loop", "rod", "crank",
                Revolute("y")), by the names of links, frames and joints.
        """
        for c in constraints:
            if not isinstance(c, Constraint):
                raise ModelError(f"constraint {c!r}: one of kinetree.constraints is expected")
            where = f"assembly {self.name!r}"
            if c.name in self._constraints:
                raise ModelError(f"{where} already has a constraint named {c.name!r}")
            for what, names, known in (
                ("link", c.frames, self._links),
                ("joint", c.joints, self._connections),
            ):
                for name in names:
                    if not among(name, known):
                        raise ModelError(
                            f"constraint {c.name!r}: {unknown(what, name, known, where)}"
                        )
            self._constraints[c.name] = c

    def model(self, base: str = "fixed") -> Model:
        """The model of everything added so far.

        Arguments:
            base: as in `robot`.

        Returns:
            The model; Robot(...) makes a robot of it.
        """
        return assemble(self._description, base=base)

    def robot(self, base: str = "fixed") -> Robot:
        """The robot of everything added so far.

        Arguments:
            base: "fixed" puts the root link on the world, "floating" lets it move freely.

        Returns:
            The robot. Errors and doubtful values are reported in a `kinetree.errors.ModelWarning`.
        """
        model = self.model(base)
        warn_of_problems(self._description, model, stacklevel=3)
        return Robot(model)

    @property
    def _description(self) -> Description:
        links, connections = tuple(self._links.values()), tuple(self._connections.values())
        constraints = tuple(self._constraints.values())
        return Description(
            self.name,
            links,
            connections,
            gravity=self.gravity,
            shapes=tuple(self._shapes),
            constraints=constraints,
        )

    @property
    def _where(self) -> str:
        return f"assembly {self.name!r}"

    def _add_link(self, link: str, inertia: Inertia) -> None:
        if _named("a link", link) in self._links:
            raise ModelError(f"assembly {self.name!r} already has a link named {link!r}")
        self._links[link] = Link(link, inertia, self._where)


def _named(what: str, name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"the name of {what} is {name!r}: a nonempty string is expected")
    return name


def _given_inertia(inertia: Any, mass: float | None, com: Sequence[float] | None) -> Inertia:
    if isinstance(inertia, Inertia):
        if mass is not None or com is not None:
            raise ModelError("an Inertia already contains mass and com: do not pass them")
        return inertia
    if mass is None:
        if inertia is not None or com is not None:
            raise ModelError("a link that has com or inertia needs its mass, too")
        return Inertia.zero()
    return given_inertia(mass, ORIGIN if com is None else com, inertia)


def _given_limits(limits: Limits | Sequence[float] | None) -> Limits:
    if limits is None or isinstance(limits, Limits):
        return limits or Limits()
    try:
        lower, upper = (float(x) for x in limits)
    except (TypeError, ValueError):
        lower = upper = float("nan")
    if not lower <= upper:
        raise ModelError(
            f"limits={limits!r}: two numbers (lower, upper) are expected, in this order"
        )
    return Limits(lower, upper)


def _given_drive(drive: Drive | Mapping[str, float] | None) -> Drive:
    if drive is None or isinstance(drive, Drive):
        return drive or Drive()
    known = [field.name for field in fields(Drive)]
    if not isinstance(drive, Mapping):
        raise ModelError(f"drive={drive!r}: numbers by name are expected: {', '.join(known)}")
    for name in drive:
        if not among(name, known):
            raise unknown("number", name, known, "a drive")
    given = dict(drive)
    rest = np.atleast_1d(given.pop("rest", ())).tolist()
    numbers = {name: given_number(name, value) for name, value in given.items()}
    return Drive(**numbers, rest=tuple(given_number("rest", x) for x in rest))


def _given_mimicry(mimic: Any) -> Mimicry | None:
    if mimic is None:
        return None
    several = isinstance(mimic, Sequence) and not isinstance(mimic, str)
    leader, *line = tuple(mimic) if several and mimic else (mimic,)
    if not isinstance(leader, str) or len(line) > 2:
        raise ModelError(
            f"mimic={mimic!r}: the name of a joint is expected, or (name, multiplier, offset)"
        )
    numbers = [given_number("mimic", x) for x in line]
    return Mimicry(leader, *(numbers + [1.0, 0.0][len(numbers) :]))
