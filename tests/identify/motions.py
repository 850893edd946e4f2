"""Motions and logs that the tests of identification share."""

import numpy as np

from kinetree.identify import Log


def smooth_motion(robot, seconds=8.0, rate=200.0, seed=0):
    """Times and a smooth motion: q, v, a of every joint; a floating base is integrated."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * rate)) / rate
    w = 2.0 * np.pi / seconds * np.arange(1, 7)
    c, s = rng.standard_normal((2, 6, robot.nv)) * 0.25
    q = np.sin(np.outer(t, w)) @ s + np.cos(np.outer(t, w)) @ c
    v = (np.cos(np.outer(t, w)) * w) @ s - (np.sin(np.outer(t, w)) * w) @ c
    a = -(np.sin(np.outer(t, w)) * w**2) @ s - (np.cos(np.outer(t, w)) * w**2) @ c
    if robot.nq == robot.nv:
        return t, q, v, a
    return t, robot.integrate(robot.neutral(), q), v, a


def made_log(robot, real, noise=0.0, seed=0, motion=None):
    """A log of a robot whose forces are those of another, with noise."""
    t, q, v, a = motion or smooth_motion(robot, seed=seed)
    tau = real.inverse_dynamics(q, v, a)
    rng = np.random.default_rng(seed + 1)
    return Log(robot, t, q, tau + noise * rng.standard_normal(tau.shape), v, a)


def changed(robot, seed=0, spread=0.2):
    """The robot with other masses: what a CAD model does not know."""
    rng = np.random.default_rng(seed)
    for body, phi in zip(robot.bodies, robot.regressors.parameters.reshape(-1, 10), strict=True):
        m = phi[0] * rng.uniform(1.0 - spread, 1.0 + spread)
        I = phi[4:][[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
        c = phi[1:4] / max(phi[0], 1e-9)
        about = I - phi[0] * (c @ c * np.eye(3) - np.outer(c, c)) + 1e-3 * m * np.eye(3)
        robot = robot.edit.replace_inertia(
            body, m, c + 0.01 * rng.standard_normal(3), about * m / phi[0]
        )
    return robot
