"""Tendons: their lengths, and the springs, dampers and friction along them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kinetree.model.checked import Checked
from kinetree.model.place import References
from kinetree.model.ranges import UNBOUNDED, Range
from kinetree.model.softness import SoftLimit, Softness
from kinetree.model.tendons.path import Pulley, Via, Wrap

SOFT, SOFT_LIMIT = Softness(), SoftLimit()
T = TypeVar("T", bound="Tendon")


@dataclass(frozen=True, kw_only=True)
class Tendon(Checked, ABC):
    """A tendon: a length that is a function of the configuration.

    Arguments:
        name: unique in a robot.
        stiffness: of its spring, N/m (or N m/rad for a tendon of angles).
        rest: the lengths between which the spring is relaxed.
        damping: N s/m.
        friction: dry friction, N; zero while the length does not change.
        armature: inertia of the length's rate, kg; of fixed tendons only.
        limits: the lengths that it may have.
        force_range: of the sum of its actuators' forces, N.
        limit_softness, friction_softness: of its limits and its dry friction, in steps with
            contact.
    """

    name: str
    stiffness: float = 0.0
    rest: Range = (0.0, 0.0)
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    limits: Range = UNBOUNDED
    force_range: Range = UNBOUNDED
    limit_softness: SoftLimit = SOFT_LIMIT
    friction_softness: Softness = SOFT

    @property
    def acts(self) -> bool:
        """Whether it exerts forces by itself."""
        return any((self.stiffness, self.damping, self.friction, self.armature))

    @property
    @abstractmethod
    def references(self) -> References:
        """The names that it refers to."""

    def renamed(self: T, prefix: str) -> T:
        """The same tendon of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A tendon.
        """
        return replace(self, name=prefix + self.name)

    def without(self: T, effects: tuple[str, ...]) -> T:
        """The same tendon with effects switched off.

        Arguments:
            effects: of "armature", "damping", "friction", "limits" and "springs".

        Returns:
            A tendon.
        """
        of = {"armature": self.armature, "damping": self.damping, "friction": self.friction}
        kept = {name: 0.0 if name in effects else value for name, value in of.items()}
        stiffness = 0.0 if "springs" in effects else self.stiffness
        limits = UNBOUNDED if "limits" in effects else self.limits
        return replace(self, **kept, stiffness=stiffness, limits=limits)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class FixedTendon(Tendon):
    """A tendon whose length is a weighted sum of joint coordinates.

    Arguments:
        name, stiffness, rest, damping, friction, armature, limits, force_range: as of `Tendon`.
        limit_softness, friction_softness: as of `Tendon`.
        coefficients: pairs of a joint's name and the weight of its coordinate.
        offset: what is added to the sum.
    """

    coefficients: tuple[tuple[str, float], ...]
    offset: float = 0.0

    @property
    def references(self) -> References:
        return References(joints=tuple(joint for joint, _ in self.coefficients))

    def renamed(self, prefix: str) -> FixedTendon:
        weights = tuple((prefix + joint, weight) for joint, weight in self.coefficients)
        return replace(super().renamed(prefix), coefficients=weights)


@dataclass(frozen=True, kw_only=True)
class SpatialTendon(Tendon):
    """A tendon along the shortest path through points and around bodies.

    Arguments:
        name, stiffness, rest, damping, friction, limits, force_range: as of `Tendon`.
        limit_softness, friction_softness: as of `Tendon`.
        armature: has no effect.
        path: its points and wrapped bodies, in order. A wrapped body has a point before and after
            it; a pulley begins a new branch.
    """

    path: tuple[Via | Wrap | Pulley, ...] = field(default=())

    @property
    def references(self) -> References:
        return References(frames=tuple(name for part in self.path for name in part.frames))

    def renamed(self, prefix: str) -> SpatialTendon:
        path = tuple(part.renamed(prefix) for part in self.path)
        return replace(super().renamed(prefix), path=path)
