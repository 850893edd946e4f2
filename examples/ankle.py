"""A parallel ankle without constraints: rods embedded, and what two motors do at the foot."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

leg = kt.robots.parallel_ankle()  # two rods of one row each
MOTORS = ["left_motor", "right_motor"]
ankle = leg.constraints.embed(["hip", "knee", *MOTORS])


def compare(count: int = 1000) -> float:
    """How accelerations of both robots differ, relative to the largest."""
    rng = np.random.default_rng(0)
    y = 0.8 * ankle.robot.random(rng, count)
    yd, force = rng.standard_normal((2, count, ankle.robot.nv))
    q, v = ankle.full(y), ankle.full_velocity(y, yd)
    driven = [leg.labels.v.index(name) for name in ankle.robot.labels.v]
    tau = np.zeros((count, leg.nv))
    tau[:, driven] = force
    a = leg.forward_dynamics(q, v, tau)[:, driven]
    off = np.abs(ankle.robot.forward_dynamics(y, yd, force) - a).max() / np.abs(a).max()
    return float(off)


def main(folder: Path) -> tuple[float, float]:
    """Compare both robots and draw the foot; return the difference and the largest roll."""
    off = compare()
    print(f"{leg.nv} velocities and 2 rods, or {ankle.robot.nv} velocities: a differs by {off:.1e}")
    side = np.linspace(-0.6, 0.6, 41)
    left, right = np.meshgrid(side, side)
    y = np.zeros((41, 41, 4))
    y[..., 2], y[..., 3] = left, right
    pitch, roll = (ankle.full(y)[..., leg.labels.q.index(f"ankle.angle{k}")] for k in (1, 2))
    # the torque at the ankle for 1 N m of the left motor: power is the same at both
    unit = np.broadcast_to(np.eye(4)[2], y.shape)
    rate = ankle.full_velocity(y, unit)[..., leg.labels.v.index("ankle.rate1")]
    print(f"with the other motor held, 1 N m of one holds {1.0 / rate[20, 20]:.2f} N m of pitch")
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    for axes, angle, name in zip(
        figure.subplots(1, 2), (pitch, roll), ("pitch", "roll"), strict=True
    ):
        drawn = axes.contourf(side, side, np.degrees(angle), 12, cmap="RdBu")
        figure.colorbar(drawn, label=f"{name} of the foot, degrees")
        axes.set(xlabel="left motor, rad", ylabel="right motor, rad", aspect="equal")
    figure.savefig(folder / "ankle.svg")
    return off, float(np.abs(roll).max())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
