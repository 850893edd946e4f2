"""The residuals of the optimality conditions of a quadratic program.

Source: J. Nocedal & S. Wright, Numerical Optimization (2006), equation 16.58.

Cost: a few operations for each entry of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.quadratic.problem import Pattern, Quadratic
from kinetree.scalar import Scalar, absolute, maximum


@dataclass(frozen=True)
class Iterate:
    """x, the multipliers, the slacks; and the largest residual."""

    x: list[Scalar]
    y: list[Scalar]
    s: list[Scalar]
    z: list[Scalar]
    left: Scalar


@dataclass(frozen=True)
class Residuals:
    """The residuals of the optimality conditions.

    dual: H x + g + A^T y + C^T z.
    primal: A x - b.
    slack: C x + s - u of an upper bound, l - C x + s of a lower one.
    """

    dual: list[Scalar]
    primal: list[Scalar]
    slack: list[Scalar]

    @staticmethod
    def at(pattern: Pattern, at: Iterate, given: Quadratic) -> Residuals:
        """The residuals at an iterate."""
        dual = list(given.g)
        for (i, j), h in zip(pattern.H, given.H, strict=True):
            dual[i] = dual[i] + h * at.x[j]
            if i != j:
                dual[j] = dual[j] + h * at.x[i]
        primal = [-b for b in given.b]
        for (i, j), a in zip(pattern.A, given.A, strict=True):
            primal[i] = primal[i] + a * at.x[j]
            dual[j] = dual[j] + a * at.y[i]
        Cx: list[Scalar] = [0.0] * pattern.inequalities
        total: list[Scalar] = [0.0] * pattern.inequalities
        for (i, sign), z in zip(pattern.sides, at.z, strict=True):
            total[i] = total[i] + z * sign
        for (i, j), c in zip(pattern.C, given.C, strict=True):
            Cx[i] = Cx[i] + c * at.x[j]
            dual[j] = dual[j] + c * total[i]
        slack = [
            (Cx[i] - bound) * sign + s
            for (i, sign), bound, s in zip(pattern.sides, given.bounds, at.s, strict=True)
        ]
        return Residuals(dual, primal, slack)


def left_at(r: Residuals, over: Sequence[Scalar], z: Sequence[Scalar]) -> Scalar:
    """The largest violation of the optimality conditions.

    over: the violation of each bound, negative if the bound is not reached.
    """
    left: Scalar = 0.0
    for x in (*r.dual, *r.primal):
        left = maximum(left, absolute(x))
    for x, v in zip(over, z, strict=True):
        left = maximum(left, maximum(x, maximum(-v, absolute(x * v))))
    return left
