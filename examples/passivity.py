"""Passivity-based control: an energy that decreases because M' - 2C is skew-symmetric.

J.-J. E. Slotine & W. Li, On the adaptive control of robot manipulators (1987). With s = v_r - v the
energy s^T M s / 2 decreases at the rate s^T K s, where K is the gain; Coriolis forces do not change
it. This needs C made of Christoffel symbols, or another C with M' = C + C^T.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

arm = kt.robots.arm()
GOAL = np.array([0.8, 0.9, -0.7, 1.0, 0.5, -0.8, 0.4])
SLOPE, TIME = 5.0, 2.0


def main(folder: Path) -> float:
    """Move to the goal, draw energy and dissipated work, and return the error of their sum."""
    law = kt.control.passivity(arm, target=GOAL, slope=SLOPE)
    start = np.full(7, -1.0)
    run = arm.simulate(np.zeros(7), start, law, time=TIME, dt=1e-4, method="rk4", every=10)
    s = SLOPE * (GOAL - run.q) - run.v
    energy = 0.5 * np.einsum("ti,tij,tj->t", s, arm.mass_matrix(run.q), s)
    power = (law.inputs["gain"] * s**2).sum(axis=-1)
    step = run.times[1] - run.times[0]
    taken = np.concatenate([[0.0], np.cumsum(0.5 * step * (power[1:] + power[:-1]))])
    off = float(np.abs(energy + taken - energy[0]).max() / energy[0])

    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    panel = figure.subplots()
    panel.plot(run.times, energy, label="energy of the error, s'Ms / 2")
    panel.plot(run.times, taken, label="taken by the gain, integral of s'Ks")
    panel.plot(run.times, energy + taken, "k--", label="sum")
    panel.set(xlabel="time, s", ylabel="J", xlim=(0.0, 1.0))
    panel.legend()
    figure.savefig(folder / "passivity.svg")
    print(f"the sum stays within {off:.1e} of the energy at the start")
    return off


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
