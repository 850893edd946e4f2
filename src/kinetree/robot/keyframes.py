"""Named states of a robot: `robot.keyframes`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.errors import unknown
from kinetree.model.keyframe import Keyframe, Values
from kinetree.robot.core import Core
from kinetree.typing import Array


class NamedState(NamedTuple):
    """A state with a name.

    Attributes:
        time: s.
        q, v: configuration (nq,) and velocity (nv,).
        act, ctrl: activations (na,) and controls (nu,).
    """

    time: float
    q: Array
    v: Array
    act: Array
    ctrl: Array


class Keyframes(Mapping[str, NamedState]):
    """The named states of a robot's file, such as robot.keyframes["home"].

    "reference" is where an MJCF or SDF file puts its robot, if that is not the neutral one.

    Arguments:
        robot: whose states they are.
    """

    def __init__(self, robot: Core) -> None:
        self._robot = robot
        self._frames = {x.name: x for x in robot.model.equipment.keyframes}

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, name: str) -> NamedState:
        try:
            frame = self._frames[name]
        except (KeyError, TypeError):
            raise unknown("keyframe", name, self._frames, f"robot {self._robot.name!r}") from None
        return self._state(frame)

    def _state(self, frame: Keyframe) -> NamedState:
        model, robot = self._robot.model, self._robot
        q, v = robot.neutral(), np.zeros(robot.nv)
        coordinates, velocities = dict(frame.coordinates), dict(frame.velocities)
        for i in model.coordinate_order:
            body = model.bodies[i]
            own = coordinates.get(body.joint_name, ())
            if len(own) == body.joint.nq:
                q[model.q_slices[i]] = own
            own = velocities.get(body.joint_name, ())
            if len(own) == body.joint.nv:
                v[model.v_slices[i]] = own
        equipment = model.equipment
        act = _numbers(frame.activations, [x.name for x in equipment.stateful])
        ctrl = _numbers(frame.controls, [x.name for x in equipment.actuators])
        return NamedState(frame.time, q, v, act, ctrl)


def _numbers(values: Values, names: Sequence[str]) -> Array:
    """One number for each name; zero for those that have none."""
    known = dict(values)
    return np.array([known.get(name, (0.0,))[0] for name in names])
