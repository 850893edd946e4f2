"""A momentum observer detects a push on the tool, without force sensor or accelerations."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

arm = kt.robots.arm()
POSE = np.array([0.3, 0.6, -0.2, 1.2, 0.1, 0.7, 0.0])
PUSH = np.array([0.0, 12.0, -8.0])  # on the tool, in the world's axes, N
DT, TIME, BEGIN, END, THRESHOLD = 1e-3, 1.5, 0.5, 1.0, 0.5


def main(folder: Path) -> tuple[float, np.ndarray]:
    """Push for half a second; return the detection delay and the estimated force."""
    law, observer = kt.control.pd(arm, target=POSE), kt.control.MomentumObserver(arm, gain=60.0)
    q, v = POSE.copy(), np.zeros(7)
    times, residuals, path = np.arange(0.0, TIME, DT), [], []
    for t in times:
        tau = law.forces(q, v)
        residuals.append(observer.update(q, v, tau, DT))
        path.append(q)
        load = np.concatenate([PUSH * (BEGIN <= t < END), np.zeros(3)])  # at the tool's origin
        q, v = arm.step(q, v, tau, DT, external={kt.Point("tool"): load})
    felt = np.array(residuals)
    first = times[np.abs(felt).max(axis=1) > THRESHOLD][0]
    last = int(END / DT) - 1  # the end of the push
    force = np.linalg.lstsq(arm.jacobian(path[last], "tool")[:3].T, felt[last], rcond=None)[0]
    print(f"noticed after {(first - BEGIN) * 1e3:.0f} ms; the estimate is {force.round(1)} N")

    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    panel = figure.subplots()
    panel.plot(times, felt, linewidth=1.0)
    panel.axvspan(BEGIN, END, color="orange", alpha=0.2, label="push")
    panel.axvline(first, color="black", linewidth=0.8, linestyle="--", label="noticed")
    panel.set(xlabel="time, s", ylabel="residual of each joint, N m")
    panel.legend()
    figure.savefig(folder / "contact.svg")
    return float(first - BEGIN), force


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
