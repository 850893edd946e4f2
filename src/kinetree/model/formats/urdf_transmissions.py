"""Motors of a URDF document: <transmission> of one joint and one actuator, and ros2_control.

The reduction of a transmission is the gear of a motor: the joint force is reduction times the
motor's. Position and velocity interfaces are not forces, and transmissions of several joints have
no standard, so both are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from kinetree.model.actuators import Actuator
from kinetree.model.actuators.makers import motor
from kinetree.model.disassemble import fresh
from kinetree.model.formats.xml import Element, brief
from kinetree.model.ranges import UNBOUNDED, Range


def motors(robot: Element, joints: Collection[str]) -> list[Actuator]:
    """The motors of a document.

    Arguments:
        robot: its root element.
        joints: the names of the joints that have one coordinate.
    """
    found: dict[str, Actuator] = {}
    for element in transmissions(robot, joints):
        _add(found, *_transmission(element))
    for system in robot.all("ros2_control"):
        for element in system.all("joint"):
            bounds = _effort_range(element)
            if bounds is not None:
                name = element.attributes.get("name", "")
                driven = {x.references.joints[0] for x in found.values()}
                if name in joints and name not in driven:
                    _add(found, name, name, 1.0, bounds)
    return list(found.values())


def transmissions(robot: Element, joints: Collection[str]) -> list[Element]:
    """The transmissions of a document that are motors.

    Arguments:
        robot, joints: as in `motors`.
    """
    return [x for x in robot.all("transmission") if _transmission(x)[0] in joints]


def _add(
    found: dict[str, Actuator],
    joint: str,
    name: str,
    gear: float = 1.0,
    bounds: Range = UNBOUNDED,
) -> None:
    unique = fresh(name or joint, found)
    found[unique] = motor(unique, joint, gear, bounds)


def _transmission(element: Element) -> tuple[str, str, float]:
    """The joint, the name and the reduction of a motor; no joint if it is not a motor."""
    joints, actuators = list(element.all("joint")), list(element.all("actuator"))
    if len(joints) != 1 or len(actuators) != 1 or not _is_effort([*joints, *actuators]):
        return "", "", 1.0
    places = (*actuators, *joints, element)
    written = (place.first("mechanicalReduction") for place in places)
    reduction = next((x for x in written if x is not None), None)
    name = actuators[0].attributes.get("name") or element.attributes.get("name", "")
    gear = 1.0 if reduction is None else reduction.value()
    return joints[0].attributes.get("name", ""), brief(name), gear


def _is_effort(parts: Collection[Element]) -> bool:
    """Whether the interfaces are those of forces, or none is named."""
    named = [x.content for part in parts for x in part.all("hardwareInterface")]
    return not named or any("effort" in name.lower() for name in named)


def _effort_range(joint: Element) -> Range | None:
    """The bounds of an interface of forces; None if a joint has none."""
    for interface in joint.all("command_interface"):
        if interface.attributes.get("name") == "effort":
            bounds = dict(_bounds(interface))
            return bounds.get("min", -math.inf), bounds.get("max", math.inf)
    return None


def _bounds(interface: Element) -> Iterator[tuple[str, float]]:
    for parameter in interface.all("param"):
        if parameter.attributes.get("name") in ("min", "max"):
            yield parameter.attributes["name"], parameter.value()
