"""The law of a contact with an elliptic friction cone.

Source: MuJoCo's documentation, "Computation", section "Friction cones"; E. Todorov (2014), as in
`reference`.

    symbol    code       meaning
    t         t          friction rows scaled by their coefficients, mu_j x_j; T its length
    N         N          mu x_0
              above      in the dual cone, N >= mu T: no force
              below      in the polar cone, mu N + T <= 0: it sticks, s = D/2 |x|^2
              depth      between them N - mu T: it slides, s = D_m/2 depth^2

Cost: O(n^2) for n rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.scalar import (
    Scalar,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    select,
    sqrt,
)

SMALL = 1e-30
"""Added under square roots, where derivatives must stay finite."""


@dataclass(frozen=True)
class Ellipse:
    """The cone of equation (7) in `laws`.

    D: of each row.
    mu: friction of the regularised cone, mu_1 sqrt(R_1 / R_0).
    friction: mu_1, mu_2, ..., one for each row after the first.
    """

    D: tuple[Scalar, ...]
    mu: Scalar
    friction: tuple[Scalar, ...]

    def response(self, x: Sequence[Scalar]) -> tuple[list[Scalar], list[list[Scalar]]]:
        """The force -s', and s''."""
        mu, n = self.mu, len(x)
        t = [x_j * m for x_j, m in zip(x[1:], self.friction, strict=True)]
        T = sqrt(sum((u * u for u in t), start=SMALL))
        N = x[0] * mu
        above = less_equal(T * mu, N)
        below = less_equal(N * mu + T, 0.0)
        slides = logical_not(logical_or(above, below))
        sticks = logical_and(below, logical_not(above))
        # between the cones: s = D_m / 2 depth^2, with the gradient and curvature of the depth
        D_m = self.D[0] / (mu * mu * (1 + mu * mu))
        depth = N - T * mu
        T_inv = 1 / T
        unit = [u * T_inv for u in t]
        gradient = [mu, *(-(u * m) * mu for u, m in zip(unit, self.friction, strict=True))]
        force = [
            select(slides, -D_m * depth * g, select(sticks, -D * x_j, 0.0))
            for g, D, x_j in zip(gradient, self.D, x, strict=True)
        ]
        C: list[list[Scalar]] = [[0] * n for _ in x]
        for i in range(n):
            for j in range(i + 1):
                between = gradient[i] * gradient[j]
                if j:
                    same = 1.0 if i == j else 0.0
                    turn = (same - unit[i - 1] * unit[j - 1]) * T_inv
                    between = between - depth * mu * turn * (
                        self.friction[i - 1] * self.friction[j - 1]
                    )
                stuck = select(sticks, self.D[i], 0.0) if i == j else 0.0
                C[i][j] = C[j][i] = select(slides, D_m * between, stuck)
        return force, C
