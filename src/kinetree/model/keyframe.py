"""Keyframes: named states of a robot, by the names of its joints and actuators."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinetree.model.checked import Checked

Values = tuple[tuple[str, tuple[float, ...]], ...]
"""Pairs of a name and numbers."""

REFERENCE = "reference"
"""The name of the state in which a file puts its robot, where that is not the neutral one."""


@dataclass(frozen=True, kw_only=True)
class Keyframe(Checked):
    """A named state.

    Arguments:
        name: unique in a robot.
        time: s.
        coordinates, velocities: of joints; those not named are neutral and at rest.
        activations, controls: of actuators; those not named are zero.
    """

    name: str
    time: float = 0.0
    coordinates: Values = ()
    velocities: Values = ()
    activations: Values = ()
    controls: Values = ()

    def renamed(self, prefix: str) -> Keyframe:
        """The same state of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name; the reference keeps its own, since a robot has one.

        Returns:
            A keyframe.
        """
        return replace(
            self,
            name=self.name if self.name == REFERENCE else prefix + self.name,
            coordinates=_renamed(self.coordinates, prefix),
            velocities=_renamed(self.velocities, prefix),
            activations=_renamed(self.activations, prefix),
            controls=_renamed(self.controls, prefix),
        )

    def and_of(self, other: Keyframe) -> Keyframe:
        """The state of two robots that become one.

        Arguments:
            other: the state of the other robot.

        Returns:
            A keyframe with the name and the time of this one.
        """
        return replace(
            self,
            coordinates=self.coordinates + other.coordinates,
            velocities=self.velocities + other.velocities,
            activations=self.activations + other.activations,
            controls=self.controls + other.controls,
        )


def _renamed(values: Values, prefix: str) -> Values:
    return tuple((prefix + name, numbers) for name, numbers in values)
