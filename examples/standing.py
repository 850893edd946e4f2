"""A quadruped stands on four feet and squats: motors at its legs alone, and the ground's forces."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.constraints import HeldFrame

FEET = [f"{x}_{y}_foot" for x in ("front", "hind") for y in ("left", "right")]
DEPTH, RATE = 0.06, 2.0 * np.pi  # m and rad/s: how deep it squats, and how often
robot = kt.robots.quadruped().constrain(
    *(HeldFrame(foot, foot, rows=("x", "y", "z"), anywhere=True) for foot in FEET)
)
LEGS = [name for name in robot.joints if name != "root_joint"]


def standing():
    """A configuration with bent legs."""
    q = robot.neutral()
    q[7:] = np.tile([0.0, 0.6, -1.2], 4)  # hip, thigh, shank
    return q


def squat(times):
    """The motion of the trunk, up and down, with legs that follow: q, v and a at each time."""
    q = np.tile(standing(), (len(times), 1))
    bend = np.arccos(np.cos(0.6) - DEPTH / 0.4 * (1.0 - np.cos(RATE * times)) / 2.0)
    q[:, 2] += 0.4 * (np.cos(bend) - np.cos(0.6))
    q[:, 7:] = np.stack([0.0 * bend, bend, -2.0 * bend] * 4, axis=-1)
    v = robot.charts.velocities_along(times, q)
    return q, v, np.gradient(v, times, axis=0)


def main(folder: Path, time: float = 1.0, dt: float = 2e-3) -> tuple[float, float, float]:
    """Squat; return how far the trunk is off, how far the feet slip, and the balance of forces."""
    steps = round(time / dt)
    q, v, a = squat(dt * np.arange(steps))
    law = kt.control.computed_torque(robot, kp=400.0, kd=40.0, actuated=LEGS)
    run = robot.simulate(
        q[0],
        v[0],
        law,
        time=time,
        dt=dt,
        p=law.pack(target=q, velocity=v, acceleration=a),
        series=True,
        record=["constraint_forces", "center_of_mass", ("pose", FEET[0])],
    )
    forces = run["constraint_forces"].reshape(-1, 4, 3)
    slipped = np.abs(run[f"pose_{FEET[0]}"][:, :3, 3] - run[f"pose_{FEET[0]}"][0, :3, 3]).max()
    off = np.abs(run.q[:-1, :3] - q[:, :3]).max()
    # the ground carries the weight and accelerates the center of mass
    mass = robot.total_mass
    rise = np.gradient(np.gradient(run["center_of_mass"][:, 2], dt), dt)
    wanted = mass * (9.81 + rise)
    inner = slice(5, -5)
    balance = np.abs(forces.sum(axis=1)[inner, 2] - wanted[inner]).max() / (mass * 9.81)
    print(f"the trunk is off by up to {off:.1e} m, the feet slip by {slipped:.1e} m")
    print(f"ground forces differ from m (g + z'') by {balance:.1e} of the weight")
    print(f"the trunk gets {np.abs(run.tau[:, :6]).max():.1e} N from motors")
    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(run.times, run.q[:, 2], label="trunk")
    left.plot(dt * np.arange(steps), q[:, 2], "--", label="wanted")
    left.set(xlabel="time, s", ylabel="height, m")
    right.plot(run.times[inner], forces.sum(axis=1)[inner, 2], label="ground, all feet")
    right.plot(run.times[inner], wanted[inner], "--", label="m (g + z'')")
    right.axhline(mass * 9.81, color="gray", linewidth=0.8)
    right.set(xlabel="time, s", ylabel="vertical force, N")
    left.legend()
    right.legend()
    figure.savefig(folder / "standing.svg")
    return float(off), float(slipped), float(balance)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
