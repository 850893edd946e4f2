"""Transmissions: the lengths or directions along which actuators act."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from kinetree.model.checked import Checked
from kinetree.model.place import References

Wrench = tuple[float, float, float, float, float, float]
"""Three numbers of a force, then three of a torque."""


class Transmission(Checked, ABC):
    """The path along which an actuator acts; its length is a function of the configuration."""

    @property
    @abstractmethod
    def references(self) -> References:
        """The names that it refers to."""

    @abstractmethod
    def renamed(self, prefix: str) -> Transmission:
        """The same transmission of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A transmission.
        """


@dataclass(frozen=True)
class JointTransmission(Transmission):
    """A motor at a joint.

    Arguments:
        joint: its name.
        gear: the joint force of a unit of actuator force: the first number for a joint of one
            coordinate; a torque, the first three, for a ball; a force and a torque for a free body.
        in_parent: whether torques on a ball or a free body are in the parent's axes.
    """

    joint: str
    gear: Wrench = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    in_parent: bool = False

    @property
    def references(self) -> References:
        return References(joints=(self.joint,))

    def renamed(self, prefix: str) -> JointTransmission:
        return replace(self, joint=prefix + self.joint)


@dataclass(frozen=True)
class TendonTransmission(Transmission):
    """A motor that pulls a tendon.

    Arguments:
        tendon: its name.
        gear: the tendon's force of a unit of actuator force.
    """

    tendon: str
    gear: float = 1.0

    @property
    def references(self) -> References:
        return References(tendons=(self.tendon,))

    def renamed(self, prefix: str) -> TendonTransmission:
        return replace(self, tendon=prefix + self.tendon)


@dataclass(frozen=True)
class SiteTransmission(Transmission):
    """A thruster or a Cartesian drive: a wrench at a frame.

    Arguments:
        frame: the name of the frame.
        gear: the force and the torque of a unit of actuator force, in the frame's axes.
        reference: the name of the frame relative to which it acts, or None. With a reference, the
            wrench is in that frame's axes, and the length is the pose relative to it.
    """

    frame: str
    gear: Wrench
    reference: str | None = None

    @property
    def references(self) -> References:
        return References(frames=tuple(x for x in (self.frame, self.reference) if x is not None))

    def renamed(self, prefix: str) -> SiteTransmission:
        reference = None if self.reference is None else prefix + self.reference
        return replace(self, frame=prefix + self.frame, reference=reference)


@dataclass(frozen=True)
class Adhesion(Transmission):
    """A link that sticks to the shapes it touches: it pulls at its contacts, along their normals.

    Its force is shared by the contacts of the link; without any it has no effect.

    Arguments:
        link: the name of the link whose own shapes stick; None for those of the world.
        gear: the force of a unit of actuator force.
    """

    link: str | None
    gear: float = 1.0

    @property
    def references(self) -> References:
        return References(frames=() if self.link is None else (self.link,))

    def renamed(self, prefix: str) -> Adhesion:
        return self if self.link is None else replace(self, link=prefix + self.link)


@dataclass(frozen=True)
class SliderCrank(Transmission):
    """A motor that moves a slider, which pushes a crank by a rod.

    Arguments:
        crank: the name of the frame at whose origin the rod ends.
        slider: the name of the frame along whose z axis the slider moves.
        rod: the length of the rod, m.
        gear: the slider's force of a unit of actuator force.
    """

    crank: str
    slider: str
    rod: float
    gear: float = 1.0

    @property
    def references(self) -> References:
        return References(frames=(self.crank, self.slider))

    def renamed(self, prefix: str) -> SliderCrank:
        return replace(self, crank=prefix + self.crank, slider=prefix + self.slider)
