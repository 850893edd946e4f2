"""An arm with an unknown load: the Slotine-Li controller and its adaptive form."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

arm = kt.robots.arm()
GOAL = np.array([0.3, 0.5, -0.4, 0.8, 0.2, -0.6, 0.1])
RATES = [0.5, *[1e-3] * 3, *[1e-5] * 6]  # mass, first moment, rotational inertia


def main(folder: Path) -> tuple[float, float]:
    """Simulate both, draw the errors, and return the error of each at the end."""
    loaded = arm.edit.attach_payload("tool", mass=0.5)
    laws = {
        "known inertias": kt.control.passivity(arm, target=GOAL),
        "adaptive": kt.control.adaptive(arm, ["link7"], target=GOAL, adaptation=RATES),
    }
    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    panel = figure.subplots()
    ends = []
    for name, law in laws.items():
        run = loaded.simulate(np.zeros(7), np.zeros(7), law, time=15.0, every=50)
        error = np.abs(run.q - GOAL).max(axis=-1)
        panel.semilogy(run.times, error, label=name)
        ends.append(float(error[-1]))
        print(f"{name}: {error[-1]:.2e} rad off after {run.times[-1]:g} s")
    panel.set_xlabel("time, s")
    panel.set_ylabel("largest error, rad")
    panel.legend()
    figure.savefig(folder / "payload.svg")
    return ends[0], ends[1]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
