"""A batch of environments for Stable-Baselines3: one compiled call moves all of them.

A. Raffin et al., Stable-Baselines3: reliable reinforcement learning implementations (2021). Its
`make_vec_env` calls one environment after the other; `BatchEnv` gives it the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree._optional import optional
from kinetree.bridges.robot_env import RobotEnv
from kinetree.errors import KinetreeError
from kinetree.kinds import instance
from kinetree.typing import Array

optional("stable_baselines3", "a batch for Stable-Baselines3")

from gymnasium import spaces  # noqa: E402  (only if they are there)
from stable_baselines3.common.vec_env import VecEnv  # noqa: E402


class BatchEnv(VecEnv):  # type: ignore[misc]
    """A task as a `VecEnv` of Stable-Baselines3; numbers are in single precision.

    Arguments:
        task: the environments, made with `autoreset="same_step"`.
    """

    def __init__(self, task: RobotEnv) -> None:
        self.task = instance("task", task, RobotEnv, "a RobotEnv")
        if not task.starts_at_once:
            raise KinetreeError('the task must be made with autoreset="same_step"')
        self.render_mode = task.render_mode
        self._actions: Array = np.zeros(task.action_space.shape or ())
        seen, given = (
            _single(x) for x in (task.single_observation_space, task.single_action_space)
        )
        super().__init__(task.num_envs, seen, given)

    def reset(self) -> Array:
        """Start all episodes.

        Returns:
            The observations, (num_envs, observations).
        """
        seed = self._seeds[0]
        self._reset_seeds()
        return self.task.reset(seed=seed)[0].astype(np.float32)

    def step_async(self, actions: Array) -> None:
        """Keep actions for `step_wait`.

        Arguments:
            actions: (num_envs, actions).
        """
        self._actions = np.asarray(actions, float)

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Hold the actions.

        Returns:
            Observations, rewards, whether episodes have ended, and a dictionary for each
            environment, with "terminal_observation" and "TimeLimit.truncated" after an end.
        """
        seen, rewards, terminated, truncated, info = self.task.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        over = terminated | truncated
        for k in np.flatnonzero(over):
            infos[k]["terminal_observation"] = info["final_obs"][k].astype(np.float32)
            infos[k]["TimeLimit.truncated"] = bool(truncated[k] and not terminated[k])
        return seen.astype(np.float32), rewards.astype(np.float32), over, infos

    def get_images(self) -> Sequence[Any]:
        """Pictures of all environments.

        Returns:
            (height, width, 3) each, of bytes.
        """
        return self.task.render() or [None] * self.num_envs

    def close(self) -> None:
        """Nothing is open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the task, for each environment.

        Arguments:
            attr_name: its name.
            indices: of environments; all by default.

        Returns:
            The same value for each.
        """
        return [getattr(self.task, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the task, for all environments.

        Arguments:
            attr_name: its name.
            value: the new value.
            indices: not used: environments share their task.
        """
        setattr(self.task, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the task once.

        Arguments:
            method_name: its name.
            method_args, method_kwargs: its arguments.
            indices: of environments; all by default.

        Returns:
            The same result for each.
        """
        found = getattr(self.task, method_name)(*method_args, **method_kwargs)
        return [found] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Whether environments are wrapped, which they are not.

        Arguments:
            wrapper_class: by what.
            indices: of environments; all by default.

        Returns:
            False for each.
        """
        return [False] * len(list(self._get_indices(indices)))


def _single(space: Any) -> Any:
    """A box of numbers in single precision."""
    return spaces.Box(space.low.astype(np.float32), space.high.astype(np.float32), dtype=np.float32)
