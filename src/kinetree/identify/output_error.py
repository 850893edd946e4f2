"""Output error: parameters with which a simulation follows the measured motion.

Sources: L. Ljung, System Identification: Theory for the User (2nd ed., 1999); M.
Gautier, A. Janot & P.-O. Vandanjon, A new closed-loop output error method for parameter
identification of robot dynamics, IEEE Transactions on Control Systems Technology 21 (2013); H. G.
Bock's multiple shooting, here with the measured states as starts.

No acceleration is needed: the log is cut into short windows, each is simulated from its measured
state under the measured forces, and the distance between simulated and measured positions is made
small. All windows are one batch of `robot.rollout`, whose gradient by inertial parameters is
compiled. The search is SciPy's L-BFGS-B in log-Cholesky coordinates, so inertias stay possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import KinetreeError, LogError, among, unknown
from kinetree.identify.log import Log
from kinetree.identify.log_cholesky import from_coordinates, regular, to_coordinates
from kinetree.identify.smooth import quaternions
from kinetree.kinds import instance, texts
from kinetree.model import Model
from kinetree.model.parameters import Inertial, with_numbers
from kinetree.robot.checks import count, number
from kinetree.robot.core import check_robot
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot


def fit_output_error(
    robot: Robot,
    log: Log,
    bodies: Sequence[str] | None = None,
    *,
    window: int = 50,
    trust: float = 3.0,
    noise: float = 1e-3,
    iterations: int = 100,
) -> Robot:
    """The robot whose simulation is nearest to a log.

    Arguments:
        robot: where the search starts, such as the result of `fit`; its drives are kept.
        log: equally spaced, with velocities.
        bodies: those whose inertias are identified; all if None.
        window: the number of steps in each simulation.
        trust: the standard deviation of a body's inertia, in log-Cholesky coordinates, from what
            the robot has.
        noise: the standard deviation of the positions, rad or m.
        iterations: the most that the optimiser takes.

    Returns:
        A new robot.
    """
    check_robot(robot)
    instance("log", log, Log, "a Log")
    names = list(robot.bodies if bodies is None else texts("bodies", bodies))
    for name in names:
        if not among(name, robot.bodies):
            raise unknown("body", name, robot.bodies, f"robot {robot.name!r}")
    if not names:
        raise KinetreeError("bodies is empty: the names of one or more are expected")
    window, iterations = count("window", window, 1), count("iterations", iterations, 0)
    trust, noise = number("trust", trust, above=0.0), number("noise", noise, above=0.0)
    problem = _Problem(robot, log, names, window, trust, noise)
    minimize = import_module("scipy.optimize").minimize
    options = {"maxiter": iterations, "ftol": 1e-12, "gtol": 1e-9}
    found = minimize(
        problem.goal, problem.start.ravel(), method="L-BFGS-B", jac=True, options=options
    )
    return problem.robot_at(found.x)


class _Problem:
    """The distance between simulations and a log, and its gradient."""

    def __init__(
        self,
        robot: Robot,
        log: Log,
        names: Sequence[str],
        window: int,
        trust: float,
        noise: float,
    ) -> None:
        if log.v is None:
            raise LogError(f"{log.source}: it has no velocities; filtered(log, cutoff) has them")
        if len(log) <= window:
            raise LogError(
                f"{log.source}: {len(log)} samples are fewer than a window of {window} steps"
            )
        self.robot, self.parts = robot, [Inertial(name) for name in names]
        self.trust, self.noise = trust, noise
        starts = np.arange(0, len(log) - window, window)
        steps = starts[:, None] + np.arange(window + 1)
        self.q, self.v0, self.tau = log.q[steps], log.v[starts], log.tau[steps[:, :-1]]
        dt = float(np.diff(log.time).mean())
        nv = robot.nv
        self.rollout = robot.rollout(
            lambda t, q, v, p: list(p),
            window,
            dt,
            method="midpoint",
            p_length=nv,
            series=True,
            parameters=self.parts,
        )
        nominal = np.array([part.nominal(robot.model) for part in self.parts], float)
        self.start = to_coordinates(regular(nominal))

    def goal(self, x: Array) -> tuple[float, Array]:
        """The sum of squares and its gradient by log-Cholesky coordinates."""
        y = x.reshape(-1, 10)
        phi, slope = from_coordinates(y)
        given = dict(zip(self.parts, phi, strict=True))
        moved = self.rollout(self.q[:, 0], self.v0, self.tau, given)
        error = (moved.q - _aligned(self.robot.model, self.q, moved.q)) / self.noise
        error = np.where(np.isfinite(error), error, 1e3)
        weights = {"q": 2.0 * error / self.noise}
        by = self.rollout.gradient(self.q[:, 0], self.v0, weights, self.tau, given)["parameters"]
        by_phi = by.reshape(len(self.q), -1, 10).sum(axis=0)
        away = (y - self.start) / self.trust
        value = float((error**2).sum() + (away**2).sum())
        gradient = np.einsum("bi,bij->bj", by_phi, slope) + 2.0 * away / self.trust
        return value, gradient.ravel()

    def robot_at(self, x: Array) -> Robot:
        phi, _ = from_coordinates(x.reshape(-1, 10))
        numbers = [float(number) for number in phi.ravel()]
        return type(self.robot)(with_numbers(self.robot.model, self.parts, numbers))


def _aligned(model: Model, q: Array, near: Array) -> Array:
    """Configurations whose quaternions have the signs of those they are compared with."""
    q = q.copy()
    for quat in quaternions(model):
        dots = (q[..., quat] * near[..., quat]).sum(axis=-1, keepdims=True)
        q[..., quat] *= np.where(dots < 0.0, -1.0, 1.0)
    return q
