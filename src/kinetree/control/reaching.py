"""Reaching: one try of inverse kinematics, from a start to a solution, over any scalar.

Source: T. Sugihara, Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method
(2011): the damping is the squared error itself, so that steps are careful far away and converge
quadratically near the target. The null-space term is that of A. Liegeois (1977).

    symbol    code         meaning
    e, J      e J          errors of frames, of the centre of mass and of loops, and their Jacobian
    r         r            the missing clearance of two shapes, `contact.avoidance`; and the excess
                           of ball joints over their ranges, `ball_limits`
    w         w            damping, (|e|^2 + |r|^2) / 2 + c
    z         z            gain (q_0 (-) q), the step wanted in the null space
    H, g      H g          J^T J + sum grad grad^T,  J^T (e - J z) + sum (r - grad z) grad

    dq = z + (H + w 1)^-1 g,    q <- q (+) dq, clipped to the limits

A joint at a limit is held if g points beyond the limit: its rows and columns are left out (the
projected gradient method of D. P. Bertsekas, 1982).

The number of iterations is fixed; those after a solution are skipped. A solution has every error
within the tolerance, every ball joint in its range, and every pair of shapes at least `clearance`
apart.

Cost: O(n^2 m) for m rows and n velocities, O(n^3) for the factor; pairs that are near on top.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.algorithms import difference, frame_pose, integrate
from kinetree.algorithms.ball_limits import outward_limits
from kinetree.algorithms.center_of_mass import center_of_mass, center_of_mass_jacobian
from kinetree.algorithms.constraints import constraint_rows
from kinetree.algorithms.contact.avoidance import Avoidance, Terms
from kinetree.algorithms.dense import dot, factor_symmetric
from kinetree.algorithms.limited import limited_balls, limited_coordinates
from kinetree.algorithms.steps.limits import within_limits
from kinetree.control.pose import frame_task, seven_scalars
from kinetree.model import Model
from kinetree.scalar import (
    Scalar,
    absolute,
    call_if,
    less,
    less_equal,
    logical_and,
    logical_or,
    maximum,
    select,
)

SMALLEST = 1e-10
"""c: keeps the matrix nonsingular when the error is zero."""
FURTHER = 1e-3
"""m: shapes are driven this much further apart than demanded, so that solutions have a margin."""
INSIDE, SHARE = 1e-3, 0.1
"""rad: ball joints are driven this far inside their ranges; of narrow ranges only this share."""
OPEN = 1e30
"""Stands for the error of a start until it is computed."""


@dataclass(frozen=True)
class Task:
    """The targets of inverse kinematics, without their numbers.

    frames: names of frames, each with the number of rows, 6 for a pose and 3 for a position.
    center: whether the centre of mass has a target.
    apart: whether shapes are kept apart.
    null_space: the gain towards the posture in the null space.
    """

    frames: tuple[tuple[str, int], ...]
    center: bool
    apart: bool
    null_space: float

    @property
    def length(self) -> int:
        """The length of a target: seven numbers a frame, three for the centre of mass."""
        return 7 * len(self.frames) + (3 if self.center else 0)

    def reached(self, model: Model, q: Sequence[Scalar]) -> list[Scalar]:
        """The poses of the frames and the centre of mass, as a target."""
        found: list[Scalar] = []
        for frame, _ in self.frames:
            found += seven_scalars(frame_pose(model, q, frame))
        return found + (center_of_mass(model, q) if self.center else [])

    def rows(
        self, model: Model, q: Sequence[Scalar], target: Sequence[Scalar]
    ) -> tuple[list[Scalar], list[list[Scalar]]]:
        """e and J: of each frame, of the centre of mass, of the robot's constraints."""
        e: list[Scalar] = []
        J: list[list[Scalar]] = []
        for k, (frame, count) in enumerate(self.frames):
            own = frame_task(model, q, frame, target[7 * k : 7 * k + 7], count)
            e, J = [*e, *own[0]], [*J, *own[1]]
        if self.center:
            wanted = target[7 * len(self.frames) :]
            found = center_of_mass(model, q)
            e += [x - y for x, y in zip(wanted, found, strict=True)]
            J += center_of_mass_jacobian(model, q)
        closing = constraint_rows(model, q)
        e += [-x for x in closing.error]
        J += [[row.get(k, 0.0) for k in range(model.nv)] for row in closing.J]
        return e, J


@dataclass(frozen=True)
class Given:
    """The numbers of a call.

    target: seven numbers a frame, then the centre of mass.
    posture: the target in the null space.
    """

    target: list[Scalar]
    posture: list[Scalar]
    tolerance: Scalar
    clearance: Scalar


@dataclass(frozen=True)
class Reached:
    """The state of a try.

    q: the configuration that was evaluated last.
    onward: the one to evaluate next.
    error: the largest entry of e at q, or the excess of a ball joint over its range if larger.
    distance: the least distance of two shapes at q, at most the one they are driven to.
    """

    q: list[Scalar]
    onward: list[Scalar]
    error: Scalar
    distance: Scalar


