"""Stable-Baselines3 learns to reach with an arm, or to walk: its PPO on a batch of environments.

A. Raffin et al., Stable-Baselines3: reliable reinforcement learning implementations (2021).
"""

import sys
import time
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from kinetree.bridges.gym import ReachingArm
from kinetree.bridges.legged import QuadrupedWalk
from kinetree.bridges.robot_env import RobotEnv
from kinetree.bridges.stable_baselines import BatchEnv

SETTINGS: dict[str, Any] = {
    "n_steps": 32,
    "n_epochs": 4,
    "learning_rate": 1e-3,
    "target_kl": 0.02,
    "ent_coef": 0.002,
    "policy_kwargs": {"net_arch": [128, 64], "activation_fn": torch.nn.ELU, "log_std_init": -0.7},
}


def train(task: RobotEnv, gamma: float, steps: int, seed: int = 0) -> tuple[PPO, list[float]]:
    """Train for a number of steps; return the model and the mean return of episodes over time."""
    torch.set_num_threads(1)  # the networks are small
    env = VecNormalize(VecMonitor(BatchEnv(task)), norm_reward=False, clip_obs=5.0)
    batch = task.num_envs * SETTINGS["n_steps"] // 4
    model = PPO("MlpPolicy", env, gamma=gamma, batch_size=batch, seed=seed, **SETTINGS)
    returns, began, worked = list[float](), time.perf_counter(), time.process_time()
    while model.num_timesteps < steps:
        model.learn(max(steps // 12, 1), reset_num_timesteps=False)
        returns.append(float(np.mean([x["r"] for x in model.ep_info_buffer])))
        spent, cpu = time.perf_counter() - began, time.process_time() - worked
        print(
            f"{model.num_timesteps:9,d} steps: return {returns[-1]:6.1f}, "
            f"{spent:4.0f} s ({cpu:.0f} s of processors)",
            flush=True,
        )
    return model, returns


def main(name: str = "arm", steps: int | None = None) -> list[float]:
    """Train the arm or the quadruped; return the mean returns of episodes over time."""
    if name == "arm":
        return train(ReachingArm(64, autoreset="same_step"), 0.95, steps or 400_000)[1]
    walkers = QuadrupedWalk(256, autoreset="same_step")
    returns = train(walkers, 0.98, steps or 1_500_000)[1]
    print(f"{walkers.velocity[:, 0].mean():.2f} m/s, with the noise of training")
    return returns


if __name__ == "__main__":
    main(*sys.argv[1:2])
