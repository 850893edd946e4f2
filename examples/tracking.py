"""Computed-torque control of a fast motion, and PD control with gravity compensation."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

arm = kt.robots.arm()
DT, TIME = 1e-3, 4.0


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sine waves of all joints: configuration, velocity and acceleration at the given times."""
    rate, size = np.linspace(2.0, 4.0, 7), np.linspace(0.9, 0.4, 7)
    angle = rate * t[:, None]
    return size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle)


def main(folder: Path) -> tuple[float, float]:
    """Follow the motion with both controllers, draw their errors, and return the late ones."""
    t = np.arange(0.0, TIME, DT)
    q, v, a = motion(t)
    computed, plain = kt.control.computed_torque(arm), kt.control.pd(arm)
    laws = {
        "PD and gravity": (plain, plain.pack(target=q, velocity=v)),
        "computed torque": (computed, computed.pack(target=q, velocity=v, acceleration=a)),
    }
    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    panel = figure.subplots()
    late = []
    for name, (law, series) in laws.items():
        run = arm.simulate(q[0] + 0.1, v[0], law, time=TIME, dt=DT, p=series, series=True)
        error = np.abs(run.q - motion(run.times)[0]).max(axis=-1)
        panel.semilogy(run.times, error, label=name)
        late.append(float(error[len(error) // 2 :].max()))
        print(f"{name}: at most {late[-1]:.1e} rad off in the second half")
    panel.set(xlabel="time, s", ylabel="largest error, rad")
    panel.legend()
    figure.savefig(folder / "tracking.svg")
    return late[0], late[1]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
