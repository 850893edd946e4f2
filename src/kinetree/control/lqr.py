"""Linear-quadratic regulators about a state and along a motion.

Source: B. D. O. Anderson & J. B. Moore, Optimal Control: Linear Quadratic Methods (1990), chapter 2
for the Riccati recursion, chapter 3 for its limit. The linear model is that of the step in use.

    x = (q (-) q_d, v - v_d),    tau = tau_d - K x
    K = (R + B^T S B)^-1 B^T S A,    S <- Q + A^T S (A - B K)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms import difference
from kinetree.algorithms.dense import dot
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.control.controller import Controller
from kinetree.control.motors import holding_forces
from kinetree.control.pd import Scalars
from kinetree.errors import KinetreeError, ShapeError
from kinetree.model import Model
from kinetree.robot.checks import finite_array, finite_state, motors, number, spread
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar
from kinetree.typing import Array, ArrayLike, StepMethod

if TYPE_CHECKING:
    from kinetree.robot import Robot


@through_numpy
def lqr(
    robot: Robot,
    target: ArrayLike,
    *,
    Q: ArrayLike = 1.0,
    R: ArrayLike = 1.0,
    dt: float = 1e-3,
    method: StepMethod = "euler",
    actuated: ArrayLike | None = None,
) -> Controller:
    """The regulator of a configuration at rest, by `scipy.linalg.solve_discrete_are`.

    Arguments:
        robot: what is controlled.
        target: q_d, (nq,); the feedforward forces hold the robot there.
        Q, R: weights of the state (2 nv) and of forces (nv): a matrix, its diagonal, or one number.
        dt, method: the step for which it is optimal: its length, s, and its integrator.
        actuated: which joints have motors, (nv,) booleans; all if None.

    Returns:
        The controller; its inputs are `gain`, `target`, `velocity` and `feedforward`.
    """
    check_robot(robot)
    n, still = robot.nv, np.zeros(robot.nv)
    target, dt = finite_state("target", target, robot.nq), number("dt", dt, above=0.0)
    drives = motors(n, actuated)
    held = holding_forces(robot, target, drives)
    A, B = robot.linearize(target, still, held, dt, method=method)
    K = np.zeros((n, 2 * n))
    Q, R = _matrix("Q", Q, 2 * n), _matrix("R", R, n)
    K[drives] = _steady_gain(A, B[:, drives], Q, R[drives][:, drives])
    inputs = {"gain": K, "target": target, "velocity": still, "feedforward": held}
    return Controller(robot, "lqr", _law, inputs)


def _law(
    model: Model,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    gain: Scalars,
    target: Scalars,
    velocity: Scalars,
    feedforward: Scalars,
) -> list[Scalar]:
    """tau_d - K x."""
    x = [
        *difference(model, target, q),
        *(s - w for s, w in zip(v, velocity, strict=True)),
    ]
    n = len(x)
    rows = [gain[i * n : (i + 1) * n] for i in range(model.nv)]
    return [u - dot(row, x) for u, row in zip(feedforward, rows, strict=True)]


@dataclass(frozen=True)
class TrackingLQR:
    """A linear-quadratic regulator along a motion of T steps.

    Attributes:
        controller: its inputs change from step to step.
        p: its inputs at each step, (T, np), for `Robot.simulate` with series=True.
        gains: K of each step, (T, nv, 2 nv).
        cost: S at each knot, (T + 1, 2 nv, 2 nv).
    """

    controller: Controller
    p: Array
    gains: Array
    cost: Array

    def with_arrays(self, convert: Callable[[Array], Any]) -> TrackingLQR:
        """The same regulator with other arrays, such as another package's.

        Arguments:
            convert: makes them of this regulator's arrays.

        Returns:
            A new regulator, with the same controller.
        """
        arrays = (convert(x) for x in (self.p, self.gains, self.cost))
        return TrackingLQR(self.controller, *arrays)


@through_numpy
def tracking_lqr(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: float,
    *,
    Q: ArrayLike = 1.0,
    R: ArrayLike = 1.0,
    final: ArrayLike | None = None,
    method: StepMethod = "euler",
) -> TrackingLQR:
    """The time-varying regulator along a motion, by the Riccati recursion.

    Arguments:
        robot: what is controlled.
        q, v, tau: states and forces at the beginning of each step, (T, nq) and (T, nv).
        Q, R, dt, method: as in `lqr`.
        final: the weight of the last state; Q if None.

    Returns:
        The controller, and its inputs at each step.
    """
    check_robot(robot)
    n, dt = robot.nv, number("dt", dt, above=0.0)
    given = (("q", q, robot.nq), ("v", v, n), ("tau", tau, n))
    states = [finite_array(name, x, None, length) for name, x, length in given]
    if len({x.shape[:-1] for x in states}) > 1 or states[0].ndim != 2 or not len(states[0]):
        shapes = ", ".join(f"{name} {x.shape}" for (name, *_), x in zip(given, states, strict=True))
        raise ShapeError(f"q, v and tau must have one row per step; their shapes are {shapes}")
    A, B = robot.linearize(states[0], states[1], states[2], dt, method=method)
    Q, R = _matrix("Q", Q, 2 * n), _matrix("R", R, n)
    S = [Q if final is None else _matrix("final", final, 2 * n)]
    gains = []
    for A_k, B_k in zip(A[::-1], B[::-1], strict=True):
        K = _gain(A_k, B_k, S[-1], R)
        gains.append(K)
        S.append(Q + A_k.T @ S[-1] @ (A_k - B_k @ K))
    K = np.array(gains[::-1])
    start = {"gain": K[0], "target": states[0][0], "velocity": states[1][0]}
    controller = Controller(robot, "lqr", _law, start | {"feedforward": states[2][0]})
    p = np.concatenate([K.reshape(len(K), -1), *states], axis=-1)
    return TrackingLQR(controller, p, K, np.array(S[::-1]))


def _matrix(name: str, weight: ArrayLike, n: int) -> Array:
    """A weight as a matrix."""
    given = finite_array(name, weight)
    return spread(name, given, (n, n)) if given.ndim == 2 else np.diag(spread(name, given, (n,)))


def _gain(A: Array, B: Array, S: Array, R: Array) -> Array:
    """K = (R + B^T S B)^-1 B^T S A."""
    try:
        return np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)
    except np.linalg.LinAlgError:
        raise KinetreeError(
            "the Riccati equation has no solution for these Q, R and dt; R must be positive "
            "definite"
        ) from None


def _steady_gain(A: Array, B: Array, Q: Array, R: Array) -> Array:
    from scipy.linalg import solve_discrete_are  # takes time to import

    try:
        S = solve_discrete_are(A, B, Q, R)
    except (np.linalg.LinAlgError, ValueError) as e:
        raise KinetreeError(
            f"the Riccati equation has no solution for this target, Q, R, actuated and dt: {e}"
        ) from None
    return _gain(A, B, S, R)
