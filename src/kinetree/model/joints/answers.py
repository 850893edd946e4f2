"""What joints answer when they are asked about themselves: small frozen records."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kinetree.spatial import Vector3

ORIGIN = Vector3(0.0, 0.0, 0.0)

if TYPE_CHECKING:
    from kinetree.model.joints.base import Joint


class Label(NamedTuple):
    """The name of a coordinate or velocity of a joint, and its SI unit.

    Attributes:
        name: such as "angle" or "qw".
        unit: such as "rad" or "m/s"; empty if it has none.
    """

    name: str
    unit: str


class Transmission(NamedTuple):
    """The joint that a drive acts on; its coordinate is ratio q + offset.

    Attributes:
        joint: the joint.
        ratio, offset: of the transmission.
    """

    joint: Joint
    ratio: float = 1.0
    offset: float = 0.0


class UrdfElement(NamedTuple):
    """A joint as an element of URDF.

    Attributes:
        type: the attribute of <joint>; "revolute" with or without limits.
        axis: in the joint frame; None if the type has no axis.
    """

    type: str
    axis: Vector3 | None = None


class MjcfElement(NamedTuple):
    """A joint as an element of MJCF.

    Attributes:
        type: "hinge", "slide", "ball" or "free".
        axis: in the body's frame; None if the type has no axis.
        position: of the joint in the body's frame, m.
    """

    type: str
    axis: Vector3 | None = None
    position: Vector3 = ORIGIN


class Chart(NamedTuple):
    """Coordinates for free orientations.

    Attributes:
        orientation: the joint with three free rotations in these coordinates.
        motion: the joint with six degrees of freedom whose orientation has these coordinates.
    """

    orientation: Joint
    motion: Joint
