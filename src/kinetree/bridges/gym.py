"""Tasks for learning, as environments of gymnasium; importing this registers their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree import robots
from kinetree._lazy import listing
from kinetree.algorithms.steps import Enforcement
from kinetree.bridges.gym_names import register
from kinetree.bridges.robot_env import RobotEnv
from kinetree.joints import Revolute
from kinetree.kinds import function, instance
from kinetree.robot.assembly import Assembly
from kinetree.robot.checks import count, number
from kinetree.typing import Array

__all__ = [
    "CartPoleSwingUp",
    "DoublePendulumSwingUp",
    "ReachingArm",
    "RobotEnv",
    "random_search",
]
__dir__ = listing(__all__)

register()


class CartPoleSwingUp(RobotEnv):
    """A cart that swings up its hanging pole; the pole's joint has no motor.

    Arguments:
        num_envs: the number of environments.
        options: further arguments of `RobotEnv`.
    """

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        enforcement = Enforcement(stops="clamp")
        super().__init__(
            robots.cart_pole(), num_envs, np.array([10.0, 0.0]), enforcement=enforcement, **options
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
        iterations, directions: the number of updates of W, and of directions tried for each.
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
