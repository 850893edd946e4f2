"""What becomes of equipment when a robot is edited: joints locked, links removed, loads added."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinetree.errors import ModelError, among, unknown
from kinetree.model.actuators import Actuator
from kinetree.model.body_forces import BodyForce, Compensation, Immersed
from kinetree.model.description import Description
from kinetree.model.equipment import Equipment
from kinetree.model.keyframe import Keyframe
from kinetree.model.model import WORLD, Model
from kinetree.model.sensors import Carried, Sensor, Watch
from kinetree.model.tendons import FixedTendon, Tendon
from kinetree.spatial import Inertia

BODY_FORCES = {"compensation": Compensation, "fluid": Immersed}
"""The forces on bodies that an effect stands for."""


def without_held(equipment: Equipment, held: Mapping[str, tuple[float, ...]]) -> Equipment:
    """The equipment of a robot in which joints are locked.

    What acts on a locked joint or measures it is left out; a tendon over others as well keeps the
    locked joint's part of its length.

    Arguments:
        held: the coordinates of the locked joints.
    """
    if not held:
        return equipment

    def change(part: Any) -> Any:
        if isinstance(part, FixedTendon):
            fixed = sum(w * held[joint][0] for joint, w in part.coefficients if joint in held)
            moving = tuple(x for x in part.coefficients if x[0] not in held)
            offset = part.offset + fixed
            return replace(part, coefficients=moving, offset=offset) if moving else None
        if isinstance(part, Sensor) and part.carried is not None:
            _refuse_cut(part, held)
        gone = not isinstance(part, (Keyframe, Tendon)) and set(part.references.joints) & set(held)
        return None if gone else part

    return _without_dangling(equipment.mapped(change))


def _refuse_cut(sensor: Sensor, held: Mapping[str, tuple[float, ...]]) -> None:
    """Refuse to lock a joint that hangs directly on what a sensor carries.

    Arguments:
        sensor: of a force, a torque or a subtree.
        held: the locked joints.
    """
    assert sensor.carried is not None
    for joint in sensor.carried.joints:
        if joint in held:
            raise ModelError(
                f"joint {joint!r} is part of what sensor {sensor.name!r} carries: remove the "
                "sensor first with without('sensors')"
            )


def _without_dangling(equipment: Equipment) -> Equipment:
    """Without what refers to tendons and actuators that are left out."""
    for _ in range(2):  # tendons, then actuators, then sensors
        tendons = {x.name for x in equipment.tendons}
        actuators = {x.name for x in equipment.actuators}
        equipment = equipment.mapped(_keeper(tendons, actuators))
    return equipment


def _keeper(tendons: Collection[str], actuators: Collection[str]) -> Callable[[Any], Any]:
    def keep(part: Any) -> Any:
        if isinstance(part, Keyframe):
            return part
        refers = part.references
        whole = set(refers.tendons) <= set(tendons) and set(refers.actuators) <= set(actuators)
        return part if whole else None

    return keep


def part_of(equipment: Equipment, kept: Description, part: str) -> Equipment:
    """The equipment of a part of a robot.

    That of the other parts is left out; what connects the two is refused.

    Arguments:
        kept: what belongs to the part.
        part: what it is called in the message.
    """
    links, joints = {x.name for x in kept.links}, {c.name for c in kept.connections}
    colliders = {x.name for x in kept.colliders}

    def change(piece: Any) -> Any:
        if isinstance(piece, Keyframe):
            return piece
        if isinstance(piece, Sensor) and piece.watch is not None:
            sides = (piece.watch.first, piece.watch.second)
            if any(side is not None and colliders.isdisjoint(side) for side in sides):
                return None
        refers = piece.references
        outside = [f"link {x!r}" for x in refers.frames if x not in links]
        outside += [f"joint {x!r}" for x in refers.joints if x not in joints]
        if not outside:
            return piece
        if isinstance(piece, Sensor) or len(outside) == len(refers.frames) + len(refers.joints):
            return None
        raise ModelError(
            f"{piece.name!r} connects {part} to {outside[0]}, which is not part of it: remove it "
            "first with without('actuators', 'tendons')"
        )

    return _without_dangling(equipment.mapped(change))


def equip(model: Model, *parts: Any) -> Model:
    """The same robot with more equipment.

    Arguments:
        parts: tendons, actuators, sensors, keyframes and forces on bodies.
    """
    kinds = {
        Tendon: "tendons",
        Actuator: "actuators",
        Sensor: "sensors",
        Keyframe: "keyframes",
        BodyForce: "body_forces",
    }
    added: dict[str, list[Any]] = {name: [] for name in kinds.values()}
    for part in parts:
        name = next((name for kind, name in kinds.items() if isinstance(part, kind)), None)
        if name is None:
            raise ModelError(f"{part!r}: a part of kinetree.equipment is expected")
        if isinstance(part, Sensor) and part.holds and part.carried is None:
            part = replace(part, carried=_carried(model, part))
        if isinstance(part, Sensor) and part.watch is not None:
            _check_watched(model, part.name, part.watch)
        added[name].append(part)
    more = Equipment(**{name: tuple(found) for name, found in added.items()})
    return replace(model, equipment=model.equipment + more)


def _check_watched(model: Model, name: str, watch: Watch) -> None:
    """Refuse a contact sensor of colliders that do not exist: it would never show a contact."""
    for collider in (*(watch.first or ()), *(watch.second or ())):
        if not among(collider, model.collider_bodies):
            said = unknown("collider", collider, model.collider_bodies, "the robot")
            raise ModelError(f"sensor {name!r}: {said}")


def _carried(model: Model, sensor: Sensor) -> Carried:
    """The whole body at which a sensor is, and the joints that hang on it."""
    assert sensor.place is not None
    home = model.frame(sensor.place.frame)
    whole = model.base_inertia if home.body == WORLD else model.bodies[home.body].inertia
    others = (f.name for f in model.frames if f.body == home.body and f.name != home.name)
    joints = tuple(b.joint_name for b in model.bodies if b.parent == home.body)
    return Carried(home.placement.inverse().to_parent(whole), (home.name, *others), joints)


def with_load(model: Model, equipment: Equipment, frame: str, load: Inertia) -> Equipment:
    """The equipment of a robot to which a load is fixed.

    Arguments:
        model: before.
        frame: the name of the frame in which the load is given.
        load: its inertia.
    """

    def change(part: Any) -> Any:
        if not isinstance(part, Sensor) or part.carried is None:
            return part
        if frame not in part.carried.frames:
            return part
        link, at = model.frame(part.carried.frames[0]), model.frame(frame)
        seen = (link.placement.inverse() @ at.placement).to_parent(load)
        return replace(part, carried=replace(part.carried, inertia=part.carried.inertia + seen))

    return equipment.mapped(change)


def without_effects(equipment: Equipment, effects: Sequence[str]) -> Equipment:
    """The equipment of a robot with effects switched off.

    Arguments:
        effects: as of `edit.without`.
    """

    def change(part: Any) -> Any:
        if any(isinstance(part, kind) for effect, kind in BODY_FORCES.items() if effect in effects):
            return None
        return part.without(tuple(effects)) if isinstance(part, Tendon) else part

    left_out = {x: () for x in ("actuators", "sensors", "tendons") if x in effects}
    changed = replace(equipment.mapped(change), **left_out)
    return _without_dangling(changed) if left_out else changed
