"""A policy trained through the dynamics: PyTorch differentiates simulation steps with kernels."""

import sys
from pathlib import Path

import torch

import kinetree as kt

robot = kt.robots.double_pendulum()
DT, STEPS, BATCH = 0.02, 50, 64
TARGET = torch.tensor([0.6, -0.9], dtype=torch.float64)


def rollout(policy: torch.nn.Module, q: torch.Tensor, v: torch.Tensor) -> list[torch.Tensor]:
    """The configurations of a batch with a policy, whose output is added to the gravity forces."""
    visited = []
    for _ in range(STEPS):
        tau = robot.gravity_forces(q) + 20.0 * policy(torch.cat([q - TARGET, v], dim=-1))
        q, v = robot.step(q, v, tau, DT, method="implicit-damping")
        visited.append(q)
    return visited


def error(visited: list[torch.Tensor]) -> torch.Tensor:
    """The mean squared distance to the target, with weights that grow over time."""
    weights = torch.linspace(0.0, 1.0, STEPS, dtype=torch.float64)
    distances = torch.stack([(q - TARGET).square().sum(dim=-1).mean() for q in visited])
    return (weights * distances).mean()


def distance(visited: list[torch.Tensor]) -> float:
    """The mean distance to the target at the end, in radians."""
    return (visited[-1] - TARGET).norm(dim=-1).mean().item()


def main(folder: Path, iterations: int = 150) -> tuple[float, float]:
    """Train, and return the mean distance at the end before and after, in radians."""
    torch.manual_seed(0)
    policy = torch.nn.Sequential(
        torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2)
    ).double()
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-2)
    start = 0.5 * torch.randn(BATCH, 2, dtype=torch.float64)
    still = torch.zeros_like(start)
    first = distance(rollout(policy, start, still))
    for k in range(iterations):
        optimiser.zero_grad()
        loss = error(rollout(policy, start, still))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimiser.step()
        if k % 25 == 0:
            print(f"{k:4d}  {loss.item():.4f}")
    last = distance(rollout(policy, start, still))
    print(f"distance to the target after 1 s: {first:.2f} rad untrained, {last:.3f} rad trained")
    return first, last


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