def reach(
    model: Model, task: Task, start: Sequence[Scalar], given: Given, iterations: int
) -> Reached:
    """Iterate from a start until there is a solution, or the iterations are used up."""
    step = Step(model, task)
    reached = Reached(list(start), list(start), OPEN + given.tolerance, given.clearance)
    for _ in range(iterations):
        ahead = logical_or(
            less(given.tolerance, reached.error), less(reached.distance, given.clearance)
        )
        reached = call_if(ahead, step, reached, given, otherwise=reached)
    return reached


class Step:
    """One step: a function of scalars alone."""

    def __init__(self, model: Model, task: Task) -> None:
        self.model, self.task = model, task
        self._avoidance = Avoidance(model)

    def __call__(self, reached: Reached, given: Given) -> Reached:
        model, q, n = self.model, reached.onward, self.model.nv
        e, J = self.task.rows(model, q, given.target)
        columns = [list(column) for column in zip(*J, strict=True)] if J else [[]] * n
        H = [[dot(columns[i], columns[j]) for j in range(i + 1)] for i in range(n)]
        g = [dot(column, e) for column in columns]
        square = dot(e, e)
        distance = given.clearance + FURTHER
        if self.task.apart:
            found = self._avoidance.added(q, distance, Terms(H, g, distance))
            r = distance - found.distance
            H, g, square, distance = found.H, found.g, square + r * r, found.distance
        error: Scalar = 0.0
        for beyond, row, inside in self._ranges(q):
            r = maximum(beyond + inside, 0.0)
            acts = less(0.0, r)
            for i, slope in row.items():
                for j in row.keys() & range(i + 1):
                    H[i][j] = H[i][j] + select(acts, slope * row[j], 0.0)
                g[i] = g[i] - r * slope
            square, error = square + r * r, maximum(error, beyond)
        dq = self._moved(q, H, g, square * 0.5 + SMALLEST, given.posture)
        moved = within_limits(model, integrate(model, q, dq))
        for x in e:
            error = maximum(error, absolute(x))
        return Reached(q, moved, error, distance)

    def _ranges(self, q: Sequence[Scalar]) -> Iterator[tuple[Scalar, dict[int, Scalar], float]]:
        """The excess of ball joints over their ranges, its gradient by velocity index, a margin."""
        for i in limited_balls(self.model):
            at, given = self.model.v_slices[i].start, self.model.bodies[i].limits.ball
            assert given is not None
            low, high = given.twist
            rooms = {"swing": min(given.swing), "twist": 0.5 * (high - low), "angle": given.angle}
            limits = outward_limits(self.model, q, [i])
            for name, (beyond, slopes) in zip(given.names, limits, strict=True):
                inside = min(INSIDE, SHARE * rooms[name])
                yield beyond, dict(enumerate(slopes, at)), inside

    def _moved(
        self,
        q: Sequence[Scalar],
        H: list[list[Scalar]],
        g: list[Scalar],
        w: Scalar,
        posture: Sequence[Scalar],
    ) -> list[Scalar]:
        """dq: z plus the damped step for the error that z leaves."""
        n = self.model.nv
        held = self._held(q, g)
        z: list[Scalar] = [0.0] * n
        if self.task.null_space:
            away = difference(self.model, q, posture)
            z = [select(h, 0.0, x * self.task.null_space) for h, x in zip(held, away, strict=True)]
            full = [[H[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
            g = [x - dot(row, z) for x, row in zip(g, full, strict=True)]
        A: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        for i in range(n):
            A[i][i] = select(held[i], 1.0, H[i][i] + w)
            for j in range(i):
                A[i][j] = A[j][i] = select(logical_or(held[i], held[j]), 0.0, H[i][j])
        free = [select(h, 0.0, x) for h, x in zip(held, g, strict=True)]
        return [x + y for x, y in zip(z, solved(A, free), strict=True)]

    def _held(self, q: Sequence[Scalar], g: Sequence[Scalar]) -> list[Scalar]:
        """For each velocity, whether its joint is at a limit and the gradient points beyond it."""
        held: list[Scalar] = [False] * self.model.nv
        for at, k, lower, upper in limited_coordinates(self.model):
            for normal, bound in ((1.0, upper), (-1.0, -lower)):
                if math.isfinite(bound):
                    there = less_equal(bound, q[at] * normal)
                    out = logical_and(there, less(0.0, g[k] * normal))
                    held[k] = out if held[k] is False else logical_or(held[k], out)
        return held


def solved(A: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
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


def kernel_function(task: Task, iterations: int) -> Any:
    """The function of a kernel: (q, target, posture, tolerance, clearance) to a try's result."""

    def inverse_kinematics(
        model: Model, q: Any, target: Any, posture: Any, tolerance: Any, clearance: Any
    ) -> dict[str, Any]:
        given = Given(list(target), list(posture), tolerance, clearance)
        found = reach(model, task, list(q), given, iterations)
        return {
            "q": found.q,
            "error": found.error,
            "distance": found.distance,
            "onward": found.onward,
        }

    return inverse_kinematics
