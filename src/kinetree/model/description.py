"""A robot as links and joints, as a file lists them in any order; assemble.py makes a model of it.

Readers give each link and joint a `where` (file and line), so that errors in the tree name the
place in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.model.constraints import Constraint
from kinetree.model.equipment import NOTHING, Equipment
from kinetree.model.geometry import Collider, ContactOptions, ContactPair
from kinetree.model.geometry.options import OPTIONS
from kinetree.model.joints import Joint
from kinetree.model.model import STANDARD_GRAVITY, Drive, Limits, Shape
from kinetree.model.problem import Problem
from kinetree.model.softness import USUAL, JointSoftness
from kinetree.model.unread import Unread
from kinetree.spatial import Inertia, Transform, Vector3

ROOT_JOINT = "root_joint"
NO_DRIVE = Drive()
FREE = Limits()
WATER = 1000.0
"""The density of shapes that give links their inertia, if nothing else is said, kg/m^3."""


@dataclass(frozen=True)
class Link:
    """A rigid part with its inertia in the link's frame."""

    name: str
    inertia: Inertia
    where: str = ""


@dataclass(frozen=True)
class Mimicry:
    """The joint that another follows: the follower's coordinate is multiplier q + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Connection:
    """A joint between two links; `joint` is None where it is fixed."""

    name: str
    parent: str
    child: str
    placement: Transform
    joint: Joint | None
    limits: Limits = FREE
    where: str = ""
    drive: Drive = NO_DRIVE
    mimicry: Mimicry | None = None
    softness: JointSoftness = USUAL


@dataclass(frozen=True)
class Description:
    """A robot as links and joints.

    root: the connection of the root link to the world; None if it is fixed at the world's origin.
    order: the joints whose coordinates come first, in their order.
    remarks: problems that a reader noticed and that do not prevent loading.
    gives_base: whether it says how the robot moves in the world, or leaves that to the user.
    constraints: by the names of links and joints, also of joints that mimic others.
    equipment: by the same names.
    colliders, contacts: what can touch, by the names of links.
    contact_options: settings of contact.
    unread: elements of its file that no algorithm reads.
    """

    name: str
    links: Sequence[Link]
    connections: Sequence[Connection]
    root: Connection | None = None
    gravity: Vector3 = STANDARD_GRAVITY
    shapes: Sequence[Shape] = ()
    order: Sequence[str] = ()
    remarks: Sequence[Problem] = ()
    gives_base: bool = False
    constraints: Sequence[Constraint] = ()
    equipment: Equipment = NOTHING
    colliders: Sequence[Collider] = ()
    contacts: Sequence[ContactPair] = ()
    contact_options: ContactOptions = OPTIONS
    unread: Sequence[Unread] = ()
