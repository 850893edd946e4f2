"""A quadruped learns to walk: proximal policy optimisation in PyTorch, on a batch of environments.

J. Schulman et al., Proximal policy optimization algorithms (2017).
"""

import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn
from torch.distributions import Normal, kl_divergence

import kinetree as kt
from kinetree.bridges.legged import QuadrupedWalk
from kinetree.bridges.variation import Variation

ENVIRONMENTS, STEPS = 512, 24  # in each iteration, so many steps of so many environments
EPOCHS, MINIBATCHES = 4, 4
GAMMA, LAMBDA, CLIP, ENTROPY, DIVERGENCE = 0.98, 0.95, 0.2, 0.002, 0.01
VARIED = Variation(load=2.0, load_offset=0.1, friction=0.4, gain=0.1, latency=0.01, push=0.2)
Data = dict[str, torch.Tensor]


class Policy(nn.Module):
    """Actions and values of observations, which are scaled by their means and deviations so far."""

    def __init__(self, observations: int, actions: int) -> None:
        super().__init__()

        def network(outputs: int) -> nn.Sequential:
            sizes = (observations, 128, 64)
            layers = [m for a, b in pairwise(sizes) for m in (nn.Linear(a, b), nn.ELU())]
            return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))

        self.actor, self.critic = network(actions), network(1)
        self.actor[-1].weight.data *= 0.01  # small actions at first
        self.logarithm = nn.Parameter(torch.full((actions,), -0.7))  # of the actions' deviation
        self.register_buffer("mean", torch.zeros(observations))
        self.register_buffer("variance", torch.ones(observations))
        self.count = 1e-4

    def forward(self, seen: torch.Tensor) -> tuple[Normal, torch.Tensor]:
        scaled = ((seen - self.mean) / (self.variance + 1e-6).sqrt()).clamp(-5.0, 5.0)
        return Normal(self.actor(scaled), self.logarithm.exp()), self.critic(scaled).squeeze(-1)

    def learn_scale(self, seen: torch.Tensor) -> None:
        """Count more observations in."""
        share, shift = len(seen) / (self.count + len(seen)), seen.mean(0) - self.mean
        self.variance += share * (seen.var(0) - self.variance + (1.0 - share) * shift**2)
        self.mean += share * shift
        self.count += len(seen)


def single(array: np.ndarray) -> torch.Tensor:
    """An array in single precision."""
    return torch.as_tensor(array, dtype=torch.float32)


def collect(env: QuadrupedWalk, policy: Policy, seen: torch.Tensor) -> tuple[Data, torch.Tensor]:
    """Some steps of all environments under the policy, and the observations after them."""
    rows: dict[str, list[torch.Tensor]] = {}
    for _ in range(STEPS):
        chosen, value = policy(seen)
        action = chosen.sample()
        after, reward, fallen, ended, _ = env.step(action.double().numpy())
        row = {"seen": seen, "action": action, "value": value, "mean": chosen.mean}
        row["log"] = chosen.log_prob(action).sum(-1)
        row |= {"reward": single(reward), "fallen": single(fallen), "ended": single(ended)}
        for name, x in row.items():
            rows.setdefault(name, []).append(x)
        seen = single(after)
    return {name: torch.stack(x) for name, x in rows.items()}, seen


def advantages(data: Data, last: torch.Tensor) -> torch.Tensor:
    """How much better than expected each action was: generalised advantage estimation.

    After a fall there is nothing to gain. An episode whose time is up would go on: the value of its
    last state stands for that.
    """
    found, ahead = torch.zeros_like(data["value"]), torch.zeros_like(last)
    following = torch.cat([data["value"][1:], last[None]])
    for k in reversed(range(STEPS)):
        stands = 1.0 - data["fallen"][k]
        surprise = data["reward"][k] + GAMMA * stands * following[k] - data["value"][k]
        ahead = surprise + GAMMA * LAMBDA * stands * (1.0 - data["ended"][k]) * ahead
        found[k] = ahead
    return found


def improve(policy: Policy, optimiser: torch.optim.Adam, data: Data, gain: torch.Tensor) -> None:
    """Change the policy by clipped steps, at a rate that keeps its divergence near a target."""
    over = data["fallen"] + data["ended"]  # the step after an end only starts an episode
    counts = torch.cat([torch.ones(1, over.shape[1]), 1.0 - over[:-1]]).flatten() > 0.5
    flat = {name: x.flatten(0, 1)[counts] for name, x in data.items()}
    gain, deviation = gain.flatten()[counts], policy.logarithm.detach().exp()
    target = gain + flat["value"]
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(gain)).chunk(MINIBATCHES):
            chosen, value = policy(flat["seen"][rows])
            ratio = (chosen.log_prob(flat["action"][rows]).sum(-1) - flat["log"][rows]).exp()
            clipped = ratio.clamp(1.0 - CLIP, 1.0 + CLIP)
            better = torch.min(ratio * gain[rows], clipped * gain[rows]).mean()
            error = (value - target[rows]).square().mean()
            loss = 0.5 * error - better - ENTROPY * chosen.entropy().sum(-1).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimiser.step()
            with torch.no_grad():
                before = Normal(flat["mean"][rows], deviation)
                moved = kl_divergence(before, chosen).sum(-1).mean().item() / DIVERGENCE
            group = optimiser.param_groups[0]
            faster = 1.2 if moved < 0.5 else 1 / 1.2 if moved > 2.0 else 1.0
            group["lr"] = min(max(group["lr"] * faster, 1e-5), 3e-3)


