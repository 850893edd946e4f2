"""Newton's method with an exact line search for the problem of soft constraints.

Source: E. Todorov (2014), as in `reference`; MuJoCo's documentation, "Computation", section
"Algorithms". The accelerations minimise a strictly convex function,

    min over a of  1/2 a^T M a - a^T f + sum of s(J a - aref)                                (9)

    g = M a - f - J^T f_c(x),    H = M + J^T s'' J,    p = - H^-1 g,    a <- a + alpha p       (10)

    symbol       code         meaning
    M            M            the mass matrix
    f            f            joint forces less all forces at zero acceleration
    alpha        alpha        where (9) is smallest along p, by `line_search`
    g^T H^-1 g   decrement    twice the decrease that the quadratic model of (9) predicts

If no law changes its branch along p, (9) is quadratic there, except for cones, and one step is
exact. The number of steps is fixed; one that follows an exact step or a small decrement is skipped.
Each step skips the parts of which no row can act.

Derivatives are implicit: at the solution g is zero, so that da = - H^-1 dg, independent of the
iterations.

Cost: O(N d^2) for the factor of H in each step, more where bodies of different branches touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.algorithms.contact.line_search import EXACT, LineSearch, exact_share
from kinetree.algorithms.contact.part import Part, Rows, added, moved
from kinetree.algorithms.contact.problem import Layout, Problem
from kinetree.algorithms.dense import dot
from kinetree.algorithms.ltl import factor
from kinetree.scalar import (
    Scalar,
    call_if,
    derivative_from,
    less,
    stop_gradient,
)

NOISE = 1e-26
"""Relative to the size of a problem: smaller decrements are rounding errors."""


@dataclass(frozen=True)
class Iterate:
    """a, and the decrement of the step that led to it; zero if that was exact."""

    a: list[Scalar]
    decrement: Scalar


def minimised(
    layout: Layout,
    problem: Problem,
    start: Sequence[Scalar],
    iterations: int,
    tolerance: float,
) -> Iterate:
    """a of equation (9)."""
    step = NewtonStep(layout, exact_share(tolerance))
    enough = problem.size * tolerance**2
    reached = step(Iterate(list(start), problem.size), problem)
    for _ in range(iterations - 1):
        reached = call_if(
            less(enough, reached.decrement), step, reached, problem, otherwise=reached
        )
    last = step.exact([stop_gradient(x) for x in reached.a], problem)
    a = [derivative_from(x, y) for x, y in zip(reached.a, last, strict=True)]
    return Iterate(a, reached.decrement)


@dataclass(frozen=True)
class NewtonStep:
    """One step of equation (10): a function of scalars alone, equal for equal layouts."""

    layout: Layout
    exactly: float = EXACT

    def __call__(self, reached: Iterate, problem: Problem) -> Iterate:
        a = reached.a
        smooth, g, H, x = self._terms(a, problem)
        p = factor(H, self.layout.order).solve([-s for s in g])
        alpha, left = self._searched(problem, x, dot(smooth, p), -dot(g, p), p)
        return Iterate([u + alpha * d for u, d in zip(a, p, strict=True)], left)

    def exact(self, a: Sequence[Scalar], problem: Problem) -> list[Scalar]:
        """a - H^-1 g with constant H: the step that is differentiated."""
        _, g, H, _ = self._terms(a, problem)
        held = [[stop_gradient(h) for h in row] for row in H]
        p = factor(held, self.layout.order).solve([-s for s in g])
        return [u + d for u, d in zip(a, p, strict=True)]

    def curvature(self, a: Sequence[Scalar], problem: Problem) -> list[list[Scalar]]:
        """H at a."""
        H: list[list[Scalar]] = self._terms(a, problem)[2]
        return H

    def _terms(self, a: Sequence[Scalar], problem: Problem) -> tuple[Any, Any, Any, list[Rows]]:
        """M a - f, g, H, and x of each part."""
        smooth = [dot(row, a) - f for row, f in zip(problem.M, problem.f, strict=True)]
        g, H = list(smooth), [list(row) for row in problem.M]
        x = [
            self._add(part, near, at, a, g, H)
            for part, near, at in zip(problem.parts, problem.near, self.layout.at, strict=True)
        ]
        return smooth, g, H, x

    def _add(
        self,
        part: Part,
        near: Scalar,
        at: Sequence[int],
        a: Sequence[Scalar],
        g: list[Scalar],
        H: list[list[Scalar]],
    ) -> Rows:
        """x of a part, whose forces and stiffness are added to g and H (8)."""
        pairs = [(at[i], at[j]) for i, j in part.places()]
        so_far = ([g[k] for k in at], [H[i][j] for i, j in pairs], part.zeros)
        acts = less(0.5, near)
        found = call_if(acts, added, part, _picked(a, at), *so_far[:2], otherwise=so_far)
        for k, value in zip(at, found[0], strict=True):
            g[k] = value
        for (i, j), value in zip(pairs, found[1], strict=True):
            H[i][j] = H[j][i] = value
        return found[2]

    def _searched(
        self,
        problem: Problem,
        x: Sequence[Rows],
        start: Scalar,
        decrement: Scalar,
        p: Sequence[Scalar],
    ) -> tuple[Scalar, Scalar]:
        """alpha, and a bound of the next decrement: zero if the step is exact."""
        y = [
            call_if(less(0.5, near), moved, part, _picked(p, at), otherwise=part.zeros)
            for part, near, at in zip(problem.parts, problem.near, self.layout.at, strict=True)
        ]
        noise = problem.size * NOISE
        search = LineSearch(
            list(problem.parts), list(problem.near), list(x), y, start, decrement, noise
        )
        return search.result(self.exactly)


def _picked(a: Sequence[Scalar], at: Sequence[int]) -> list[Scalar]:
    return [a[k] for k in at]
