"""The tendons, actuators, sensors and keyframes of a compiled MuJoCo model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kinetree._lazy import cached_property
from kinetree.model.equipment import Equipment
from kinetree.model.formats.mjcf_actuators import (
    actuator_numbers,
    actuator_remarks,
    actuators,
)
from kinetree.model.formats.mjcf_body_forces import body_force_remarks, body_forces
from kinetree.model.formats.mjcf_keyframes import keyframes, numerics
from kinetree.model.formats.mjcf_parts import Parts, Remark
from kinetree.model.formats.mjcf_sensors import sensor_remarks, sensors
from kinetree.model.formats.mjcf_tendons import tendon_remarks, tendons
from kinetree.spatial import Inertia


@dataclass(frozen=True)
class EquipmentReader:
    """The reader of a compiled model's equipment.

    Arguments:
        parts: the model with the names of its parts.
        inertia: of a body of MuJoCo, in its frame.
    """

    parts: Parts
    inertia: Callable[[int], Inertia]

    @cached_property
    def equipment(self) -> Equipment:
        """The equipment."""
        parts, read = self.parts, actuator_numbers(self.parts)
        return Equipment(
            tuple(tendons(parts)),
            tuple(actuators(parts)),
            tuple(sensors(parts, self.inertia, read)),
            tuple(keyframes(parts, read)),
            numerics(parts),
            tuple(body_forces(parts)),
        )

    def remarks(self) -> Iterator[Remark]:
        """Remarks on parts that are left out."""
        yield from body_force_remarks(self.parts)
        yield from tendon_remarks(self.parts)
        yield from actuator_remarks(self.parts)
        yield from sensor_remarks(self.parts, {x.name for x in self.equipment.sensors})
