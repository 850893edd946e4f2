"""How integrators change the energy of a double pendulum."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

robot = kt.robots.double_pendulum()
METHODS = ("euler", "midpoint", "implicit-midpoint", "rk4", "variational")


def main(folder: Path, time: float = 100.0) -> dict[str, float]:
    """Simulate with each integrator, draw the energies, and return the error of each at the end."""
    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    panel = figure.subplots()
    drift = {}
    for method in METHODS:
        run = robot.simulate(
            [2.0, 1.0], [0.0, 0.0], time=time, dt=0.01, method=method, record=["energy"], every=20
        )
        error = np.abs(run["energy"] - run["energy"][0])
        panel.semilogy(run.times[1:], error[1:], label=method, linewidth=1.0)
        drift[method] = float(error[-len(error) // 4 :].max())
        print(f"{method}: the energy is off by up to {drift[method]:.1e} J in the last quarter")
    panel.set_xlabel("time, s")
    panel.set_ylabel("error of the energy, J")
    panel.legend()
    figure.savefig(folder / "free_flight.svg")
    return drift


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
