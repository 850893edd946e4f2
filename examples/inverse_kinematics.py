"""Inverse kinematics of ten thousand poses in one call."""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

arm = kt.robots.arm()


def main(folder: Path, count: int = 10_000) -> float:
    """Solve, draw errors and restarts, and return the fraction of poses that were reached."""
    targets = arm.pose(arm.random(1, batch=count), "tool")
    solver = kt.control.InverseKinematics(arm, "tool")
    solver.solve(targets[:10])  # compiles
    begin = perf_counter()
    found = solver.solve(targets)
    seconds = perf_counter() - begin
    print(f"{found.success.mean():.2%} of {count} poses in {seconds:.2f} s")
    inside = (found.q >= arm.limits.lower) & (found.q <= arm.limits.upper)
    assert inside.all()

    figure = Figure(figsize=(7.0, 2.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.hist(np.maximum(found.error, 1e-17), bins=np.geomspace(1e-17, 1.0, 52))
    left.set(xscale="log", xlabel="error, m or rad", ylabel="poses")
    tries, counts = np.unique(found.tries, return_counts=True)
    right.bar(tries, counts)
    right.set(yscale="log", xlabel="starts that were needed", ylabel="poses")
    figure.savefig(folder / "inverse_kinematics.svg")
    return float(found.success.mean())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
