"""The motions that meet all equalities: steps along them, and back to them.

Standing frames are equalities r(c) = 0 of the coefficients. With penalties alone, Newton steps
follow a curved valley whose walls are the penalties, and must be short. Here a step keeps the
equalities to first order, and is then projected back onto them, so that only the curvature of the
cost limits its length.

Source: J. Nocedal & S. J. Wright, Numerical Optimization (2006), sections 16.2 (Schur complement)
and 18.1; P.-A. Absil, R. Mahony & R. Sepulchre, Optimization Algorithms on Matrix Manifolds (2008),
section 4.1 (retractions).

    symbol  code      meaning
    r, J    rows, J   equalities and their derivatives by the free coefficients
    K       -         second derivatives of the Lagrangian and of penalties, damped: a band matrix
    Y, S    Y, S      K^-1 J^T and J K^-1 J^T
    p, y              the step and the change of multipliers: K p + J^T y = -g, J p = -r

differs: the projection is along Y, which changes the quadratic model least, with Y and S of the
step (a chord method). With the multipliers of the step, the model is then exact to second order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.motion.arrays import Array

if TYPE_CHECKING:
    from kinetree.motion.objective import Integral
    from kinetree.motion.terms import Constraint
    from kinetree.motion.transition_problem import Problem

DEPENDENT = 1e-12
"""Eigenvalues of S, scaled to a unit diagonal, below this share of the largest belong to dependent
rows."""
MET = 1e-9
"""The residual below which rows are met, over the scale of their constraints."""
ROUGHLY = 1e-6
"""The same for the first motion, before the last steps to it; and for contradicting rows."""
LOST = 10.0
"""The residual of rows beyond which a step is given up."""
RETURNS = 12
"""The most chord steps back to the surface."""
STARTS, SMOOTHED, NEAR = 40, 6, 0.5
"""The most steps to the first motion on the surface; the number of them that lead to the smoothest
one, while the others lead to the nearest; and the largest change in one, rad or m."""


class Normal(NamedTuple):
    """The normal directions of the surface at a motion: Y, and the inverse of S."""

    Y: Array
    inverse: Array

    def back(self, rows: Array) -> Array:
        """The change of coefficients that takes rows to zero, to first order."""
        return -self.Y @ (self.inverse @ rows)


def normal(J: Array, Y: Array) -> Normal:
    """From J and K^-1 J^T; dependent rows are left out."""
    S = J @ Y
    size = np.sqrt(np.maximum(np.diagonal(S), 1e-300))  # rows of light limbs count like others
    values, vectors = np.linalg.eigh(0.5 * (S + S.T) / np.outer(size, size))
    kept = values > DEPENDENT * max(float(values[-1]), 1e-300)
    inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
    vectors = vectors / size[:, None]
    return Normal(Y, (vectors * inverse) @ vectors.T)


class Surface:
    """The equalities of a problem as functions of the free coefficients.

    Arguments:
        problem: with constraints of which some are equalities.

    met: the residual below which rows are met: MET, or the residual of dependent rows that slightly
        contradict others.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.met = MET
        self._parts: list[tuple[Integral, Constraint, tuple[Array, ...]]] = []
        for part, term in problem.constraints:
            lower, upper = term.bounds()
            if term.exact and lower.ndim == 3:
                equal = (lower == upper) & (part.weights > 0.0)[..., None]
                if equal.any():
                    self._parts.append((part, term, np.nonzero(equal)))
                    term.kept = True

    @property
    def count(self) -> int:
        """The number of rows."""
        return sum(len(at[0]) for _, _, at in self._parts)

    def rows(self, c: Array, which: Array) -> Array:
        """The equalities, (problems, rows)."""
        whole = self._problem.objective.whole(c, which)
        found = [
            term.measured(part.state(whole), which)[:, at[0], at[1], at[2]]
            for part, term, at in self._parts
        ]
        return np.concatenate(found, axis=-1)

    def expand(self, c: Array, which: Array) -> tuple[Array, Array]:
        """The equalities and J, (problems, rows) and (problems, rows, free coefficients n)."""
        whole = self._problem.objective.whole(c, which)
        rows, J = [], []
        for part, term, at in self._parts:
            state = part.state(whole)
            rows.append(term.measured(state, which)[:, at[0], at[1], at[2]])
            J.append(part.by_coefficients(state, term.slopes(state, which), at))
        first = self._problem.objective.ends[0].shape[1]
        free = np.concatenate(J, axis=1)[:, :, first : first + c.shape[1]]
        return np.concatenate(rows, axis=-1), free.reshape(len(c), self.count, -1)

    def push(self, which: int, y: Array) -> None:
        """Change the multipliers of one problem; they count with the weights of their samples."""
        begin = 0
        for part, term, at in self._parts:
            end = begin + len(at[0])
            term.above[which, at[0], at[1], at[2]] += y[begin:end] / part.weights[at[:2]]
            begin = end

    def start(self, c: Array) -> tuple[Array, bool]:
        """The motions of least acceleration that meet the equalities, and whether all do.

        Accelerations are weighted with the inertia of each coordinate at the start of a motion.

        Arguments:
            c: free coefficients; their noise about the smoothest motions is kept.
        """
        problem = self._problem
        first, last = problem.ends
        N = problem.effort.accelerations()  # (samples, count)
        A, free = N.T @ N, slice(first.shape[1], first.shape[1] + c.shape[1])
        outside = np.r_[0 : free.start, free.stop : len(A)]
        inverse = np.linalg.inv(A[free, free])
        found = True
        ends = np.concatenate([first, last], axis=1)
        wanted = c - inverse @ (A[free, free] @ problem.smooth() + A[free, outside] @ ends)
        c = wanted.copy()
        for k in range(problem.count):
            inertia = np.diagonal(problem.robot.mass_matrix(problem.first[0][k]))
            found &= self._descend(c, wanted, k, inverse, 1.0 / inertia)
        return c, found

    def _descend(self, c: Array, wanted: Array, k: int, inverse: Array, light: Array) -> bool:
        """Bring one problem to the surface, as near as possible to a motion; whether it reached it.

        Arguments:
            c: changed in place.
            wanted: the target motions.
            k: the problem.
            inverse, light: of the accelerations' weights by coefficients and by coordinates.
        """
        which = np.array([k])
        for count in range(STARTS):
            rows, J = self.expand(c[which], which)
            each = J[0].reshape(len(J[0]), *c.shape[1:])
            Y = (np.einsum("ij,rjn->rin", inverse, each) * light).reshape(len(each), -1).T
            ways = normal(J[0], Y)
            off = (wanted[k] - c[k]).ravel() * (count < SMOOTHED)
            step = off + ways.back(rows[0] + J[0] @ off)
            step *= min(1.0, NEAR / max(float(np.abs(step).max()), 1e-300))
            c[k] += step.reshape(c.shape[1:])
            if np.abs(rows).max() < ROUGHLY and np.abs(step).max() < 1e-3:
                break
        best = np.inf
        for _ in range(RETURNS):
            rows, J = self.expand(c[which], which)
            left = float(np.abs(rows).max())
            if left < MET:
                return True
            if left > 0.5 * best and best < ROUGHLY:  # recorded ends move a foot that stands
                self.met = max(self.met, 2.0 * left)
                return True
            best = min(best, left)
            each = J[0].reshape(len(J[0]), *c.shape[1:])
            Y = (np.einsum("ij,rjn->rin", inverse, each) * light).reshape(len(each), -1).T
            c[k] += normal(J[0], Y).back(rows[0]).reshape(c.shape[1:])
        return False
