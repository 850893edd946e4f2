"""Keyframes in MJCF: arrays in the order in which joints and actuators are written."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.model.formats.write_xml import Writer, number, numbers
from kinetree.model.keyframe import Keyframe, Values
from kinetree.model.model import Model
from kinetree.spatial import Rotation, Vector3

FREE, BALL = 7, 4  # coordinates
VELOCITIES = {FREE: 6, BALL: 3}


class KeyframeElements:
    """The elements of a robot's keyframes.

    Arguments:
        model: the robot.
        joints: the names of its joints, in the order written.

    Attributes:
        lost: the keyframes that do not have the coordinates of every joint, in words.
    """

    def __init__(self, model: Model, joints: Sequence[str]) -> None:
        self._equipment, self._joints = model.equipment, joints
        frames = model.equipment.keyframes
        self.lost = [f"keyframe {x.name!r}" for x in frames if not self._whole(x)]
        self._written = [x for x in frames if self._whole(x)]

    def _whole(self, frame: Keyframe) -> bool:
        return set(self._joints) <= set(dict(frame.coordinates))

    def write(self, out: Writer) -> None:
        """Write the element <keyframe>, if there is anything in it."""
        if not self._written:
            return
        with out.element("keyframe"):
            for x in self._written:
                stateful = [a.name for a in self._equipment.stateful]
                arrays = {
                    "qpos": self._coordinates(x),
                    "qvel": self._velocities(x),
                    "act": _listed(x.activations, stateful),
                    "ctrl": _listed(x.controls, [a.name for a in self._equipment.actuators]),
                }
                given = {key: numbers(values) for key, values in arrays.items() if values}
                out.leaf("key", name=x.name, time=number(x.time), **given)

    def _coordinates(self, frame: Keyframe) -> list[float]:
        known = dict(frame.coordinates)
        found: list[float] = []
        for name in self._joints:
            own = known[name]
            if len(own) in (FREE, BALL):  # the quaternion, scalar first
                *place, x, y, z, w = own
                own = (*place, w, x, y, z)
            found += own
        return found

    def _velocities(self, frame: Keyframe) -> list[float]:
        known, at = dict(frame.velocities), dict(frame.coordinates)
        found: list[float] = []
        for name in self._joints:
            count = len(at[name])
            own = known.get(name, (0.0,) * VELOCITIES.get(count, count))
            if count == FREE:  # MJCF has it in the world's axes
                turned = Rotation.quat_xyzw(*at[name][3:]) @ Vector3(*own[:3])
                own = (*turned, *own[3:])
            found += own
        return found


def _listed(values: Values, names: Sequence[str]) -> list[float]:
    """One number for each name; zero for those that have none."""
    known = dict(values)
    return [known.get(name, (0.0,))[0] for name in names]
