"""Motors in URDF: <transmission> of one joint and one actuator."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.model.actuators import Actuator, JointTransmission
from kinetree.model.actuators.actuator import MOTOR, NOTHING
from kinetree.model.equipment import Equipment
from kinetree.model.formats.write_xml import Writer, number
from kinetree.model.ranges import UNBOUNDED

SIMPLE = "transmission_interface/SimpleTransmission"
EFFORT = "hardware_interface/EffortJointInterface"


def write_motors(out: Writer, equipment: Equipment) -> None:
    """Write the motors that URDF can express."""
    for x in equipment.actuators:
        t = x.transmission
        if not is_motor(x) or not isinstance(t, JointTransmission):
            continue
        with out.element("transmission", name=x.name):
            out.words("type", SIMPLE)
            with out.element("joint", name=t.joint):
                out.words("hardwareInterface", EFFORT)
            with out.element("actuator", name=x.name):
                out.words("mechanicalReduction", number(t.gear[0]))


def lost_parts(equipment: Equipment) -> Iterator[str]:
    """The parts of the equipment that URDF cannot express."""
    for what, part in equipment.parts():
        if not (isinstance(part, Actuator) and is_motor(part)):
            yield f"{what} {part.name}"


def is_motor(x: Actuator) -> bool:
    """Whether an actuator is a motor at a joint of one coordinate, without bounds."""
    t = x.transmission
    geared = isinstance(t, JointTransmission) and not any(t.gear[1:])
    plain = (x.gain, x.bias, x.activation) == (MOTOR, NOTHING, None)
    return geared and plain and {x.control_range, x.force_range} == {UNBOUNDED}
