"""Gravity compensation at 1 kHz: the computing time and the start delay of each cycle.

The loop sleeps until shortly before its deadline and then busy-waits. The start delay depends on
the operating system; a real controller runs with real-time priority.
"""

import sys
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

arm = kt.robots.arm()
PERIOD = 1e-3
SPIN = 3e-4  # busy-wait for this long before the deadline, s


def main(folder: Path, cycles: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Run the loop, draw histograms of both times, and return them in seconds, (cycles,) each."""
    path = 0.5 * np.sin(np.linspace(0.0, 6.0, cycles))[:, None] * np.ones(7)
    q, tau = np.zeros(7), np.zeros(7)
    compensate = arm.kernel("gravity_forces").bind(q, out=tau)  # fixed arrays, no checks
    compensate()
    used, late, sent = np.zeros(cycles), np.zeros(cycles), np.zeros((cycles, 7))
    start = perf_counter() + 0.01
    for k in range(cycles):
        due = start + k * PERIOD
        sleep(max(0.0, due - perf_counter() - SPIN))
        while perf_counter() < due:
            pass
        begin = perf_counter()
        q[:] = path[k]  # read the encoders
        compensate()
        used[k], late[k] = perf_counter() - begin, begin - due
        sent[k] = tau  # command the drives
    assert np.allclose(sent, arm.gravity_forces(path))

    figure = Figure(figsize=(7.0, 2.8), layout="constrained")
    found = {"computes": used, "begins late": late}
    for panel, (name, times) in zip(figure.subplots(1, 2), found.items(), strict=True):
        median, most = np.median(times) * 1e6, np.quantile(times, 0.99) * 1e6
        panel.hist(times * 1e6, bins=np.geomspace(0.05, 2000.0, 60))
        panel.set(
            xlabel="µs", ylabel="cycles", title=f"{name}: median {median:.2g} µs", xscale="log"
        )
        print(f"{name}: median {median:.2f} µs, 99 % below {most:.1f}, max {times.max() * 1e6:.0f}")
    figure.savefig(folder / "gravity_compensation.svg")
    return used, late


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
