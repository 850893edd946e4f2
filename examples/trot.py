"""A quadruped trots: model-predictive control with a new plan every 10 ms.

Plans know which feet stand when; the robot that moves does not: its feet touch the ground where and
when they meet it. M. H. Raibert, Legged robots that balance (1986): where feet are placed.
"""

import sys
from math import pi
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.constraints import HeldFrame
from kinetree.scalar import cos, maximum, minimum, sin

FEET = [f"{x}_{y}_foot" for x in ("front", "hind") for y in ("left", "right")]
DIAGONALS = (FEET[0], FEET[3]), (FEET[1], FEET[2])
PERIOD, STEP, LIFT, SPEED, RADIUS = 0.4, 0.01, 0.06, 0.5, 0.02

trunk = kt.robots.quadruped()
dog = trunk.constrain(*(HeldFrame(f, f, rows=("x", "y", "z"), anywhere=True) for f in FEET))
STANDING = dog.neutral()
STANDING[7:] = np.tile([0.0, 0.6, -1.2], 4)
STANDING[2] = RADIUS - dog.pose(STANDING, FEET[0])[2, 3]
PLACES = [dog.pose(STANDING, foot)[:3, 3] for foot in FEET]


def standing(t):
    """The feet that stand: two diagonals in turn."""
    return DIAGONALS[int((t / PERIOD + 1e-9) % 1.0 >= 0.5)]


def cost(t, q, v, tau, pose, force):
    """What is squared: the trunk's height, attitude and speed; where feet swing; forces."""
    turn = 2.0 * pi * t / PERIOD
    terms = [15.0 * (q[2] - STANDING[2]), *(7.0 * q[3:6]), 4.5 * q[1]]
    terms += [3.0 * (v[0] - SPEED), 3.0 * v[1], v[2], *(0.7 * v[3:6]), *(0.05 * v[6:])]
    terms += [*(1.5 * (q[7:] - STANDING[7:])), *(0.1 * tau[6:])]
    for foot, place in zip(FEET, PLACES, strict=True):
        sign = 1.0 if foot in DIAGONALS[0] else -1.0
        at, push = pose(foot).translation, force(foot)
        ahead = place[0] + sign * 0.25 * SPEED * PERIOD * cos(turn)
        height = RADIUS + LIFT * maximum(-sign * sin(turn), 0.0) ** 2
        terms += [
            45.0 * (at.z - height),
            4.5 * (at.x - q[0] - ahead),
            4.5 * (at.y - q[1] - place[1]),
        ]
        terms += [*(0.03 * x for x in push), 0.1 * minimum(push[2], 0.0)]
    return terms


def final(q, v, pose):
    """Height, attitude and speed of the trunk at the end of the horizon."""
    trunk = [4.5 * (q[2] - STANDING[2]), *(3.0 * q[3:6]), 1.5 * (v[0] - SPEED), *(1.5 * v[1:3])]
    return [*trunk, *(0.5 * v[3:6]), *(0.5 * (q[7:] - STANDING[7:])), *(0.05 * v[6:])]


def controller(steps=30, iterations=1):
    """The model-predictive controller."""
    motors = np.arange(dog.nv) >= 6
    how = {"actuated": motors, "lower": -40.0, "upper": 40.0, "phases": standing}
    return dog.optimal_control(cost, final, steps=steps, dt=STEP, **how).mpc(iterations=iterations)


def main(folder: Path, seconds: float = 3.0) -> float:
    """Trot, draw it, and return the mean speed of the second half, m/s."""
    control = controller()
    ground = trunk.on_ground(friction=0.8)
    control.run(STANDING, np.zeros(dog.nv), STEP, plant=ground)  # compiles
    control.reset()
    run = control.run(STANDING, np.zeros(dog.nv), seconds, plant=ground)
    half = len(run.times) // 2
    speed = (run.q[-1, 0] - run.q[half, 0]) / (run.times[-1] - run.times[half])
    print(
        f"{speed:.2f} m/s ({SPEED} asked); the trunk between {run.q[:, 2].min():.3f} and "
        f"{run.q[:, 2].max():.3f} m; 99 % of the plans within {1e3 * run.percentile():.1f} ms"
    )
    draw(run, folder / "trot.png")
    return float(speed)


def draw(run, path):
    """The robot every 0.3 s, the heights of its feet, and the speed of its trunk."""
    figure = Figure((9.0, 6.5), layout="constrained")
    body, feet, speed = figure.subplots(3, 1)
    for k in range(0, len(run.times), 30):
        poses = trunk.poses(run.q[k])[:, :3, 3]
        ends = [trunk.pose(run.q[k], foot)[:3, 3] for foot in FEET]
        for leg, end in enumerate(ends):
            joints = np.array([*poses[1 + 3 * leg : 4 + 3 * leg], end])
            body.plot(joints[:, 0], joints[:, 2], color=f"C{leg}", lw=1)
        hips = poses[[1, 4, 7, 10]]
        body.plot(hips[:, 0], hips[:, 2], "k", lw=2)
    body.axhline(0.0, color="k", lw=0.5)
    body.set(aspect="equal", xlabel="x (m)", ylabel="z (m)")
    for foot in FEET:
        feet.plot(run.times, trunk.pose(run.q, foot)[:, 2, 3] - RADIUS, label=foot, lw=1)
    feet.set(xlabel="time (s)", ylabel="foot height (m)")
    feet.legend(fontsize=7, ncols=4)
    speed.plot(run.times, run.v[:, 0], label="forward speed (m/s)")
    speed.plot(run.times, run.q[:, 2], label="height of the trunk (m)")
    speed.axhline(SPEED, color="k", lw=0.5)
    speed.set(xlabel="time (s)")
    speed.legend(fontsize=7)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
