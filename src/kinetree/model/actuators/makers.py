"""Common actuators at a joint, by their usual names."""

from __future__ import annotations

from kinetree.model.actuators.actuator import Actuator
from kinetree.model.actuators.laws import Affine
from kinetree.model.actuators.transmission import JointTransmission
from kinetree.model.checked import number
from kinetree.model.ranges import UNBOUNDED, Range


def motor(name: str, joint: str, gear: float = 1.0, control_range: Range = UNBOUNDED) -> Actuator:
    """A motor: the joint force is gear times the control.

    Arguments:
        name: of the actuator.
        joint: the name of the joint.
        gear: of the transmission.
        control_range: bounds of the control.

    Returns:
        An actuator.
    """
    return Actuator(name=name, transmission=_geared(joint, gear), control_range=control_range)


def position_servo(
    name: str, joint: str, kp: float, kv: float = 0.0, control_range: Range = UNBOUNDED
) -> Actuator:
    """A servo: kp (control - coordinate) - kv velocity.

    Arguments:
        name: of the actuator.
        joint: the name of the joint.
        kp, kv: gains by position and velocity.
        control_range: bounds of the control.

    Returns:
        An actuator.
    """
    kp, kv = number("position_servo: kp", kp), number("position_servo: kv", kv)
    return Actuator(
        name=name,
        transmission=_geared(joint, 1.0),
        gain=Affine(kp),
        bias=Affine(0.0, -kp, -kv),
        control_range=control_range,
    )


def velocity_servo(name: str, joint: str, kv: float, control_range: Range = UNBOUNDED) -> Actuator:
    """A servo: kv (control - velocity).

    Arguments:
        name: of the actuator.
        joint: the name of the joint.
        kv: the gain.
        control_range: bounds of the control.

    Returns:
        An actuator.
    """
    kv = number("velocity_servo: kv", kv)
    return Actuator(
        name=name,
        transmission=_geared(joint, 1.0),
        gain=Affine(kv),
        bias=Affine(0.0, 0.0, -kv),
        control_range=control_range,
    )


def _geared(joint: str, gear: float) -> JointTransmission:
    return JointTransmission(joint, (gear, 0.0, 0.0, 0.0, 0.0, 0.0))
