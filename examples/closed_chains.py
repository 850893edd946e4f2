"""A four-bar driven by a motor: where its energy goes, and how well its loop stays closed."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

robot = kt.robots.four_bar()
WAYS = {
    "nothing": kt.Baumgarte(rate=0.0),
    "Baumgarte, 50 / s": kt.Baumgarte(rate=50.0),
    "projection": kt.Projection(),
}


def motor(t, q, v, p):
    """The torque of a motor on the crank: 0.6 N m at rest, none at 20 rad/s."""
    return [0.6 - 0.03 * v[0], 0.0, 0.0]


def main(folder: Path, time: float = 3.0) -> tuple[float, dict[str, float]]:
    """Drive the linkage; return the error of the energy, and that of the loop in each way."""
    q = robot.neutral()  # the loop is closed there
    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    opened = {}
    for name, way in WAYS.items():
        run = robot.simulate(
            q,
            np.zeros(3),
            motor,
            time=time,
            dt=1e-3,
            method="rk4",
            stabilization=way,
            record=["energy", "constraint_errors", "tau"],
        )
        error = np.abs(run["constraint_errors"]).max(axis=1)
        opened[name] = float(error.max())
        right.semilogy(run.times[1:], np.maximum(error[1:], 1e-17), label=name, linewidth=1.0)
        print(f"{name}: the loop opens by up to {opened[name]:.1e} m")
    # the last run is the projected one
    turned = np.diff(run.q[:, 0])  # in each step, during which the torque is constant
    work = np.concatenate([[0.0], np.cumsum(run["tau"][:-1, 0] * turned)])
    gained = run["energy"] - run["energy"][0]
    off = float(np.abs(gained - work).max())
    print(f"the crank turns at {run.v[-1, 0]:.1f} rad/s; energy and work differ by {off:.1e} J")
    left.plot(run.times, work, label="work of the motor")
    left.plot(run.times, gained, "--", label="energy gained")
    left.set(xlabel="time, s", ylabel="J")
    right.set(xlabel="time, s", ylabel="error of the loop, m")
    left.legend()
    right.legend()
    figure.savefig(folder / "closed_chains.svg")
    return off, opened


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
