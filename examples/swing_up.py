"""A cart-pole, swung up by energy control and caught by a linear-quadratic regulator.

The controller is a plain Python function of scalars, compiled with the step into one kernel.
K. J. Astrom & K. Furuta, Swinging up a pendulum by energy control (2000).
"""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.scalar import absolute, atan2, cos, less, logical_and, maximum, minimum, select, sin

robot = kt.robots.cart_pole()
DT = 0.01
regulator = kt.control.lqr(robot, [0.0, 0.0], Q=[1, 10, 1, 1], R=0.1, dt=DT, actuated=[True, False])
K = regulator.inputs["gain"][:4]


def swing_up(t, q, v, p):
    """Push in proportion to the missing energy; balance near the top. p: the energy gain."""
    angle = atan2(sin(q[1]), cos(q[1]))  # angle from the top, in (-pi, pi]
    energy = 0.5 * v[1] * v[1] - 1.5 * 9.81 * (1.0 - cos(q[1]))  # 0 at the top, per m l^2 / 3
    pump = p[0] * energy * v[1] * cos(q[1]) - 2.0 * q[0] - 1.0 * v[0]
    balance = -(K[0] * q[0] + K[1] * angle + K[2] * v[0] + K[3] * v[1])
    near = logical_and(less(absolute(angle), 0.35), less(absolute(v[1]), 3.0))
    force = select(near, balance, pump)
    return [minimum(maximum(force, -10.0), 10.0), 0.0]


def main(folder: Path) -> float:
    """Simulate 64 initial states, draw them, and return the fraction upright at the end."""
    rng = np.random.default_rng(0)
    q = np.array([0.0, np.pi]) + 0.3 * rng.standard_normal((64, 2))
    v, gain = 0.3 * rng.standard_normal((64, 2)), np.array([0.4])
    run = robot.simulate(q, v, swing_up, time=15.0, dt=DT, p=gain, method="rk4", every=10)
    stands = np.cos(run.q[:, -1, 1]) > 0.999
    run.plot(folder / "swing_up.png", ["q", "tau"])
    print(f"{stands.sum()} of {len(stands)} stand after {run.times[-1]:g} s")
    return float(stands.mean())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
