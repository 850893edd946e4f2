"""Tendons, actuators, sensors and named states to equip robots with; see `Robot.edit.equip`."""

from kinetree.model.actuators import (
    Activation,
    Actuator,
    Adhesion,
    Affine,
    Filter,
    Integrator,
    JointTransmission,
    Law,
    MuscleActivation,
    MuscleBias,
    MuscleGain,
    SiteTransmission,
    SliderCrank,
    TendonTransmission,
    Transmission,
)
from kinetree.model.actuators.makers import motor, position_servo, velocity_servo
from kinetree.model.body_forces import (
    BodyForce,
    Compensation,
    Fluid,
    FluidBox,
    FluidEllipsoid,
)
from kinetree.model.keyframe import Keyframe
from kinetree.model.place import Place
from kinetree.model.sensors import Sensor, Watch
from kinetree.model.tendons import FixedTendon, Pulley, SpatialTendon, Tendon, Via, Wrap

__all__ = [
    "Activation",
    "Actuator",
    "Adhesion",
    "Affine",
    "BodyForce",
    "Compensation",
    "Filter",
    "FixedTendon",
    "Fluid",
    "FluidBox",
    "FluidEllipsoid",
    "Integrator",
    "JointTransmission",
    "Keyframe",
    "Law",
    "MuscleActivation",
    "MuscleBias",
    "MuscleGain",
    "Place",
    "Pulley",
    "Sensor",
    "SiteTransmission",
    "SliderCrank",
    "SpatialTendon",
    "Tendon",
    "TendonTransmission",
    "Transmission",
    "Via",
    "Watch",
    "Wrap",
    "motor",
    "position_servo",
    "velocity_servo",
]
