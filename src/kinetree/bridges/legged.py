"""Walking: robots on legs that go forward along x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree import robots
from kinetree.bridges.motors import Servos
from kinetree.bridges.servo_env import ServoEnv
from kinetree.bridges.task_robots import driven, humanoid
from kinetree.robot import Robot
from kinetree.robot.checks import number
from kinetree.typing import Array

TRACKING = 0.25
"""The squared speed error at which the reward falls to 1/e, (m/s)^2."""
SLOW = 0.05
"""Joint velocities are observed in these units, so that most are below one."""


@dataclass(frozen=True)
class Gait:
    """The stance of a robot, and the timing of its feet.

    Arguments:
        period: of a cycle of steps, s.
        phases: of each foot, from 0 to 1; a foot swings in the second half of its cycle.
        clearance: the height a swinging foot should have, m.
        height: of the base where the robot stands, m.
        lowest: the height at which it counts as fallen, m.
    """

    period: float
    phases: tuple[float, ...]
    clearance: float
    height: float
    lowest: float


class LeggedEnv(ServoEnv):
    """A batch of robots with a floating base that walk forward.

    Observations are the directions down and forward in the base's axes, the velocity of the base
    (linear and angular), positions and velocities of the joints, the last action, the force of each
    foot as a share of the weight, and a clock.

    Arguments:
        robot: what walks; each of its contact pairs is a foot on the ground.
        num_envs: the number of environments.
        servos: what drives its joints.
        gait: how it stands, and when its feet swing.
        speed: the demanded speed, m/s.
        options: further arguments of `ServoEnv`.
    """

    def __init__(
        self,
        robot: Robot,
        num_envs: int,
        servos: Servos,
        gait: Gait,
        *,
        speed: float = 0.8,
        **options: Any,
    ) -> None:
        self.gait, self.speed = gait, number("speed", speed)
        names = robot.contact.touch_pairs
        self._touches = [[k for k, x in enumerate(names) if x == p] for p in robot.contact.pairs]
        self.weight = robot.total_mass * 9.81
        root = robot.model.bodies[0].name
        super().__init__(robot, num_envs, servos, carrier=root, **options)

    def begin(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        q = np.tile(self.robot.neutral(), (n, 1))
        q[:, 2] = self.gait.height
        yaw = rng.uniform(-0.1, 0.1, n)
        q[:, 5], q[:, 6] = np.sin(yaw / 2), np.cos(yaw / 2)
        q[:, self.servos.q_at] = self.servos.rest
        q[:, self.servos.q_at] += rng.uniform(-0.1, 0.1, (n, self.servos.actions))
        q[:, 2] -= self.robot.distances(q).min(axis=-1)  # the lowest foot is on the ground
        return q, rng.normal(0.0, 0.05, (n, self.robot.nv))

    def start(self, rng: np.random.Generator, which: Any) -> tuple[Array, Array]:
        if not hasattr(self, "clock"):
            self.clock = np.zeros(self.num_envs)
        self.clock[which] = rng.uniform(0.0, 1.0, len(which))
        return super().start(rng, which)

    def inputs(self, action: Array) -> Array:
        self.clock = (self.clock + self.dt * self.substeps / self.gait.period) % 1.0
        return super().inputs(action)

    def sense(self) -> None:
        super().sense()
        self.forward, _, self.up = _axes(self.q[:, 3:7])
        self.velocity = np.stack(
            [(axis * self.v[:, :3]).sum(axis=-1) for axis in _axes(self.q[:, 3:7])], axis=-1
        )  # of the base, in the world's axes
        distances = self.robot.distances(self.q)
        self.clearance = np.stack([distances[:, k].min(axis=-1) for k in self._touches], axis=-1)
        self.pressure = np.stack([self.forces[:, k, 2].sum(axis=-1) for k in self._touches], -1)

    @property
    def swinging(self) -> Array:
        """Which feet should swing now, (num_envs, feet)."""
        return (self.clock[:, None] + np.array(self.gait.phases)) % 1.0 > 0.5

    def observe(self) -> Array:
        at = 2.0 * np.pi * self.clock[:, None]
        parts = [
            -self.up,
            self.forward,
            self.v[:, :3],
            0.25 * self.v[:, 3:6],
            self.q[:, self.servos.q_at] - self.servos.rest,
            SLOW * self.v[:, self.servos.v_at],
            self.action,
            np.clip(self.pressure / self.weight, 0.0, 3.0),
            np.sin(at),
            np.cos(at),
        ]
        return np.concatenate(parts, axis=-1)

    def terms(self) -> dict[str, Array]:
        """The terms of the reward by name; the reward is their sum.

        Returns:
            (num_envs,) each.
        """
        forward, aside, upward = self.velocity.T
        effort = self.tau[:, self.servos.v_at] / self.servos.effort
        right = np.where(self.swinging, self.pressure <= 0.0, self.pressure > 0.0)
        off = np.abs(self.clearance / self.gait.clearance - 1.0)
        lifted = np.maximum(1.0 - off, 0.0) * self.swinging
        return {
            "speed": np.exp(-((forward - self.speed) ** 2) / TRACKING),
            "aside": -1.0 * aside**2 - 0.5 * (1.0 - self.forward[:, 0]),
            "bounce": -0.5 * upward**2 - 0.02 * (self.v[:, 3:6] ** 2).sum(axis=-1),
            "tilt": -1.0 * (1.0 - self.up[:, 2]),
            "height": -10.0 * (self.q[:, 2] - self.gait.height) ** 2,
            "posture": -0.05 * ((self.q[:, self.servos.q_at] - self.servos.rest) ** 2).sum(axis=-1),
            "effort": -0.05 * (effort**2).sum(axis=-1),
            "smoothness": -0.02 * ((self.action - self.before) ** 2).sum(axis=-1),
            "steps": 0.6 * right.mean(axis=-1) + 0.6 * lifted.mean(axis=-1),
        }

    def reward(self, action: Array) -> Array:
        """Rewards the demanded speed and timely steps; penalises effort, tilt and fast actions."""
        return np.sum(list(self.terms().values()), axis=0)

    def done(self) -> np.ndarray:
        """Whether the robot has fallen: its base is low, or tilted by more than 60 degrees."""
        return (self.q[:, 2] < self.gait.lowest) | (self.up[:, 2] < 0.5)


class QuadrupedWalk(LeggedEnv):
    """The built-in quadruped trots forward.

    Arguments:
        num_envs: the number of environments.
        friction: of the ground.
        options: further arguments of `LeggedEnv` and `ServoEnv`.
    """

    def __init__(self, num_envs: int = 1, *, friction: float = 0.8, **options: Any) -> None:
        robot = driven(robots.quadruped(), 0.01, 0.1).on_ground(friction=friction)
        pose = {"hip": 0.0, "thigh": 0.8, "shank": -1.6}
        legs = ("front_left", "front_right", "hind_left", "hind_right")
        rest = {f"{leg}_{part}_joint": x for leg in legs for part, x in pose.items()}
        servos = Servos(robot, rest, reach=0.5, stiffness=60.0, damping=1.5)
        gait = Gait(0.5, (0.0, 0.5, 0.5, 0.0), 0.05, 0.29, 0.16)
        super().__init__(robot, num_envs, servos, gait, **options)


class HumanoidWalk(LeggedEnv):
    """A humanoid with legs of five joints walks forward.

    Arguments:
        num_envs: the number of environments.
        options: further arguments of `LeggedEnv` and `ServoEnv`.
    """

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        robot = humanoid()
        pose = {"hip": 0.0, "thigh": -0.25, "shank": 0.5, "ankle": -0.25, "foot": 0.0, "arm": 0.0}
        sides = ("left", "right")
        rest = {f"{side}_{part}_joint": x for side in sides for part, x in pose.items()}
        servos = Servos(robot, rest, reach=0.6, stiffness=600.0, damping=15.0)
        gait = Gait(0.8, (0.0, 0.5), 0.08, 0.86, 0.5)
        super().__init__(robot, num_envs, servos, gait, **options)


def _axes(quaternion: Array) -> tuple[Array, Array, Array]:
    """The world's axes in those of the base, (n, 3) each.

    Arguments:
        quaternion: of the base, scalar last, (n, 4).
    """
    x, y, z, w = quaternion.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    first, second, third = (np.stack(row, axis=-1) for row in rows)
    return first, second, third
