"""Lifting: a gripper takes a block from the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.bridges.motors import Servos
from kinetree.bridges.servo_env import ServoEnv
from kinetree.bridges.task_robots import BLOCK, gripper
from kinetree.typing import Array

GOAL = 0.2
"""The height to which the block is to be lifted, m."""
LOST = 0.1
"""The block is lost if it is farther than this from the middle, m."""


class GripperLift(ServoEnv):
    """A gripper with two fingers lifts a block.

    Actions are targets of the palm's height and of both fingers, which close with positive ones.
    Observations are positions and velocities of palm and fingers, the place of the block relative
    to the palm, the direction up in the block's axes, its velocity, the last action, and the force
    of each finger on the block in units of its weight.

    Arguments:
        num_envs: the number of environments.
        options: further arguments of `ServoEnv`; random loads are put into the block.
    """

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        robot = gripper()
        rest = {"palm_joint": 0.2, "left_finger_joint": 0.0, "right_finger_joint": 0.0}
        reach = {"palm_joint": 0.2, "left_finger_joint": 0.06, "right_finger_joint": 0.06}
        servos = Servos(robot, rest, reach=reach, stiffness=800.0, damping=40.0)
        model = robot.model
        i = [body.name for body in model.bodies].index("block")
        self._block, self._motion = model.q_slices[i], model.v_slices[i]
        self.weight = float(model.bodies[i].inertia.mass) * 9.81
        names = robot.contact.touch_names
        self._fingers = [k for k, name in enumerate(names) if "finger" in name]
        given = {"dt": 0.002, "substeps": 10, "episode": 200} | options
        super().__init__(robot, num_envs, servos, carrier="block", surface="block", **given)

    def begin(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        q = np.tile(self.robot.neutral(), (n, 1))
        q[:, self.servos.q_at] = self.servos.rest
        q[:, self.servos.q_at[0]] += rng.uniform(-0.05, 0.05, n)
        yaw = rng.uniform(-0.1, 0.1, n)
        block = q[:, self._block]  # a view
        block[:, :2], block[:, 2] = rng.uniform(-0.01, 0.01, (n, 2)), BLOCK
        block[:, 5], block[:, 6] = np.sin(yaw / 2), np.cos(yaw / 2)
        return q, np.zeros((n, self.robot.nv))

    def push(self, kick: Array) -> None:
        self.v = self.v.copy()
        self.v[:, self._motion][:, :3] += kick

    @property
    def lifted(self) -> Array:
        """The height of the block above the ground, m, (num_envs,)."""
        found: Array = self._place[:, 2] - BLOCK
        return found

    @property
    def _place(self) -> Array:
        """The position of the block, (num_envs, 3)."""
        return self.q[:, self._block][:, :3]

    @property
    def _palm(self) -> Array:
        """The height of the palm, (num_envs,)."""
        return self.q[:, self.servos.q_at[0]]

    @property
    def _grips(self) -> Array:
        """The force of each finger on the block in units of its weight, (num_envs, 2)."""
        force = np.linalg.norm(self.forces[:, self._fingers], axis=-1) / self.weight
        return force.reshape(self.num_envs, 2, -1).sum(axis=-1)

    def observe(self) -> Array:
        x, y, z, w = self.q[:, self._block][:, 3:].T
        up = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=-1)
        away = self._place - self._palm[:, None] * np.array([0.0, 0.0, 1.0])
        parts = [
            10.0 * (self.q[:, self.servos.q_at] - self.servos.rest),
            self.v[:, self.servos.v_at],
            10.0 * away,
            up,
            self.v[:, self._motion],
            self.action,
            np.clip(self._grips, 0.0, 10.0),
        ]
        return np.concatenate(parts, axis=-1)

    def reward(self, action: Array) -> Array:
        """Rewards a palm at the block, a grip, and the block's height; penalises fast actions."""
        gap = np.abs(self._place[:, 2] - self._palm)
        return (
            0.2 * np.exp(-gap / 0.05)
            + 0.2 * np.minimum(self._grips.min(axis=-1), 1.0)
            + np.clip(self.lifted / GOAL, 0.0, 1.0)
            - 0.01 * ((self.action - self.before) ** 2).sum(axis=-1)
        )

    def done(self) -> np.ndarray:
        """Whether the block is lost."""
        return np.any(np.abs(self._place[:, :2]) > LOST, axis=-1)
