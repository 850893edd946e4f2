"""Robots as environments for learning: `gymnasium.vector.VectorEnv` over compiled steps.

Every environment of a batch is one lane of a kernel; an action is held for some steps of time. An
episode ends when `done` says so or its state diverges (termination), or when its time is up
(truncation). The next one starts with the step after its end, or at once, as `autoreset` says.
`SingleEnv` makes a `gymnasium.Env` of a batch of one, so a task is one class for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kinetree._lazy import cached_property
from kinetree._optional import optional
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.bridges.motors import Forces, Motors
from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.errors import KinetreeError, ShapeError, StateError, among, unknown
from kinetree.kinds import members
from kinetree.model.parameters import Parameter
from kinetree.robot import Robot
from kinetree.robot.checks import count, number, real_array, spread
from kinetree.robot.core import check_robot
from kinetree.show.offscreen import OffScreen
from kinetree.simulate.closed_loop import ClosedLoop, LoopSettings
from kinetree.simulate.records import records
from kinetree.simulate.time_loop import NEVER, forward_loop
from kinetree.typing import Array, StepMethod

optional("gymnasium", "an environment for learning")

from gymnasium import spaces  # noqa: E402  (only if it is there)
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402

RESETS = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP}


class RobotEnv(VectorEnv):
    """A batch of robots driven by actions.

    A subclass gives `start`, `observe` and `reward`, and `done` if an episode can end early.

    Arguments:
        robot: what moves.
        num_envs: the number of environments.
        motors: the joint forces of an action of one, (nv,); a joint of strength zero is passive
            and has no action. Or `Servos`, `Controls` of its actuators, or other `Motors`.
        dt, substeps: an action is held for `substeps` steps of length dt, s.
        method, enforcement, contact: as in `Robot.simulate`.
        parameters: those of the model that differ between environments; `numbers` has them.
        record: the quantities that `sensed` returns, as in `Robot.simulate`.
        episode: the number of actions in an episode.
        render_mode: "rgb_array" for pictures by `render`, or None.
        autoreset: when the next episode starts: "next_step" or "same_step", or gymnasium's
            `AutoresetMode` of that name.

    Attributes:
        q, v: the states, (num_envs, nq) and (num_envs, nv).
        numbers: the model's parameters, (num_envs, n).
        nominal: those of the given robot, (n,).
        starts_at_once: whether an episode starts in the step in which the last one ends.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as gymnasium has it
        "render_modes": ["rgb_array"],
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        robot: Robot,
        num_envs: int,
        motors: Array | Motors,
        *,
        dt: float = 0.01,
        substeps: int = 2,
        method: StepMethod = "euler",
        enforcement: Enforcement = FREE,
        contact: ContactSolver | bool = SOLVER,
        parameters: Sequence[Parameter] = (),
        record: Sequence[Any] = (),
        episode: int = 250,
        render_mode: Literal["rgb_array"] | None = None,
        autoreset: Literal["next_step", "same_step"] | AutoresetMode = "next_step",
    ) -> None:
        check_robot(robot)
        mode = autoreset.name.lower() if isinstance(autoreset, AutoresetMode) else autoreset
        if not among(mode, RESETS):
            raise unknown("autoreset", autoreset, RESETS, type(self).__name__)
        if render_mode not in (None, "rgb_array"):
            raise unknown("render_mode", render_mode, ["rgb_array"], type(self).__name__)
        self.render_mode = render_mode
        self.robot, self.num_envs = robot, count("num_envs", num_envs)
        self.dt, self.substeps = number("dt", dt, above=0.0), count("substeps", substeps)
        self.episode = count("episode", episode)
        self.q: Array
        self.v: Array
        self._age: npt.NDArray[np.integer[Any]]
        self._over: npt.NDArray[np.bool_]
        law = motors if isinstance(motors, Motors) else Forces(motors, robot.nv)
        varied = members("parameters", parameters, Parameter, "a list of a model's parameters")
        settings = LoopSettings(
            controller=law,
            p_length=law.inputs,
            method=method,
            enforcement=enforcement,
            contact=contact,
            records=records(robot, record, law),
            parameters=varied,
        )
        self._loop = ClosedLoop(robot, settings)
        nominal = [x for parameter in varied for x in parameter.nominal(robot.model)]
        self.nominal = np.array(nominal, float)
        self.numbers = np.tile(self.nominal, (num_envs, 1))
        self.single_action_space = spaces.Box(-1.0, 1.0, (law.actions,), np.float64)
        self.starts_at_once = mode == "same_step"
        self.metadata = self.metadata | {
            "render_fps": round(1.0 / (self.dt * self.substeps)),
            "autoreset_mode": RESETS[mode],
        }
        self._reset_all(np.random.default_rng(0))
        size = self._observed().shape[-1]
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    # the definition of a task

    def start(self, rng: np.random.Generator, which: Any) -> tuple[Array, Array]:
        """Initial states of some environments.

        Arguments:
            rng: a random generator.
            which: the indices of the n environments.

        Returns:
            q (n, nq) and v (n, nv).
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method start(rng, which)")

    def observe(self) -> Array:
        """The observations of the states self.q and self.v.

        Returns:
            (num_envs, observations).
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method observe()")

    def reward(self, action: Array) -> Array:
        """The rewards of the states self.q and self.v.

        Arguments:
            action: the last action, (num_envs, actions).

        Returns:
            (num_envs,).
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method reward(action)")

    def done(self) -> np.ndarray:
        """Which environments have ended, at the states self.q and self.v; none by default.

        Returns:
            (num_envs,), of truth values.
        """
        return np.zeros(self.num_envs, bool)

    def inputs(self, action: Array) -> Array:
        """The inputs p of the motors for an action; the action itself by default.

        Arguments:
            action: (num_envs, actions).

        Returns:
            (num_envs, inputs).
        """
        return action

    def sense(self) -> None:
        """Called once for new states self.q and self.v, before they are observed and rewarded."""

    def sensed(self, p: Array) -> tuple[Array, ...]:
        """The joint forces at the states self.q and self.v, and the quantities of `record`.

        Arguments:
            p: the inputs of the motors, (num_envs, inputs).

        Returns:
            tau, (num_envs, nv), and an array for each record.
        """
        numbers = [self.numbers] if self.numbers.size else []
        held = self.dt * self.substeps
        found = self._loop.observe_kernel(held, self.q, self.v, p, *numbers)
        return found if isinstance(found, tuple) else (found,)

    # gymnasium's interface

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start all episodes anew.

        Arguments:
            seed: of the random initial states; the generator continues if None.
            options: not used; part of gymnasium's interface.

        Returns:
            The observations, and an empty dictionary.
        """
        super().reset(seed=None if seed is None else count("seed", seed, 0))
        self._reset_all(self.np_random)
        return self._observed(), {}

    def step(self, action: Array) -> tuple[Array, Array, Any, Any, dict[str, Any]]:
        """Hold an action for `substeps` steps.

        Arguments:
            action: (num_envs, actions), each entry between -1 and 1.

        Returns:
            Observations, rewards, whether each environment is done (or its state diverged),
            whether its time is up, and a dictionary. The step after an end ignores the action,
            starts the episode anew and has no reward. With "same_step", episodes start anew at
            once: then the observations are the first of the new ones, and the dictionary has the
            last of the old ones, "final_obs", and for which environments, "_final_obs".
        """
        actions = real_array("action", action)
        if np.isnan(actions).any():
            raise StateError("action holds nan; numbers are expected")
        if actions.size != np.prod(self.action_space.shape or (1,), dtype=int):
            raise ShapeError(
                f"action has shape {actions.shape}; {self.action_space.shape} is expected"
            )
        given = np.clip(actions.reshape(self.num_envs, -1), -1.0, 1.0)
        over, q, v = self._over, self.q, self.v
        self._advance(self.inputs(given))
        lost = ~np.isfinite(self.q).all(axis=-1) | ~np.isfinite(self.v).all(axis=-1)
        self.q[lost], self.v[lost] = q[lost], v[lost]  # the last finite state
        again = np.flatnonzero(over)
        if again.size:
            self.q[again], self.v[again] = self._started(self.np_random, again)
        self._age = np.where(over, 0, self._age + 1)
        self.sense()
        terminated = (lost | self._answer("done", self.done()).astype(bool)) & ~over
        truncated = (self._age >= self.episode) & ~over
        self._over = terminated | truncated
        reward = np.where(over, 0.0, self._answer("reward", self.reward(given)))
        seen, info = self._observed(), dict[str, Any]()
        if self.starts_at_once and self._over.any():
            info = {"final_obs": seen, "_final_obs": self._over}
            seen = self._start_anew(np.flatnonzero(self._over))
        return seen, reward, terminated, truncated, info

    def _start_anew(self, which: npt.NDArray[np.integer[Any]]) -> Array:
        """Start episodes; the observations after that, (num_envs, observations)."""
        self.q, self.v = self.q.copy(), self.v.copy()
        self.q[which], self.v[which] = self._started(self.np_random, which)
        self._age = self._age.copy()
        self._age[which], self._over = 0, np.zeros(self.num_envs, bool)
        self.sense()
        return self._observed()

    # what a task's methods return

    def _started(
        self, rng: np.random.Generator, which: npt.NDArray[np.integer[Any]]
    ) -> tuple[Array, Array]:
        """The states of `start`, (n, nq) and (n, nv)."""
        found: Any = self.start(rng, which)
        name = f"{type(self).__name__}.start"
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise KinetreeError(f"{name} must return q and v, got {found!r}")
        lengths = self.robot.nq, self.robot.nv
        q, v = (
            spread(f"{part} of {name}", x, (len(which), n))
            for part, x, n in zip("qv", found, lengths, strict=True)
        )
        return q.copy(), v.copy()

    def _observed(self) -> Array:
        """The observations of `observe`, (num_envs, n)."""
        name = f"what {type(self).__name__}.observe returns"
        found = real_array(name, self.observe())
        if found.ndim != 2 or len(found) != self.num_envs:
            raise ShapeError(f"{name} has shape {found.shape}; ({self.num_envs}, n) is expected")
        return found

    def _answer(self, method: str, found: Any) -> Array:
        """A number for each environment, or one for all: what `reward` or `done` returns."""
        name = f"what {type(self).__name__}.{method} returns"
        array = real_array(name, found)
        if array.shape not in ((), (self.num_envs,)):
            raise ShapeError(f"{name} has shape {array.shape}; ({self.num_envs},) is expected")
        return array

    def render(self) -> tuple[Any, ...] | None:
        """Pictures of all environments, if `render_mode` asks for them.

        Returns:
            (height, width, 3) each, of bytes; or None.
        """
        if self.render_mode is None:
            return None
        return tuple(self._camera.picture(q) for q in self.q)

    def _advance(self, p: Array) -> None:
        """Move the states by the steps of an action, in one call for all environments."""
        n = self.num_envs
        numbers = [self.numbers] if self.numbers.size else []
        states = [np.zeros(n), self.q, self.v, np.full(n, NEVER), np.array(self.dt), p, *numbers]
        found = self._time_loop(states, n, self.substeps, self.substeps).final
        _, self.q, self.v, _ = found.values()

    @cached_property
    def _time_loop(self) -> TimeLoop:
        return forward_loop(self._loop, series=False, watched=False)

    @cached_property
    def _camera(self) -> OffScreen:
        return OffScreen(
            self.robot, framed=self._started(np.random.default_rng(0), np.arange(1))[0]
        )

    def _reset_all(self, rng: np.random.Generator) -> None:
        self._age, self._over = np.zeros(self.num_envs, int), np.zeros(self.num_envs, bool)
        self.q, self.v = self._started(rng, np.arange(self.num_envs))
        self.sense()
