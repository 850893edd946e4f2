"""A skate on a slope, and a wheel that rolls: what is forbidden are velocities, not places."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree import joints
from kinetree.constraints import KnifeEdge, RollingWheel

SLOPE, SPIN = np.radians(20.0), 3.0  # rad and rad/s
RADIUS = 0.3  # m


def skate():
    """A body that glides on a slope, which falls along x, and turns; not sideways."""
    a = kt.Assembly("skate", gravity=(9.81 * np.sin(SLOPE), 0.0, -9.81 * np.cos(SLOPE)))
    a.add("skate", "base", joints.planar(), (0, 0, 0), (0.01, 0.01, 0.02), mass=1.0)
    return a.robot().constrain(KnifeEdge("blade", "skate"))


def wheel():
    """A thin wheel on level ground, about y."""
    a = kt.Assembly("wheel")
    rim = RADIUS**2 * np.array([0.5, 1.0, 0.5])
    a.add("wheel", "base", joints.Floating(), (0, 0, RADIUS), rim, mass=1.0)
    return a.robot().constrain(RollingWheel("ground", "wheel", radius=RADIUS))


def cycloid(t):
    """The path of the skate, which starts at rest and spins (A. M. Bloch 2003, section 1.6)."""
    size = 9.81 * np.sin(SLOPE) / (2.0 * SPIN**2)
    return size * np.stack([np.sin(SPIN * t) ** 2, SPIN * t - 0.5 * np.sin(2.0 * SPIN * t)])


def main(folder: Path) -> tuple[float, float, float]:
    """Let both go; return the error of the path, the slip, and the change of the energy."""
    robot = skate()
    run = robot.simulate(np.zeros(3), [0.0, 0.0, SPIN], time=4.0, dt=1e-3, method="rk4")
    place = robot.pose(run.q, "skate")[:, :2, 3].T
    off = float(np.abs(place - cycloid(run.times)).max())
    print(f"the skate is {off:.1e} m from its cycloid, and comes {place[0].max():.2f} m down")
    robot = wheel()
    q = robot.neutral()
    q[3:7] = [np.sin(-0.15), 0.0, 0.0, np.cos(-0.15)]  # it leans to the left
    q[2] = RADIUS * (np.cos(0.3) - 1.0)
    v = robot.constraints.project_velocity(q, [0.0, 0.0, 0.0, 0.0, 5.0, 0.3])
    record = ["energy", "constraint_errors", ("pose", "wheel")]
    rolled = robot.simulate(q, v, time=6.0, dt=1e-3, method="rk4", record=record)
    J = robot.constraints.jacobian(rolled.q)
    slip = float(np.abs(np.einsum("trk,tk->tr", J, rolled.v)).max())
    change = float(np.ptp(rolled["energy"]) / rolled["energy"][0])
    print(f"the wheel slips at {slip:.1e} m/s; its energy changes by {change:.1e} of itself")
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(place[1], -place[0], label="skate")
    left.plot(*cycloid(run.times)[::-1] * [[1], [-1]], "--", label="cycloid")
    left.set(xlabel="across the slope, m", ylabel="up the slope, m")
    right.plot(*rolled["pose_wheel"][:, :2, 3].T)
    right.set(xlabel="x, m", ylabel="y, m", title="center of the wheel", aspect="equal")
    left.legend()
    figure.savefig(folder / "rolling.svg")
    return off, slip, change


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
