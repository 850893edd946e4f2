"""The equipment of a robot: what acts on it and measures it, besides its joints and links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from kinetree._lazy import cached_property
from kinetree.errors import KinetreeError, ModelError, among, unknown
from kinetree.model.actuators import Actuator
from kinetree.model.body_forces import BodyForce
from kinetree.model.keyframe import REFERENCE, Keyframe, Values
from kinetree.model.sensors import Sensor
from kinetree.model.tendons import FixedTendon, Tendon

if TYPE_CHECKING:
    from kinetree.model.model import Model


@dataclass(frozen=True)
class Equipment:
    """Tendons, actuators, sensors, named states and forces on bodies, each by name.

    Arguments:
        tendons, actuators, sensors, keyframes: in the order of their numbers in arrays.
        numerics: arrays of a file's own, by name; no algorithm reads them.
        body_forces: what acts on bodies wherever they are.
    """

    tendons: tuple[Tendon, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    keyframes: tuple[Keyframe, ...] = ()
    numerics: Values = ()
    body_forces: tuple[BodyForce, ...] = ()

    @cached_property
    def stateful(self) -> tuple[Actuator, ...]:
        """The actuators that have an activation, in the order of the activations."""
        return tuple(x for x in self.actuators if x.activation is not None)

    @cached_property
    def acting(self) -> tuple[Tendon, ...]:
        """The tendons that exert forces by themselves."""
        return tuple(x for x in self.tendons if x.acts)

    @cached_property
    def sensor_size(self) -> int:
        """How many numbers all sensors measure together."""
        return sum(sensor.size for sensor in self.sensors)

    def tendon(self, name: str) -> Tendon:
        """The tendon that has a name.

        Arguments:
            name: of a tendon.

        Returns:
            The tendon.
        """
        for tendon in self.tendons:
            if tendon.name == name:
                return tendon
        raise unknown("tendon", name, [x.name for x in self.tendons], "the robot")

    def parts(self) -> Iterator[tuple[str, Any]]:
        """All of it.

        Returns:
            What each part is called, and the part.
        """
        for field in fields(self):
            if field.name != "numerics":
                for part in getattr(self, field.name):
                    yield field.name.removesuffix("s").replace("_", " "), part

    def mapped(self, change: Callable[[Any], Any]) -> Equipment:
        """The same equipment with each part changed.

        Arguments:
            change: takes a part; returns another, or None to leave it out.

        Returns:
            Equipment.
        """
        changed: dict[str, Any] = {}
        for name in ("tendons", "actuators", "sensors", "keyframes", "body_forces"):
            parts = (change(part) for part in getattr(self, name))
            changed[name] = tuple(part for part in parts if part is not None)
        return replace(self, **changed)

    def __add__(self, other: Equipment) -> Equipment:
        both = {x.name: (*getattr(self, x.name), *getattr(other, x.name)) for x in fields(self)}
        references = [x for x in both["keyframes"] if x.name == REFERENCE]
        if len(references) == 2:  # one of each robot
            one = references[0].and_of(references[1])
            rest = (x for x in both["keyframes"] if x.name != REFERENCE)
            both["keyframes"] = (one, *rest)
        return Equipment(**both)


NOTHING = Equipment()


def shares_inertia(model: Model) -> bool:
    """Whether an inertia moves with several joints of the tree: of followers, of tendons.

    Arguments:
        model: the model.

    Returns:
        True if one does.
    """
    followers = any(body.follows is not None for body in model.bodies)
    return followers or any(tendon.armature for tendon in model.equipment.tendons)


def check_equipment(model: Model) -> None:
    """Refuse equipment of what does not exist, and parts of one name.

    Arguments:
        model: the model.
    """
    seen: set[tuple[str, str]] = set()
    for what, part in model.equipment.parts():
        if (what, part.name) in seen:
            raise ModelError(f"two {what}s are named {part.name!r}: names must be unique")
        seen.add((what, part.name))
        try:
            _check_part(model, part)
        except KinetreeError as e:
            raise ModelError(f"{what} {part.name!r}: {e}") from None


def _check_part(model: Model, part: Any) -> None:
    """Refuse a part that refers to what the model does not have."""
    if isinstance(part, Keyframe):
        return  # what is not named there, or is no longer here, has no effect
    refers, equipment = part.references, model.equipment
    for name in refers.frames:
        model.frame(name)
    joints = {b.joint_name: b.joint for b in model.bodies}
    for name in refers.joints:
        if not among(name, joints):
            raise unknown("joint", name, joints, "the robot")
    for what in ("tendons", "actuators"):
        known = [x.name for x in getattr(equipment, what)]
        for name in getattr(refers, what):
            if not among(name, known):
                raise unknown(what.removesuffix("s"), name, known, "the robot")
    if isinstance(part, Sensor) and part.holds and part.carried is None:
        raise ModelError("what it carries is not known: robot.edit.equip(...) finds it")
    if isinstance(part, FixedTendon):
        for name in refers.joints:
            if joints[name].transmission.joint.nq != 1:
                raise ModelError(f"joint {name!r} has more than one coordinate")
            if part.armature and joints[name].has_varying_ratio:
                raise ModelError(
                    f"joint {name!r} follows others by a ratio that varies, so its armature is "
                    "not constant: switch it off with without('armature')"
                )