def train(
    iterations: int, environments: int = ENVIRONMENTS, seed: int = 0
) -> tuple[Policy, np.ndarray]:
    """Train; return the policy and, for each iteration, the mean speed and reward."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the networks are small
    env = QuadrupedWalk(environments, variation=VARIED)
    policy = Policy(env.single_observation_space.shape[0], env.single_action_space.shape[0])
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
    seen, history = single(env.reset(seed=seed)[0]), []
    began, worked = time.perf_counter(), time.process_time()
    for k in range(iterations):
        with torch.no_grad():
            data, seen = collect(env, policy, seen)
            gain = advantages(data, policy(seen)[1])
        improve(policy, optimiser, data, gain)
        policy.learn_scale(data["seen"].flatten(0, 1))
        history.append((env.velocity[:, 0].mean(), data["reward"].mean().item()))
        if k % 10 == 9:
            spent, cpu = time.perf_counter() - began, time.process_time() - worked
            speed, reward = history[-1]
            print(
                f"{k + 1:4d}: {speed:5.2f} m/s, reward {reward:5.2f}, "
                f"{data['fallen'].sum():4.0f} falls, {spent:4.0f} s ({cpu:.0f} s of processors)",
                flush=True,
            )
    return policy, np.array(history)


def walk(policy: Policy, seconds: float = 6.0) -> dict[str, np.ndarray]:
    """The motion of one robot under the policy, without noise and without variation."""
    env = QuadrupedWalk(1, episode=1_000_000)
    seen, rows = single(env.reset(seed=1)[0]), []
    held = env.dt * env.substeps
    for k in range(round(seconds / held)):
        with torch.no_grad():
            action = policy(seen)[0].mean
        after, _, fallen, *_ = env.step(action.double().numpy())
        seen = single(after)
        row = {"times": k * held, "q": env.q[0], "v": env.v[0], "velocity": env.velocity[0]}
        row |= {"pitch": np.arcsin(env.forward[0, 2]), "pressure": env.pressure[0]}
        rows.append(row | {"clearance": env.clearance[0], "tau": env.tau[0], "fallen": fallen[0]})
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def draw(history: np.ndarray, run: dict[str, np.ndarray], file: Path) -> None:
    """The progress of training, the speed and height of the trunk, the feet on the ground."""
    robot, t = kt.robots.quadruped(), run["times"]
    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    (learning, picture), (trunk, feet) = figure.subplots(2, 2)
    learning.plot(history[:, 0], label="speed, m/s")
    learning.plot(history[:, 1], label="reward of an action")
    learning.set(xlabel="iteration", title="training")
    learning.legend()
    picture.imshow(kt.plot.picture(robot, run["q"][len(t) // 2]))
    picture.set_axis_off()
    trunk.plot(t, run["velocity"][:, 0], label="speed, m/s")
    trunk.plot(t, run["q"][:, 2], label="height, m")
    trunk.plot(t, run["pitch"], label="pitch, rad")
    trunk.set(xlabel="time, s", title="the trunk")
    trunk.legend(loc=(0.62, 0.45))
    names = ("front left", "front right", "hind left", "hind right")
    late = t > t[-1] - 2.0
    feet.imshow(
        run["pressure"][late].T > 0.0,
        aspect="auto",
        cmap="Greys",
        interpolation="nearest",
        extent=(t[late][0], t[-1], 3.5, -0.5),
    )
    feet.set(xlabel="time, s", title="feet on the ground", yticks=range(4), yticklabels=names)
    figure.savefig(file)


def main(folder: Path, iterations: int = 300) -> float:
    """Train, draw, and return the speed of the trained robot over its last four seconds."""
    policy, history = train(iterations)
    run = walk(policy)
    late = run["times"] >= run["times"][-1] - 4.0
    (x0, *_), (x1, *_) = run["q"][late][0], run["q"][-1]
    speed = (x1 - x0) / (run["times"][-1] - run["times"][late][0])
    print(f"{speed:.2f} m/s; {'falls' if run['fallen'].any() else 'does not fall'}")
    draw(history, run, folder / "walk.png")
    try:  # a video of the last steps
        last = {"times": run["times"][:75], "q": run["q"][-75:]}
        kt.plot.video(kt.robots.quadruped(), last, folder / "walk.gif")
    except ImportError as reason:
        print(f"no video: {reason}")
    return float(speed)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
