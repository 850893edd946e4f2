"""Sensors: measurements of a robot's state."""

from kinetree.model.sensors.kinds import KINDS, SensorKind, Watch
from kinetree.model.sensors.sensor import Carried, Sensor

__all__ = ["KINDS", "Carried", "Sensor", "SensorKind", "Watch"]
