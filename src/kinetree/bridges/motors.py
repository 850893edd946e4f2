"""The meaning of an environment's actions: joint forces, targets of servos, or controls of the
robot's actuators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, among, unknown
from kinetree.robot import Robot
from kinetree.robot.checks import finite_state, number
from kinetree.robot.core import check_robot
from kinetree.scalar import less, maximum, minimum, select
from kinetree.simulate.actuated import Actuated
from kinetree.typing import Array


class Motors(ABC):
    """A control law whose inputs p contain an action.

    Attributes:
        actions: the number of entries of an action.
        inputs: the number of entries of p.
    """

    actions: int
    inputs: int

    @abstractmethod
    def __call__(self, t: Any, q: Any, v: Any, p: Any) -> list[Any]:
        """The joint forces, over scalars.

        Arguments:
            t: the time since the action began, s.
            q, v: the state.
            p: the inputs.

        Returns:
            A list of nv forces.
        """


class Forces(Motors):
    """Actions that are joint forces; p is the action.

    Arguments:
        strength: the joint forces of an action of one, (nv,); a joint of strength zero is passive
            and has no action.
        nv: the number of velocities.

    Attributes:
        actions, inputs: as of `Motors`.
    """

    def __init__(self, strength: Array, nv: int) -> None:
        self._strength = finite_state("motors", strength, nv).tolist()
        self.actions = self.inputs = int(np.count_nonzero(self._strength))

    def __call__(self, t: Any, q: Any, v: Any, p: Any) -> list[Any]:
        given = iter(p)
        return [force * next(given) if force else 0.0 for force in self._strength]


class Controls(Actuated, Motors):
    """Actions that are controls of the robot's actuators: -1 and 1 are the ends of their ranges.

    Arguments:
        robot: the robot with the actuators, none of which has an activation.
        unit: the control of an action of one, for actuators whose control has no range.

    Attributes:
        actions, inputs: as of `Motors`.
    """

    def __init__(self, robot: Robot, *, unit: float = 1.0) -> None:
        check_robot(robot)
        super().__init__(robot)
        if activations := robot.actuation.activations:
            raise KinetreeError(
                f"Controls: actuator {activations[0]!r} of robot {robot.name!r} has an activation, "
                "a state that environments do not have"
            )
        width = number("unit", unit, above=0.0)
        bounds = robot.actuation.ranges.control
        ranged = np.isfinite(bounds).all(axis=1, keepdims=True)
        lower, upper = np.where(ranged, bounds, [-width, width]).T
        self._middle, self._half = (lower + upper) / 2.0, (upper - lower) / 2.0
        self.actions = self.inputs = len(self._half)

    @property
    def _key(self) -> tuple[Any, ...]:
        return *super()._key, *self._middle, *self._half

    def _controls(self, t: Any, q: Any, v: Any, p: Any, memory: Any) -> tuple[list[Any], list[Any]]:
        scales = zip(p, self._middle.tolist(), self._half.tolist(), strict=True)
        return [middle + half * x for x, middle, half in scales], []


@dataclass(frozen=True)
class _Servo:
    """One joint: the indices of its coordinate and velocity, and the numbers of `Servos`."""

    q: int
    v: int
    rest: float
    reach: float
    stiffness: float
    damping: float
    effort: float


class Servos(Motors):
    """Actions that are targets of joint positions, rest + reach action, followed by PD control.

    p has the action, the action before, which acts until the latency is over, the latency (s) and
    a factor of stiffness and damping.

    Arguments:
        robot: what is driven. Forces are limited to its effort limits.
        rest: the target positions of actions of zero, by the names of joints with one coordinate.
            Other joints are passive.
        reach: the target's distance from rest at an action of one, rad (or m), of all joints or by
            name.
        stiffness, damping: N m/rad and N m s (N/m and N s/m for sliding joints).

    Attributes:
        joints: the names of the joints that are driven.
        q_at, v_at: the indices of their coordinates and velocities.
        rest: their positions for actions of zero.
        effort: the largest force of each.
        actions, inputs: as of `Motors`.
    """

    def __init__(
        self,
        robot: Robot,
        rest: dict[str, float],
        *,
        reach: float | dict[str, float] = 0.5,
        stiffness: float = 60.0,
        damping: float = 1.5,
    ) -> None:
        gains = [number("stiffness", stiffness), number("damping", damping)]
        reaches = reach if isinstance(reach, dict) else dict.fromkeys(rest, reach)
        self._nv = robot.nv
        self._servos = [_servo(robot, name, (x, reaches[name], *gains)) for name, x in rest.items()]
        self.joints = tuple(rest)
        self.q_at = [servo.q for servo in self._servos]
        self.v_at = [servo.v for servo in self._servos]
        self.rest = np.array([servo.rest for servo in self._servos])
        self.effort = np.array([servo.effort for servo in self._servos])
        self.actions = len(self._servos)
        self.inputs = 2 * self.actions + 2

    def pack(self, action: Array, before: Array, latency: Array, gain: Array) -> Array:
        """The inputs p.

        Arguments:
            action, before: this action and the last one, (..., actions).
            latency: the time for which the last one still acts, s, (...).
            gain: the factor of stiffness and damping, (...).

        Returns:
            (..., inputs).
        """
        return np.concatenate([action, before, latency[..., None], gain[..., None]], axis=-1)

    def __call__(self, t: Any, q: Any, v: Any, p: Any) -> list[Any]:
        n = self.actions
        late, gain = less(t, p[2 * n]), p[2 * n + 1]
        tau: list[Any] = [0.0] * self._nv
        for i, servo in enumerate(self._servos):
            target = servo.rest + servo.reach * select(late, p[n + i], p[i])
            pull = servo.stiffness * (target - q[servo.q]) - servo.damping * v[servo.v]
            tau[servo.v] = minimum(maximum(gain * pull, -servo.effort), servo.effort)
        return tau


def _servo(robot: Robot, name: str, numbers: Sequence[float]) -> _Servo:
    """The servo of a joint.

    Arguments:
        numbers: rest, reach, stiffness and damping.
    """
    bodies = {body.joint_name: i for i, body in enumerate(robot.model.bodies)}
    if not among(name, bodies):
        raise unknown("joint", name, bodies, f"robot {robot.name!r}")
    i, model = bodies[name], robot.model
    at = model.q_slices[i].start, model.v_slices[i].start
    rest, reach, stiffness, damping = numbers
    effort = model.bodies[i].limits.effort
    return _Servo(*at, number("rest", rest), number("reach", reach), stiffness, damping, effort)
