"""A falling cat turns over although its angular momentum is zero throughout.

T. R. Kane & M. P. Scher, A dynamical explanation of the falling cat phenomenon (1969): two halves,
bent at the waist, and the bend goes round in a full circle. The centroidal momentum matrix gives
the rotation of the whole body that keeps the angular momentum zero.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.joints import universal


def cat() -> kt.Robot:
    """Two equal cylinders of 2 kg, end to end along x, with a waist that bends about y and z."""
    half = {"mass": 2.0, "com": (0.12, 0.0, 0.0), "inertia": (0.004, 0.012, 0.012)}
    rear = half | {"com": (-0.12, 0.0, 0.0)}
    assembly = kt.Assembly("cat", "front", **half)
    assembly.add("rear", "front", universal("y", "z"), name="waist", **rear)
    return assembly.robot("floating")


def main(folder: Path, bend: float = 1.2, steps: int = 2000) -> tuple[float, float]:
    """Simulate and draw; return the angle of rotation and the largest angular momentum."""
    robot = cat()
    q, dt = robot.neutral(), 1.0 / steps
    phase = 2.0 * np.pi * np.linspace(0.0, 1.0, steps + 1)
    rolls, momenta = [], []
    for now, then in pairwise(phase):
        shape = [np.array([np.cos(x), np.sin(x)]) * bend for x in (now, 0.5 * (now + then), then)]
        q[7:] = shape[1]  # the momentum is zero in the middle of the step
        A, rates = robot.momentum_matrix(q), (shape[2] - shape[0]) / dt
        v = np.concatenate([-np.linalg.solve(A[:, :6], A[:, 6:] @ rates), rates])
        momenta.append(np.abs(robot.momentum(q, v)[3:]).max())
        q[7:] = shape[0]
        q = robot.integrate(q, dt * v)
        rolls.append(robot.pose(q, "front")[:3, 2])
    up = np.degrees(np.unwrap(np.arctan2(-np.array(rolls)[:, 1], np.array(rolls)[:, 2])))
    print(f"turned by {up[-1]:.0f} degrees; angular momentum below {max(momenta):.1e} N m s")

    figure = Figure(figsize=(7.0, 2.8), layout="constrained")
    panel = figure.subplots()
    panel.plot(np.degrees(phase[1:]), up)
    panel.set(xlabel="direction of the bend, degrees", ylabel="roll of the front half, degrees")
    figure.savefig(folder / "falling_cat.svg")
    return float(up[-1]), float(max(momenta))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
