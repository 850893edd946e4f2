"""Forces that act on single bodies: compensation of gravity, and the fluid around them.

Files give them as attributes of links; here each is an item of a robot's equipment with a place.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, replace
from typing import TypeVar

from kinetree.errors import ModelError
from kinetree.model.checked import Checked
from kinetree.model.place import Place, References
from kinetree.spatial import Vector3

B = TypeVar("B", bound="BodyForce")
Three = tuple[float, float, float]
STILL = Vector3(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Fluid(Checked):
    """The fluid around a robot.

    Arguments:
        density: kg/m^3; about 1000 of water, 1.2 of air.
        viscosity: Pa s; about 9e-4 of water, 2e-5 of air.
        wind: the velocity of the fluid in the world's axes, m/s.
    """

    density: float = 0.0
    viscosity: float = 0.0
    wind: Vector3 = STILL

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("density", "viscosity"):
            if getattr(self, name) < 0.0:
                raise ModelError(f"Fluid: {name} must not be negative, got {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class BodyForce(Checked, ABC):
    """A force on a body that is a function of its state.

    Arguments:
        name: unique among a robot's body forces.
        place: where it acts.
    """

    name: str
    place: Place

    @property
    def references(self) -> References:
        """The names that it refers to."""
        return References(frames=(self.place.frame,))

    def renamed(self: B, prefix: str) -> B:
        """The same force of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A body force.
        """
        return replace(self, name=prefix + self.name, place=self.place.renamed(prefix))


@dataclass(frozen=True, kw_only=True)
class Compensation(BodyForce):
    """Carries a weight: a force against gravity (MJCF's gravcomp).

    Arguments:
        name, place: as in `BodyForce`; the force acts at the origin of the place.
        mass: whose weight is carried, kg.
    """

    mass: float


@dataclass(frozen=True, kw_only=True)
class Immersed(BodyForce, ABC):
    """A body in a fluid.

    Arguments:
        name, place: as in `BodyForce`; the shape is centred there, along the axes.
        fluid: the fluid around it.
    """

    fluid: Fluid


@dataclass(frozen=True, kw_only=True)
class FluidBox(Immersed):
    """The drag of a cuboid: MuJoCo's model for the box with the inertia of a body.

    Arguments:
        name, place, fluid: as in `Immersed`.
        edges: of the cuboid, m.
    """

    edges: Three


@dataclass(frozen=True, kw_only=True)
class FluidEllipsoid(Immersed):
    """Drag, lift and added mass of an ellipsoid: MuJoCo's model for a shape.

    Arguments:
        name, place, fluid: as in `Immersed`.
        half_axes: half of its extent along x, y and z, m.
        blunt, slender, angular: coefficients of drag: of its cross-section, of its length, of its
            rotation.
        kutta, magnus: coefficients of lift.
        added_volume: of the fluid that moves with it, for motion along each axis, m^3.
        added_moment: its moment, for rotation about each axis, m^5.
    """

    half_axes: Three
    blunt: float = 0.5
    slender: float = 0.25
    angular: float = 1.5
    kutta: float = 1.0
    magnus: float = 1.0
    added_volume: Three = (0.0, 0.0, 0.0)
    added_moment: Three = (0.0, 0.0, 0.0)
