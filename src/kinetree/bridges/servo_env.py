"""Environments whose actions are targets of servos, with touch sensors and random differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.bridges.motors import Servos
from kinetree.bridges.robot_env import RobotEnv
from kinetree.bridges.variation import SAME, Variation, factors
from kinetree.kinds import instance
from kinetree.model.parameters import Friction, Parameter, Payload
from kinetree.robot import Robot
from kinetree.typing import Array


class ServoEnv(RobotEnv):
    """A batch of robots with servos and contacts.

    A subclass gives `begin` instead of `start`, and the other methods of `RobotEnv`.

    Arguments:
        robot: what moves.
        num_envs: the number of environments.
        servos: what drives its joints.
        carrier: the frame that carries random loads.
        surface: the collider that has random friction.
        variation: the differences between environments.
        options: further arguments of `RobotEnv`.

    Attributes:
        action, before: the last action and the one before, (num_envs, actions).
        tau: the joint forces, (num_envs, nv).
        forces: those of the contacts, (num_envs, ntouches, 3), in the order of
            `robot.contact.touch_names`.
    """

    def __init__(
        self,
        robot: Robot,
        num_envs: int,
        servos: Servos,
        *,
        carrier: str,
        surface: str = "ground",
        variation: Variation = SAME,
        **options: Any,
    ) -> None:
        self.servos = servos
        self.variation = instance("variation", variation, Variation, "a Variation")
        parameters: list[Parameter] = [Payload(carrier)] if variation.load else []
        parameters += [Friction(surface)] if variation.friction else []
        given = {"dt": 0.004, "substeps": 5, "episode": 500} | options
        super().__init__(
            robot,
            num_envs,
            servos,
            parameters=parameters,
            record=["contact_forces"],
            **given,
        )

    def begin(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Initial states.

        Arguments:
            rng: a random generator.
            n: how many.

        Returns:
            q (n, nq) and v (n, nv).
        """
        raise NotImplementedError

    def start(self, rng: np.random.Generator, which: Any) -> tuple[Array, Array]:
        n = len(which)
        if not hasattr(self, "action"):
            self.action = np.zeros((self.num_envs, self.servos.actions))
            self.before = self.action.copy()
            self._gain, self._latency = np.ones(self.num_envs), np.zeros(self.num_envs)
        self.action[which] = self.before[which] = 0.0
        varied = self.variation
        self._gain[which] = factors(rng, varied.gain, n)
        self._latency[which] = rng.uniform(0.0, varied.latency, n)
        if varied.load:
            self.numbers[which, :10] = varied.loads(rng, n)
        if varied.friction:
            self.numbers[which, -1] = self.nominal[-1] * factors(rng, varied.friction, n)
        return self.begin(rng, n)

    def inputs(self, action: Array) -> Array:
        self.before, self.action = self.action, action.copy()
        if self.variation.push:
            held = self.dt * self.substeps
            self.push(self.variation.kicks(self.np_random, self.num_envs, held))
        return self.servos.pack(self.action, self.before, self._latency, self._gain)

    def push(self, kick: Array) -> None:
        """Change the velocity of the pushed body: a floating base by default.

        Arguments:
            kick: (num_envs, 3), m/s.
        """
        self.v = self.v.copy()
        self.v[:, :3] += kick

    def sense(self) -> None:
        p = self.servos.pack(self.action, self.action, self._latency, self._gain)
        self.tau, self.forces = self.sensed(p)
