"""Hopping: one leg in a plane that goes forward along x."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.bridges.motors import Servos
from kinetree.bridges.servo_env import ServoEnv
from kinetree.bridges.task_robots import hopper
from kinetree.robot.checks import number
from kinetree.typing import Array

LOW = 0.3  # m: the height of the hip at which it counts as fallen
TILTED = 1.0  # rad


class HopperHop(ServoEnv):
    """A hopper in a plane hops forward.

    Observations are the height of the hip, the pitch, the velocities of the body, positions and
    velocities of the joints, the last action, and the force of the foot as a share of the weight.

    Arguments:
        num_envs: the number of environments.
        speed: the demanded speed, m/s.
        options: further arguments of `ServoEnv`.
    """

    def __init__(self, num_envs: int = 1, *, speed: float = 1.0, **options: Any) -> None:
        robot = hopper()
        rest = {"thigh_joint": -0.5, "shank_joint": 1.0, "foot_joint": -0.5}
        servos = Servos(robot, rest, reach=0.8, stiffness=150.0, damping=4.0)
        self.speed, self.weight = number("speed", speed), robot.total_mass * 9.81
        super().__init__(robot, num_envs, servos, carrier="body", **options)

    def begin(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        q = rng.uniform(-0.05, 0.05, (n, self.robot.nq))
        q[:, self.servos.q_at] += self.servos.rest
        q[:, 1] -= self.robot.distances(q).min(axis=-1)  # the foot is on the ground
        return q, rng.normal(0.0, 0.05, (n, self.robot.nv))

    def push(self, kick: Array) -> None:
        self.v = self.v.copy()
        self.v[:, :2] += kick[:, [0, 2]]

    def observe(self) -> Array:
        press = self.forces[..., 2].sum(axis=-1, keepdims=True) / self.weight
        parts = [
            self.q[:, 1:3],
            0.25 * self.v[:, :3],
            self.q[:, self.servos.q_at] - self.servos.rest,
            0.05 * self.v[:, self.servos.v_at],
            self.action,
            np.clip(press, 0.0, 3.0),
        ]
        return np.concatenate(parts, axis=-1)

    def reward(self, action: Array) -> Array:
        """Rewards staying up and the demanded speed; penalises effort, tilt and fast actions."""
        effort = self.tau[:, self.servos.v_at] / self.servos.effort
        return (
            0.5
            + np.exp(-((self.v[:, 0] - self.speed) ** 2) / 0.5)
            - 0.5 * self.q[:, 2] ** 2
            - 0.05 * (effort**2).sum(axis=-1)
            - 0.01 * ((self.action - self.before) ** 2).sum(axis=-1)
        )

    def done(self) -> np.ndarray:
        """Whether the hopper has fallen: its hip is low, or its body is tilted."""
        return (self.q[:, 1] < LOW) | (np.abs(self.q[:, 2]) > TILTED)
