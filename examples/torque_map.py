"""A map of a million states: the fraction of its effort limits an arm needs to hold a load."""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

arm = kt.robots.arm().edit.attach_payload("tool", mass=7.0)


def main(folder: Path, count: int = 1000) -> np.ndarray:
    """Draw the map over shoulder and elbow, and return the fractions, (count, count)."""
    shoulder = np.linspace(arm.limits.lower[1], arm.limits.upper[1], count)
    elbow = np.linspace(arm.limits.lower[3], arm.limits.upper[3], count)
    q = np.zeros((count, count, 7))
    q[..., 1], q[..., 3] = np.meshgrid(shoulder, elbow)
    arm.gravity_forces(q[:1])  # compiles
    begin = perf_counter()
    tau = arm.gravity_forces(q)
    seconds = perf_counter() - begin
    share = (np.abs(tau) / arm.limits.effort).max(axis=-1)
    print(f"{count**2:,} states in {seconds * 1e3:.0f} ms; the hardest takes {share.max():.0%}")

    figure = Figure(figsize=(5.2, 4.2), layout="constrained")
    panel = figure.subplots()
    corners = (shoulder[0], shoulder[-1], elbow[0], elbow[-1])
    image = panel.imshow(100 * share, origin="lower", extent=corners, aspect="auto")
    figure.colorbar(image, label="share of the effort limit, %")
    some = np.s_[::10, ::10]
    lines = panel.contour(
        shoulder[::10], elbow[::10], 100 * share[some], levels=[20, 40], colors="white"
    )
    panel.clabel(lines, fmt="%d %%")
    panel.set(xlabel="shoulder, rad", ylabel="elbow, rad")
    figure.savefig(folder / "torque_map.png", dpi=110)
    return share


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
