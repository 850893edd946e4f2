"""The kinds of sensors: what each refers to, and what it measures in which unit."""

from __future__ import annotations

from dataclasses import dataclass

XYZ = ("x", "y", "z")
ONE = ("",)
QUATERNION = ("w", "x", "y", "z")


@dataclass(frozen=True)
class SensorKind:
    """What sensors of one kind have in common.

    Arguments:
        labels: of the numbers that it measures.
        unit: of these numbers; empty where it depends on a joint, or there is none.
        of: what it refers to: "place", "joint", "tendon", "actuator" or "" for the whole robot.
        relative: whether it may measure relative to another place.
        positive: whether it measures numbers that are bounded from above only.
    """

    labels: tuple[str, ...]
    unit: str
    of: str
    relative: bool = False
    positive: bool = False


KINDS: dict[str, SensorKind] = {
    # at a place
    "accelerometer": SensorKind(XYZ, "m/s^2", "place"),
    "velocimeter": SensorKind(XYZ, "m/s", "place"),
    "gyro": SensorKind(XYZ, "rad/s", "place"),
    "force": SensorKind(XYZ, "N", "place"),
    "torque": SensorKind(XYZ, "N m", "place"),
    "magnetometer": SensorKind(XYZ, "", "place"),
    "framepos": SensorKind(XYZ, "m", "place", True),
    "framequat": SensorKind(QUATERNION, "", "place", True),
    "framexaxis": SensorKind(XYZ, "", "place", True),
    "frameyaxis": SensorKind(XYZ, "", "place", True),
    "framezaxis": SensorKind(XYZ, "", "place", True),
    "framelinvel": SensorKind(XYZ, "m/s", "place", True),
    "frameangvel": SensorKind(XYZ, "rad/s", "place", True),
    "framelinacc": SensorKind(XYZ, "m/s^2", "place"),
    "frameangacc": SensorKind(XYZ, "rad/s^2", "place"),
    "touch": SensorKind(ONE, "N", "place", positive=True),
    "rangefinder": SensorKind(ONE, "m", "place"),
    # of a link and all it carries
    "subtreecom": SensorKind(XYZ, "m", "place"),
    "subtreelinvel": SensorKind(XYZ, "m/s", "place"),
    "subtreeangmom": SensorKind(XYZ, "N m s", "place"),
    # of joints
    "jointpos": SensorKind(ONE, "", "joint"),
    "jointvel": SensorKind(ONE, "", "joint"),
    "jointactuatorfrc": SensorKind(ONE, "", "joint"),
    "jointlimitpos": SensorKind(ONE, "", "joint"),
    "jointlimitvel": SensorKind(ONE, "", "joint"),
    "jointlimitfrc": SensorKind(ONE, "", "joint"),
    "ballquat": SensorKind(QUATERNION, "", "joint"),
    "ballangvel": SensorKind(XYZ, "rad/s", "joint"),
    # of tendons and actuators
    "tendonpos": SensorKind(ONE, "", "tendon"),
    "tendonvel": SensorKind(ONE, "", "tendon"),
    "tendonactuatorfrc": SensorKind(ONE, "", "tendon"),
    "tendonlimitpos": SensorKind(ONE, "", "tendon"),
    "tendonlimitvel": SensorKind(ONE, "", "tendon"),
    "tendonlimitfrc": SensorKind(ONE, "N", "tendon"),
    "actuatorpos": SensorKind(ONE, "", "actuator"),
    "actuatorvel": SensorKind(ONE, "", "actuator"),
    "actuatorfrc": SensorKind(ONE, "", "actuator"),
    # of the whole robot
    "e_potential": SensorKind(ONE, "J", ""),
    "e_kinetic": SensorKind(ONE, "J", ""),
}
"""The sensors that are functions of state, acceleration and controls, under MJCF's names."""
