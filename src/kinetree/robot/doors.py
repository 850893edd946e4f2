"""The doors of a robot: groups of specialised methods, each under a name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree._lazy import cached_property
from kinetree.robot.actuation import Actuation
from kinetree.robot.centroidal import Centroidal
from kinetree.robot.charts import Charts
from kinetree.robot.constrained import Constrained
from kinetree.robot.contact import Contact
from kinetree.robot.core import Core
from kinetree.robot.coriolis import Coriolis
from kinetree.robot.derivatives import Differential
from kinetree.robot.editing import Edit
from kinetree.robot.keyframes import Keyframes
from kinetree.robot.regressors import Regressors
from kinetree.robot.sensors import Sensors
from kinetree.robot.tendons import Tendons

if TYPE_CHECKING:
    from kinetree.robot.cartesian import Cartesian


class Doors(Core):
    """Groups of methods."""

    @cached_property
    def actuation(self) -> Actuation:
        """The actuators: forces by controls and activations, lengths, moment arms."""
        return Actuation(self)

    @cached_property
    def cartesian(self) -> Cartesian:
        """The robot in Cartesian coordinates of its links: states, velocities, forces, and back."""
        from kinetree.robot.cartesian import Cartesian  # rarely needed, and importing takes time

        return Cartesian(self)

    @cached_property
    def centroidal(self) -> Centroidal:
        """The motion of the centre of mass, and rates of the momentum and its matrix."""
        return Centroidal(self)

    @cached_property
    def charts(self) -> Charts:
        """Other coordinates and velocities of the same robot."""
        return Charts(self)

    @cached_property
    def constraints(self) -> Constrained:
        """The constraints of the robot: errors, Jacobians, dynamics with their forces, assembly."""
        return Constrained(self)

    @cached_property
    def contact(self) -> Contact:
        """What can touch: pairs of shapes, points and normals."""
        return Contact(self)

    @cached_property
    def coriolis(self) -> Coriolis:
        """The Coriolis matrix, the rate of the mass matrix, passivity-based control, observers."""
        return Coriolis(self)

    @cached_property
    def derivatives(self) -> Differential:
        """Derivatives of further quantities, and second derivatives."""
        return Differential(self)

    @cached_property
    def edit(self) -> Edit:
        """Links, joints and surroundings changed; each call returns a new robot."""
        return Edit(self)

    @cached_property
    def keyframes(self) -> Keyframes:
        """Named states of the robot's file, as arrays."""
        return Keyframes(self)

    @cached_property
    def regressors(self) -> Regressors:
        """Regressors of further forces, momenta and energies."""
        return Regressors(self)

    @cached_property
    def sensors(self) -> Sensors:
        """The sensors: call it with a state for what they show."""
        return Sensors(self)

    @cached_property
    def tendons(self) -> Tendons:
        """The tendons: lengths, moment arms, tensions."""
        return Tendons(self)


def door_classes() -> dict[str, type]:
    """The class of each group of methods that is imported with robots.

    Returns:
        Classes by the name of the group.
    """
    doors = {x: value for x, value in vars(Doors).items() if isinstance(value, cached_property)}
    names = {x: value.function.__annotations__["return"] for x, value in doors.items()}
    return {x: globals()[name] for x, name in names.items() if name in globals()}
