"""Inverse kinematics of a batch of targets, by damped least squares with restarts.

Source: T. Sugihara, Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method
(2011): the damping is the squared error itself, so that steps are careful far away and converge
quadratically near the target. The null-space term is that of A. Liegeois (1977).

    symbol    code     meaning
    e, J      e J      error and Jacobian of the frame
    w         w        damping, |e|^2 / 2 + c
    z         z        gain (q_0 (-) q), where the null space should lead

    dq = J^T (J J^T + w 1)^-1 (e - J z) + z,    q <- q (+) dq, cut off at the limits

A joint at a limit that the error's slope J^T e leads across is held: its column of J is zero (the
projected gradient method of D. P. Bertsekas, 1982).

The rows of a robot's constraints are rows of J, with minus their errors in e: a solution reaches
the target and closes the loops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms import difference, integrate
from kinetree.algorithms.constraints import constraint_rows
from kinetree.algorithms.dense import dot, factor_symmetric
from kinetree.algorithms.limited import limited_coordinates
from kinetree.algorithms.steps.limits import Enforcement, clamped
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.control.pose import POSE, POSITION, frame_task, seven_numbers
from kinetree.errors import ShapeError
from kinetree.kinds import flag
from kinetree.model import Model
from kinetree.robot.checks import count, finite_state, generator, number, spread
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar, less, less_equal, logical_and, select
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

CLAMPED = Enforcement(stops="clamp")
SMALLEST = 1e-12
"""c: keeps the matrix nonsingular when the error is zero."""


class Solution(NamedTuple):
    """The configurations that were found, one for each target.

    Attributes:
        q: configurations, (..., nq), within the limits; the best that was found.
        error: the largest entry of the error, that of constraints included, m or rad, (...).
        success: where the error is below the tolerance, (...).
        tries: how many starts were needed, (...).
    """

    q: Array
    error: Array
    success: np.ndarray[Any, np.dtype[np.bool_]]
    tries: np.ndarray[Any, np.dtype[np.intp]]


class InverseKinematics:
    """A solver for the poses of one frame, compiled.

    Arguments:
        robot: whose frame it is.
        frame: its name.
        orientation: whether targets have an orientation; else only a position.
        null_space: the gain towards the posture in the null space of the task, 0 to 1.
    """

    @through_numpy
    def __init__(
        self, robot: Robot, frame: str, orientation: bool = True, null_space: float = 0.0
    ) -> None:
        check_robot(robot)
        robot.model.frame(frame)
        self.robot, self.frame = robot, frame
        self.null_space = number("null_space", null_space)
        self._rows = POSE if flag("orientation", orientation) else POSITION

    @cached_property
    def iteration(self) -> Kernel:
        """One iteration, compiled: (q, target, posture) to (error before it, q after it)."""
        nq = self.robot.nq
        return self.robot.custom_kernel(
            self._iteration, {"q": nq, "target": 7, "posture": nq}, "inverse_kinematics"
        )

    def _iteration(self, model: Model, q: Any, target: Any, posture: Any) -> dict[str, Any]:
        e, J = frame_task(model, q, self.frame, target, self._rows)
        closing = constraint_rows(model, q)
        e = [*e, *(-x for x in closing.error)]
        J = [*J, *([row.get(k, 0.0) for k in range(model.nv)] for row in closing.J)]
        J = _held_at_limits(model, q, e, J)
        w = dot(e, e) * 0.5 + SMALLEST
        A = [[dot(a, b) + (w if i == j else 0.0) for j, b in enumerate(J)] for i, a in enumerate(J)]
        z: list[Scalar] = [0.0] * model.nv
        if self.null_space:
            z = [x * self.null_space for x in difference(model, q, posture)]
        short = [x - dot(row, z) for x, row in zip(e, J, strict=True)]
        F = _solved(A, short)
        dq = [dot(column, F) + x for column, x in zip(zip(*J, strict=True), z, strict=True)]
        moved, _ = clamped(model, integrate(model, q, dq), [0.0] * model.nv, CLAMPED)
        return {"error": list(e), "q": moved}

    @through_numpy
    def solve(
        self,
        target: ArrayLike,
        start: ArrayLike | None = None,
        posture: ArrayLike | None = None,
        *,
        tolerance: float = 1e-8,
        iterations: int = 30,
        restarts: int = 30,
        rng: np.random.Generator | int | None = 0,
    ) -> Solution:
        """The configurations in which the frame is where it should be.

        Arguments:
            target: (..., 7) origin and quaternion (x y z w), (..., 4, 4) matrices, or (..., 3).
            start: where to start, (..., nq); random configurations if None.
            posture: where to move within the null space, (nq,); the neutral configuration if None.
            tolerance: for each entry of the error, m or rad.
            iterations: how many one try takes at most.
            restarts: how many more tries to make from random configurations where one fails.
            rng: a generator or a seed, for the restarts.

        Returns:
            A configuration for each target, its error, and whether it is within the tolerance.
        """
        robot, random = self.robot, generator("rng", rng)
        tolerance = number("tolerance", tolerance, 0.0)
        iterations, restarts = count("iterations", iterations), count("restarts", restarts, 0)
        targets = seven_numbers(robot, self.frame, target)
        if targets.shape[-1:] != (7,):
            raise ShapeError(
                f"target has shape {targets.shape}; (..., 7), (..., 4, 4) or (..., 3) is expected"
            )
        batch = targets.shape[:-1]
        flat = np.ascontiguousarray(targets.reshape(-1, 7))
        first = robot.random(random, batch) if start is None else start
        q = spread("start", first, (*batch, robot.nq)).reshape(-1, robot.nq)
        found = _Found(q.copy(), np.full(len(flat), np.inf), np.zeros(len(flat), np.intp))
        rest = robot.neutral() if posture is None else finite_state("posture", posture, robot.nq)
        left = np.arange(len(flat))
        for _ in range(1 + restarts):
            found.tries[left] += 1
            self._attempt(found, left, q, flat[left], rest, tolerance, iterations)
            left = np.flatnonzero(found.error > tolerance)
            if not left.size:
                break
            q = robot.random(random, left.size)
        return Solution(
            found.q.reshape(*batch, robot.nq),
            found.error.reshape(batch),
            (found.error <= tolerance).reshape(batch),
            found.tries.reshape(batch),
        )

    def _attempt(
        self,
        found: _Found,
        which: Any,
        q: Array,
        targets: Array,
        posture: Array,
        tolerance: float,
        iterations: int,
    ) -> None:
        """Iterate from q for some of the targets, and keep what is better than before."""
        for _ in range(iterations):
            errors, moved = self.iteration(q, targets, posture)
            error = np.abs(errors).max(axis=-1)
            better = error < found.error[which]
            found.q[which[better]], found.error[which[better]] = q[better], error[better]
            going = error > tolerance
            if not going.any():
                return
            which, q, targets = which[going], moved[going], targets[going]


class _Found(NamedTuple):
    q: Array
    error: Array
    tries: np.ndarray[Any, np.dtype[np.intp]]


def _held_at_limits(
    model: Model, q: Sequence[Scalar], e: list[Scalar], J: list[list[Scalar]]
) -> list[list[Scalar]]:
    """J without the columns of joints that are at a limit and would be moved beyond it."""
    columns = [list(column) for column in zip(*J, strict=True)]
    for at, k, lower, upper in limited_coordinates(model):
        slope = dot(columns[k], e)
        for normal, bound in ((1.0, upper), (-1.0, -lower)):
            if math.isfinite(bound):
                there = less_equal(bound, q[at] * normal)
                out = logical_and(there, less(0.0, slope * normal))
                columns[k] = [select(out, 0.0, x) for x in columns[k]]
    return [list(row) for row in zip(*columns, strict=True)]


def _solved(A: list[list[Scalar]], b: list[Scalar]) -> list[Scalar]:
    """A^-1 b of a symmetric positive definite matrix."""
    L, D_inv = factor_symmetric(A)
    n = len(b)
    x = list(b)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i][k] * x[k]
    x = [y * d for y, d in zip(x, D_inv, strict=True)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return x
