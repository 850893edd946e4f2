"""Actuators: from a control to a force along a transmission, one concept a file."""

from kinetree.model.actuators.actuator import Actuator
from kinetree.model.actuators.dynamics import Activation, Filter, Integrator
from kinetree.model.actuators.laws import Affine, Law
from kinetree.model.actuators.muscle import MuscleActivation, MuscleBias, MuscleForce, MuscleGain
from kinetree.model.actuators.transmission import (
    Adhesion,
    JointTransmission,
    SiteTransmission,
    SliderCrank,
    TendonTransmission,
    Transmission,
)

__all__ = [
    "Activation",
    "Actuator",
    "Adhesion",
    "Affine",
    "Filter",
    "Integrator",
    "JointTransmission",
    "Law",
    "MuscleActivation",
    "MuscleBias",
    "MuscleForce",
    "MuscleGain",
    "SiteTransmission",
    "SliderCrank",
    "TendonTransmission",
    "Transmission",
]
