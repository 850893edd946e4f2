"""Track a motion in Bullet's maximal coordinates with torques computed in generalised ones.

The robot's links are free bodies in Bullet, held together by constraints. In every step their
states are converted to q and v, computed-torque control gives joint forces, and these are applied
to the bodies as forces and torques. The picture shows the tracking error and the joint drift.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import kinetree as kt
from kinetree.bridges.bullet import MaximalBodies

STIFFNESS, DAMPING = 100.0, 20.0  # 1/s^2 and 1/s: critically damped


class Run(NamedTuple):
    """Times, the largest tracking error of all joints, and the largest residual of poses."""

    times: np.ndarray
    error: np.ndarray
    residual: np.ndarray


def track(robot: kt.Robot, duration: float = 2.0, dt: float = 1e-3) -> Run:
    """Follow a sine in every joint, starting at the neutral configuration."""
    middle = robot.neutral()
    size = 0.3 * np.cos(np.arange(robot.nv))
    rate = 2.0 * np.pi / 2.0
    steps = round(duration / dt)
    times, error, residual = np.arange(steps) * dt, np.empty(steps), np.empty(steps)
    start = rate * size
    with MaximalBodies(robot, middle, start, dt) as bodies:
        for k, t in enumerate(times):
            s, c = np.sin(rate * t), np.cos(rate * t)
            reference = robot.integrate(middle, s * size)
            q, v, off, _ = bodies.generalized()
            behind = robot.difference(q, reference)
            error[k], residual[k] = np.abs(behind).max(), off[:, 0].max()
            a = -rate * rate * s * size + DAMPING * (rate * c * size - v) + STIFFNESS * behind
            bodies.step(robot.inverse_dynamics(q, v, a), q)
    return Run(times, error, residual)


def main(folder: Path, duration: float = 2.0) -> dict[str, Run]:
    """Track with two robots, draw, and return their runs."""
    import matplotlib.pyplot as plt

    runs = {}
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained")
    for name, robot in (("arm", kt.robots.arm()), ("human", kt.robots.human("fixed"))):
        run = runs[name] = track(robot, duration)
        print(
            f"{name}: tracking error at most {run.error.max():.1e} rad, "
            f"constraints off by at most {run.residual.max():.1e} m"
        )
        axes[0].semilogy(run.times, run.error + 1e-9, label=name)
        axes[1].semilogy(run.times, run.residual + 1e-12, label=name)
    for axis, title in zip(axes, ("tracking error, rad", "joints pulled apart, m"), strict=True):
        axis.set_title(title)
        axis.set_xlabel("time, s")
        axis.legend()
    figure.savefig(folder / "maximal_coordinates.svg")
    plt.close(figure)
    return runs


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
