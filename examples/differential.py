"""A differential: one motor drives two wheels through a coupling, and one wheel is on ice."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree import joints
from kinetree.constraints import Coupling

TORQUE, DRAG = 4.0, 0.5  # N m of the motor, N m s of the road at the right wheel


def axle():
    """A carrier and two wheels about y; the carrier turns at the mean of their speeds."""
    a = kt.Assembly("axle")
    for name, inertia in (("carrier", 0.02), ("left", 0.1), ("right", 0.1)):
        moments = (inertia, 2.0 * inertia, inertia)
        drive = {"damping": DRAG} if name == "right" else None
        a.add(name, "base", joints.Revolute("y"), (0, 0, 0), moments, mass=1.0, drive=drive)
    mean = {"carrier_joint": [0, 2.0], "left_joint": [0, -1.0], "right_joint": [0, -1.0]}
    return a.robot().constrain(Coupling("differential", mean))


def main(folder: Path) -> tuple[float, float, float]:
    """Drive off; return errors of the speeds, of the shares of the torque, and of the energy."""
    robot = axle()
    run = robot.simulate(
        np.zeros(3),
        np.zeros(3),
        lambda t, q, v, p: [TORQUE, 0.0, 0.0],
        time=3.0,
        dt=1e-3,
        method="rk4",
        record=["constraint_forces", "energy"],
    )
    mean = np.abs(run.v[:, 0] - run.v[:, 1:].mean(axis=1)).max()
    force = run["constraint_forces"][:, 0]  # along the row (2, -1, -1): what each wheel gets
    given = robot.inverse_dynamics(run.q, run.v, np.gradient(run.v, 1e-3, axis=0))
    share = np.abs(given[5:-5, 1:] + force[5:-5, None]).max() / TORQUE
    # the work of the motor is kinetic energy, and heat of the road
    heat = np.trapezoid(DRAG * run.v[:, 2] ** 2, run.times)
    work = TORQUE * run.q[-1, 0]
    balance = abs(run["energy"][-1] - run["energy"][0] + heat - work) / work
    print(f"the carrier's speed is the wheels' mean to {mean:.1e} rad/s")
    print(f"both wheels get {-force[-1]:.2f} N m; the shares are equal to {share:.1e}")
    print(f"work, energy and heat agree to {balance:.1e}")
    figure = Figure(figsize=(6.0, 3.2), layout="constrained")
    axes = figure.subplots()
    for k, name in enumerate(("carrier", "left wheel, on ice", "right wheel, on the road")):
        axes.plot(run.times, run.v[:, k], label=name)
    axes.set(xlabel="time, s", ylabel="speed, rad/s")
    axes.legend()
    figure.savefig(folder / "differential.svg")
    return float(mean), float(share), float(balance)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
