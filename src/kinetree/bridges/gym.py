"""Robots as environments for learning: `gymnasium.vector.VectorEnv` over compiled steps.

Every environment of a batch is one lane of a kernel; an action is held for some steps of time. An
episode ends by time alone (truncation), and starts anew with the step after its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree import robots
from kinetree._optional import optional
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.errors import ShapeError
from kinetree.joints import Revolute
from kinetree.kinds import function, instance
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robot.checks import count, finite_state, number, real_array
from kinetree.robot.core import check_robot
from kinetree.simulate.closed_loop import ClosedLoop, LoopSettings
from kinetree.typing import Array, StepMethod

optional("gymnasium", "an environment for learning")

from gymnasium import spaces  # noqa: E402  (only if it is there)
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402


class RobotEnv(VectorEnv):
    """A batch of robots driven by actions.

    A subclass gives `start`, `observe` and `reward`.

    Arguments:
        robot: what moves.
        num_envs: the number of environments.
        strength: the joint forces of an action of one, (nv,); a joint of strength zero is passive
            and has no action.
        dt, substeps, method, limits: an action is held for `substeps` steps of length dt; method
            and limits are those of `Robot.simulate`.
        episode: the number of actions in an episode.

    A subclass gives `start`, `observe` and `reward`.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - as gymnasium has it

    def __init__(
        self,
        robot: Robot,
        num_envs: int,
        strength: Array,
        *,
        dt: float = 0.01,
        substeps: int = 2,
        method: StepMethod = "euler",
        limits: Enforcement = FREE,
        episode: int = 250,
    ) -> None:
        check_robot(robot)
        self.robot, self.num_envs = robot, count("num_envs", num_envs)
        self.dt, self.substeps = number("dt", dt, above=0.0), count("substeps", substeps)
        self.episode = count("episode", episode)
        strength = finite_state("strength", strength, robot.nv)
        self.q: Array
        self.v: Array
        driven = np.flatnonzero(strength)
        forces = {int(k): float(strength[k]) for k in driven}
        order = {k: i for i, k in enumerate(forces)}

        def drive(t: Any, q: Any, v: Any, p: Any) -> list[Any]:
            return [forces[k] * p[order[k]] if k in forces else 0.0 for k in range(robot.nv)]

        settings = LoopSettings(controller=drive, inputs=len(driven), method=method, limits=limits)
        self._loop = ClosedLoop(robot, settings)
        self.single_action_space = spaces.Box(-1.0, 1.0, (len(driven),), np.float64)
        self._reset_all(np.random.default_rng(0))
        size = self.observe().shape[-1]
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    # what a task is

    def start(self, rng: np.random.Generator, which: Any) -> tuple[Array, Array]:
        """Initial states of some environments.

        Arguments:
            rng: a random generator.
            which: the numbers of the n environments.

        Returns:
            q (n, nq) and v (n, nv).
        """
        raise NotImplementedError

    def observe(self) -> Array:
        """The observations of the states self.q and self.v.

        Returns:
            (num_envs, observations).
        """
        raise NotImplementedError

    def reward(self, action: Array) -> Array:
        """The rewards of the states self.q and self.v.

        Arguments:
            action: the last action, (num_envs, actions).

        Returns:
            (num_envs,).
        """
        raise NotImplementedError

    # what gymnasium asks for

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
        return self.observe(), {}

    def step(self, action: Array) -> tuple[Array, Array, Any, Any, dict[str, Any]]:
        """Hold an action for `substeps` steps.

        Arguments:
            action: (num_envs, actions), each entry between -1 and 1.

        Returns:
            Observations, rewards, whether each environment's state diverged, whether its time is
            up, and an empty dictionary.
        """
        actions = real_array("action", action)
        if actions.size != np.prod(self.action_space.shape or (1,), dtype=int):
            raise ShapeError(
                f"action has shape {actions.shape}; {self.action_space.shape} is expected"
            )
        given = np.clip(actions.reshape(self.num_envs, -1), -1.0, 1.0)
        over = self._age >= self.episode
        for _ in range(self.substeps):
            self.q, self.v = self._loop.step_kernel(0.0, self.q, self.v, given, self.dt)
        lost = ~np.isfinite(self.q).all(axis=-1) | ~np.isfinite(self.v).all(axis=-1)
        again = np.flatnonzero(over | lost)
        if again.size:
            self.q[again], self.v[again] = self.start(self.np_random, again)
        self._age += 1
        self._age[again] = 0
        reward = np.where(over, 0.0, self.reward(given))
        return self.observe(), reward, lost & ~over, self._age >= self.episode, {}

    def _reset_all(self, rng: np.random.Generator) -> None:
        self._age = np.zeros(self.num_envs, int)
        self.q, self.v = self.start(rng, np.arange(self.num_envs))


class CartPoleSwingUp(RobotEnv):
    """A cart that swings up its hanging pole; the pole's joint has no motor.

    Arguments:
        num_envs: the number of environments.
        options: further arguments of `RobotEnv`.
    """

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        limits = Enforcement(stops="clamp")
        super().__init__(
            robots.cart_pole(), num_envs, np.array([10.0, 0.0]), limits=limits, **options
        )

    def start(self, rng: np.random.Generator, which: Any) -> tuple[Array, Array]:
        q = np.array([0.0, np.pi]) + rng.uniform(-0.05, 0.05, (len(which), 2))
        return q, rng.uniform(-0.05, 0.05, (len(which), 2))

    def observe(self) -> Array:
        x, angle = self.q.T
        return np.stack([x, np.sin(angle), np.cos(angle), *self.v.T], axis=-1)

    def reward(self, action: Array) -> Array:
        """One if the pole is upright in the middle of the rail, zero if it hangs."""
        upright = 0.5 + 0.5 * np.cos(self.q[:, 1])
        return upright * (1.0 - 0.1 * np.abs(self.q[:, 0])) - 0.01 * (action**2).sum(axis=-1)


