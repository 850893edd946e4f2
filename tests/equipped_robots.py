"""Robots with tendons, actuators and sensors, built in Python."""

import kinetree as kt
from kinetree.equipment import (
    Actuator,
    Affine,
    Filter,
    FixedTendon,
    Keyframe,
    Place,
    Sensor,
    SiteTransmission,
    SpatialTendon,
    TendonTransmission,
    Via,
    motor,
    position_servo,
)


def equipped(robot: kt.Robot) -> kt.Robot:
    """A robot with a few parts of every kind, on its first two joints of one coordinate."""
    bodies = [b for b in robot.model.bodies if b.joint.nq == 1 and b.follows is None]
    first, second = bodies[0], bodies[1]
    tip = robot.model.bodies[-1].name
    return robot.edit.equip(
        FixedTendon(
            name="fixed",
            coefficients=((first.joint_name, 0.7), (second.joint_name, -1.3)),
            stiffness=2.0,
            rest=(-0.1, 0.2),
            damping=0.3,
        ),
        SpatialTendon(name="string", path=(Via(first.name), Via(tip)), stiffness=1.5, damping=0.4),
        motor("motor", first.joint_name, 3.0, (-1.0, 1.0)),
        position_servo("servo", second.joint_name, 5.0, 0.5),
        Actuator(
            name="winch",
            transmission=TendonTransmission("string", -2.0),
            gain=Affine(1.0, 0.2, 0.1),
            activation=Filter(0.1),
        ),
        Actuator(
            name="jet",
            transmission=SiteTransmission(tip, (1.0, 0.5, 0.2, 0.1, 0.2, 0.3)),
            activation=Filter(0.2, exact=True),
        ),
        Sensor(name="imu", kind="accelerometer", place=Place(tip), noise=0.1),
        Sensor(name="load", kind="force", place=Place(tip)),
        Sensor(name="stretch", kind="tendonpos", of="string"),
        Sensor(name="pull", kind="actuatorfrc", of="winch"),
        Keyframe(name="home", coordinates=((first.joint_name, (0.4,)),)),
    )


def equipped_arm() -> kt.Robot:
    """An arm with parts of every kind."""
    return equipped(kt.robots.arm())
