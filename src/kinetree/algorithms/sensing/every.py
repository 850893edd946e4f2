"""The readings of all sensors, one after the other.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Sensors".

Cost: that of the sensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.algorithms.sensing.contact_slots import contact_slots
from kinetree.algorithms.sensing.contacts import OF_CONTACTS
from kinetree.algorithms.sensing.parts import OF_PARTS
from kinetree.algorithms.sensing.places import AT_PLACES
from kinetree.algorithms.sensing.situation import Situation
from kinetree.algorithms.sensing.subtrees import OF_SUBTREES
from kinetree.model import Model
from kinetree.model.ranges import within
from kinetree.model.sensors import KINDS
from kinetree.scalar import Scalar

SENSORS = AT_PLACES | OF_SUBTREES | OF_PARTS | OF_CONTACTS | {"contact": contact_slots}


def readings(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    act: Sequence[Scalar],
    ctrl: Sequence[Scalar],
) -> list[Scalar]:
    """The numbers of every sensor."""
    situation, shown = Situation(model, q, v, a, act, ctrl), []
    for sensor in model.equipment.sensors:
        positive = KINDS[sensor.kind].positive
        bounds = (-math.inf if positive else -sensor.cutoff, sensor.cutoff)
        measured = SENSORS[sensor.kind](situation, sensor)
        shown += [within(-x if sensor.opposite else x, bounds) for x in measured]
    return shown
