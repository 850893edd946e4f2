"""One environment of a task as a `gymnasium.Env`, and the tasks by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from kinetree._optional import optional
from kinetree.bridges.gym_names import TASKS
from kinetree.bridges.robot_env import RobotEnv
from kinetree.errors import unknown
from kinetree.kinds import instance
from kinetree.typing import Array

optional("gymnasium", "an environment for learning")

from gymnasium import Env  # noqa: E402  (only if it is there)


class SingleEnv(Env):
    """One environment of a task.

    Arguments:
        task: the task, with one environment.
    """

    def __init__(self, task: RobotEnv) -> None:
        self.task = instance("task", task, RobotEnv, "a RobotEnv with one environment")
        self.observation_space = task.single_observation_space
        self.action_space = task.single_action_space
        self.metadata = {k: x for k, x in task.metadata.items() if k != "autoreset_mode"}
        self.render_mode = task.render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start an episode.

        Arguments:
            seed: of the random initial state; the generator continues if None.
            options: not used; part of gymnasium's interface.

        Returns:
            The observation, and an empty dictionary.
        """
        super().reset(seed=seed)
        seen, info = self.task.reset(seed=seed)
        return seen[0], info

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Hold an action.

        Arguments:
            action: (actions,), each entry between -1 and 1.

        Returns:
            The observation, the reward, whether the episode is done, whether its time is up, and an
            empty dictionary.
        """
        found = self.task.step(np.asarray(action)[None])
        seen, reward, terminated, truncated, info = found
        return seen[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> Any:
        """A picture of the environment, if `render_mode` asks for it.

        Returns:
            (height, width, 3), of bytes; or None.
        """
        pictures = self.task.render()
        return None if pictures is None else pictures[0]


def single(task: str, **options: Any) -> SingleEnv:
    """One environment of a task, for `gymnasium.make`.

    Arguments:
        task: its name, such as "ReachingArm".
        options: of the task.

    Returns:
        The environment.
    """
    return SingleEnv(vector(task, 1, **options))


def vector(task: str, num_envs: int = 1, **options: Any) -> RobotEnv:
    """A batch of environments of a task, for `gymnasium.make_vec`.

    Arguments:
        task: its name, such as "ReachingArm".
        num_envs: the number of environments.
        options: of the task.

    Returns:
        The environments.
    """
    if task not in TASKS:
        raise unknown("task", task, TASKS, "kinetree.bridges")
    module = import_module(f"kinetree.bridges.{TASKS[task]}")
    made: RobotEnv = getattr(module, task)(num_envs, **options)
    return made