class DoublePendulumSwingUp(RobotEnv):
    """A hanging double pendulum that swings up; only its elbow has a motor.

    Arguments:
        num_envs: the number of environments.
        options: further arguments of `RobotEnv`.
    """

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        super().__init__(robots.double_pendulum(), num_envs, np.array([0.0, 10.0]), **options)

    def start(self, rng: np.random.Generator, which: Any) -> tuple[Array, Array]:
        return rng.uniform(-0.05, 0.05, (len(which), 2)), rng.uniform(-0.05, 0.05, (len(which), 2))

    def observe(self) -> Array:
        return np.concatenate([np.sin(self.q), np.cos(self.q), self.v], axis=-1)

    def reward(self, action: Array) -> Array:
        """The height of the tip, scaled to the range from zero to one."""
        first, both = self.q[:, 0], self.q.sum(axis=-1)
        return (2.0 - np.cos(first) - np.cos(both)) / 4.0


class ReachingArm(RobotEnv):
    """A two-joint arm in the horizontal plane whose tip should reach a target.

    Arguments:
        num_envs: the number of environments.
        options: further arguments of `RobotEnv`.
    """

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        assembly = Assembly("reacher", "base", gravity=(0.0, 0.0, 0.0))
        rod = {"mass": 1.0, "inertia": (0.001, 0.01, 0.01), "com": (0.15, 0.0, 0.0)}
        drive = {"damping": 0.2}
        assembly.add("upper", "base", Revolute("z"), drive=drive, **rod)  # type: ignore[arg-type]
        assembly.add("lower", "upper", Revolute("z"), (0.3, 0.0, 0.0), drive=drive, **rod)  # type: ignore[arg-type]
        assembly.add_frame("tip", "lower", (0.3, 0.0, 0.0))
        self.target = np.zeros((count("num_envs", num_envs), 2))
        super().__init__(
            assembly.robot(), num_envs, np.array([2.0, 1.0]), **{"episode": 100, **options}
        )

    def start(self, rng: np.random.Generator, which: Any) -> tuple[Array, Array]:
        n = len(which)
        goal = np.stack([rng.uniform(-1.0, 1.0, n), rng.uniform(0.5, 2.0, n)], axis=-1)
        self.target[which] = self.robot.pose(goal, "tip")[:, :2, 3]
        q = np.stack([rng.uniform(-0.5, 0.5, n), rng.uniform(1.0, 1.5, n)], axis=-1)
        return q, np.zeros((n, 2))

    def observe(self) -> Array:
        return np.concatenate([self.q, self.v, self._miss()], axis=-1)

    def reward(self, action: Array) -> Array:
        """Minus the distance from the target, minus a small penalty on large actions."""
        distance = np.linalg.norm(self._miss(), axis=-1)
        return -distance - 0.001 * (action**2).sum(axis=-1)

    def _miss(self) -> Array:
        return self.target - self.robot.pose(self.q, "tip")[:, :2, 3]


def random_search(
    make: Callable[[int], RobotEnv],
    iterations: int = 40,
    directions: int = 16,
    step: float = 0.15,
    noise: float = 0.3,
    seed: int = 0,
) -> tuple[Array, list[float]]:
    """A linear policy by augmented random search (Mania, Guy & Recht, 2018).

    Each environment of a batch tries a different policy: action = W observation.

    Arguments:
        make: takes a number of environments and makes them.
        iterations, directions: how often W changes, and how many directions are tried each time.
        step, noise: the step size of W, and the standard deviation of the trials about it.
        seed: of the random directions and initial states.

    Returns:
        W, (actions, observations), and the mean return of the trials of each iteration.
    """
    iterations, directions = count("iterations", iterations, 0), count("directions", directions)
    step, noise, seed = number("step", step), number("noise", noise), count("seed", seed, 0)
    env = instance(
        "make", function("make", make)(2 * directions), RobotEnv, "one that makes a RobotEnv"
    )
    rng = np.random.default_rng(seed)
    spaces: list[Any] = [env.single_action_space, env.single_observation_space]
    W = np.zeros([space.shape[0] for space in spaces])
    history = []
    for k in range(iterations):
        delta = rng.standard_normal((directions, *W.shape))
        trials = W + noise * np.concatenate([delta, -delta])
        returns = _returns(env, trials, seed + k)
        history.append(float(returns.mean()))
        gain = (returns[:directions] - returns[directions:]) / (returns.std() + 1e-9)
        W = W + step * np.einsum("k,kij->ij", gain, delta) / directions
    return W, history


def _returns(env: RobotEnv, policies: Array, seed: int) -> Array:
    """The return of one episode of each policy."""
    seen, _ = env.reset(seed=seed)
    total = np.zeros(env.num_envs)
    for _ in range(env.episode):
        seen, reward, *_ = env.step(np.einsum("kij,kj->ki", policies, seen))
        total += reward
    return total
