"""The solution of a quadratic program from its active bounds, exact to rounding.

Source: B. Stellato et al., OSQP: an operator splitting solver for quadratic programs (2020),
section 4, with an augmented Lagrangian instead of the regularised equations.

    symbol    code      meaning
    W         W         the penalty of active bounds, zero of all others
    x, y, z   x y z     unknowns and multipliers, as in `interior_point`

Cost: that of one factor, and of a solution for each correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.ltl import factor
from kinetree.algorithms.quadratic.problem import Pattern, Quadratic
from kinetree.algorithms.quadratic.residuals import Iterate, Residuals, left_at
from kinetree.algorithms.quadratic.system import assembled
from kinetree.scalar import Scalar, less, select

STIFF, CORRECTIONS = 1e4, 3
"""The penalty of active bounds in polishing, and the number of corrections."""


@dataclass(frozen=True)
class Polished:
    """The last solution with active bounds as equations; and the best one with its residual."""

    at: Iterate
    x: list[Scalar]
    left: Scalar


class Polish:
    """The program whose active bounds are equations: a function of scalars alone."""

    def __init__(self, pattern: Pattern, order: Sequence[int]) -> None:
        self.pattern, self.order = pattern, order

    def __call__(self, before: Polished, given: Quadratic) -> Polished:
        pattern, at, n = self.pattern, before.at, self.pattern.unknowns
        active = [less(s, z) for s, z in zip(at.s, at.z, strict=True)]
        W = [select(a, STIFF, 0.0) for a in active]
        K = factor(assembled(pattern, given, W), self.order)
        C = pattern.rows(given.C, "C")
        none = [0.0] * len(active)
        z = [select(a, v, 0.0) for a, v in zip(active, at.z, strict=True)]
        x, y = at.x, at.y
        r = Residuals.at(pattern, Iterate(x, y, none, z, 0.0), given)
        for _ in range(CORRECTIONS):
            pulls: list[Scalar] = [0.0] * pattern.inequalities
            for k, (i, sign) in enumerate(pattern.sides):
                pulls[i] = pulls[i] + W[k] * r.slack[k] * sign
            rhs = [-v for v in r.dual]
            for row, pull in zip(C, pulls, strict=True):
                for j, entry in row.items():
                    rhs[j] = rhs[j] - entry * pull
            d = K.solve([*rhs, *(-v for v in r.primal)])
            Cd = [sum((v * d[j] for j, v in row.items()), start=0.0) for row in C]
            sides = enumerate(zip(pattern.sides, z, strict=True))
            z = [v + W[k] * (r.slack[k] + Cd[i] * sign) for k, ((i, sign), v) in sides]
            x = [a + b for a, b in zip(x, d[:n], strict=True)]
            y = [a + b for a, b in zip(y, d[n:], strict=True)]
            r = Residuals.at(pattern, Iterate(x, y, none, z, 0.0), given)
        left = left_at(r, r.slack, z)
        better = less(left, before.left)
        best = [select(better, u, v) for u, v in zip(x, before.x, strict=True)]
        after = Iterate(x, y, [-v for v in r.slack], z, 0.0)
        return Polished(after, best, select(better, left, before.left))
