"""Quadratic programs by a primal-dual interior-point method with predictor and corrector.

Source: S. Mehrotra, On the implementation of a primal-dual interior point method (1992); for
quadratic programs J. Nocedal & S. Wright, Numerical Optimization (2006), section 16.6, whose
Algorithm 16.4 this is; the start is that of L. Vandenberghe, The CVXOPT linear and quadratic cone
program solvers (2010), section 5.3; the small diagonal of the equations comes from a proximal
method, A. Schwan et al., PIQP: a proximal interior-point quadratic programming solver (2023).

    book        code      meaning
    x           x         the unknowns
    y, z        y z       multipliers of equations and of bounds
    s           s         the distances of the bounds, slacks
    mu          mu        s^T z / m
    sigma       sigma     (mu_affine / mu)^3

    [H + C^T W C    A^T   ] [dx]     W = z / s of each bound
    [A              -delta] [dy]

Unknowns are eliminated before equations, by minimum degree, so that pivots of unknowns are positive
and those of equations negative. The order is found when the program is traced.

The number of iterations is fixed; those after convergence are skipped. Then comes polishing (B.
Stellato et al., OSQP: an operator splitting solver for quadratic programs, 2020, section 4): bounds
whose multiplier is larger than their slack count as active, and the program with these as equations
is solved by an augmented Lagrangian with one factor. The solution may show another active set, with
which this is repeated. It is kept if its residual is smaller. The residual of the optimality
conditions is a result.

Cost: that of one sparse factor and two solutions in each iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.ltl import factor
from kinetree.algorithms.quadratic.polish import Polish, Polished
from kinetree.algorithms.quadratic.problem import Pattern, Quadratic, equilibrated
from kinetree.algorithms.quadratic.residuals import Iterate, Residuals, left_at
from kinetree.algorithms.quadratic.step import Step
from kinetree.algorithms.quadratic.system import assembled, elimination_order
from kinetree.scalar import Scalar, absolute, call_if, less, maximum, select

POLISHES, FINE = 4, 1e-11
"""The most active sets that are tried, and the residual at which polishing ends."""
OPEN = 1e30
"""Stands for the residual of the start, which is not computed."""


@dataclass(frozen=True)
class Optimum:
    """A solution.

    x: the unknowns.
    residual: the largest violation of the optimality conditions of the equilibrated program.
    equations, bounds: the violation of each; negative if a bound is not reached.
    """

    x: list[Scalar]
    residual: Scalar
    equations: list[Scalar]
    bounds: list[Scalar]


class InteriorPoint:
    """The method for programs of one pattern.

    Arguments:
        pattern: where there are entries.
        iterations: at most this many.
        tolerance: of the residual.
    """

    def __init__(self, pattern: Pattern, iterations: int, tolerance: float) -> None:
        self.pattern, self.iterations, self.tolerance = pattern, iterations, tolerance
        self.order = elimination_order(pattern)
        self._step = Step(pattern, self.order)

    def __call__(self, unscaled: Quadratic) -> Optimum:
        """The solution of a program."""
        given, scales = equilibrated(self.pattern, unscaled)
        reached = self._start(given)
        for _ in range(self.iterations):
            ahead = less(self.tolerance, reached.left)
            reached = call_if(ahead, self._step, reached, given, otherwise=reached)
        polish = Polish(self.pattern, self.order)
        best = Polished(reached, reached.x, OPEN + reached.left)
        for _ in range(POLISHES):
            ahead = less(FINE, best.left)
            best = call_if(ahead, polish, best, given, otherwise=best)
        found = Residuals.at(self.pattern, reached, given)
        over = [r - s for r, s in zip(found.slack, reached.s, strict=True)]
        left = left_at(found, over, reached.z)
        better = less(best.left, left)
        x = [select(better, u, v) * d for u, v, d in zip(best.x, reached.x, scales, strict=True)]
        return Optimum(x, select(better, best.left, left), *self._violations(x, unscaled))

    def _violations(
        self, x: Sequence[Scalar], given: Quadratic
    ) -> tuple[list[Scalar], list[Scalar]]:
        """The violations of equations and bounds at x."""
        none = [0.0] * len(self.pattern.sides)
        at = Iterate(list(x), [0.0] * self.pattern.equations, none, none, 0.0)
        r = Residuals.at(self.pattern, at, given)
        return [absolute(e) for e in r.primal], r.slack

    def _start(self, given: Quadratic) -> Iterate:
        """The solution with z = -s, both then moved until they are positive."""
        pattern = self.pattern
        n, ones = pattern.unknowns, [1.0] * len(pattern.sides)
        K = assembled(pattern, given, ones)
        factored = factor(K, self.order)
        rhs = [-x for x in given.g]
        C = pattern.rows(given.C, "C")
        for (i, _), bound in zip(pattern.sides, given.bounds, strict=True):
            for j, entry in C[i].items():
                rhs[j] = rhs[j] + entry * bound
        found = factored.solve([*rhs, *given.b])
        x, y = found[:n], found[n:]
        Cx = [sum((v * x[j] for j, v in row.items()), start=0.0) for row in C]
        room = [
            (bound - Cx[i]) * sign
            for (i, sign), bound in zip(pattern.sides, given.bounds, strict=True)
        ]
        s = _moved(room)
        z = _moved([-r for r in room])
        return Iterate(x, y, s, z, OPEN + given.g[0] * 0.0)


def _moved(x: Sequence[Scalar]) -> list[Scalar]:
    """x if it is positive, else x shifted until it is at least one."""
    if not x:
        return []
    lack = -x[0]
    for value in x[1:]:
        lack = maximum(lack, -value)
    shift = select(less(lack, 0.0), 0.0, lack + 1.0)
    return [value + shift for value in x]
