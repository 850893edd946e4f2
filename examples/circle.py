"""Operational-space control: the tool draws a circle and keeps its orientation."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

arm = kt.robots.arm()
HOME = np.array([0.2, 0.6, 0.3, 1.2, 0.1, 0.7, 0.0])
RADIUS, DT, TIME = 0.12, 1e-3, 6.0
TURN = 2.0 * np.pi / 3.0  # rad/s


def main(folder: Path) -> float:
    """Draw two circles, and return the largest path error of the tool in the second one, m."""
    t = np.arange(0.0, TIME, DT)
    pose = arm.pose(HOME, "tool")
    angle = TURN * t[:, None]
    across, up = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    targets = np.tile(pose, (len(t), 1, 1))
    targets[:, :3, 3] += RADIUS * ((np.cos(angle) - 1.0) * across + np.sin(angle) * up)
    velocity = np.zeros((len(t), 6))
    velocity[:, :3] = RADIUS * TURN * (np.cos(angle) * up - np.sin(angle) * across)

    law = kt.control.operational_space(arm, "tool", target=pose, posture=HOME)
    quaternion = law.inputs["target"][3:]
    places = np.concatenate([targets[:, :3, 3], np.tile(quaternion, (len(t), 1))], axis=1)
    series = law.pack(target=places, velocity=velocity)
    run = arm.simulate(HOME, np.zeros(7), law, time=TIME, dt=DT, p=series, series=True)
    tool = arm.pose(run.q, "tool")[:-1]
    off = np.abs(tool - targets).max(axis=(1, 2))
    last = float(off[len(off) // 2 :].max())
    print(f"in the second circle the tool is at most {last * 1e3:.1f} mm off")

    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 3))
    left.plot(*targets[:, 1:3, 3].T, "k--", linewidth=0.8, label="wanted")
    left.plot(*tool[:, 1:3, 3].T, label="tool")
    left.set(xlabel="y, m", ylabel="z, m", aspect="equal")
    left.legend(loc="center")
    right.plot(t, run.q[:-1], linewidth=1.0)
    right.set(xlabel="time, s", ylabel="joint angles, rad")
    figure.savefig(folder / "circle.svg")
    return last


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
