"""The classical Runge-Kutta method of order four.

Source: E. Hairer, S. P. Norsett & G. Wanner, Solving Ordinary Differential Equations I (1993),
section II.1, Table 1.2. Configurations are integrated in their coordinates, q' = N(q) v with N of
`manifold.coordinate_rates`, and quaternions are set to length one at the end of the step.
Projection onto the manifold keeps the order (Hairer, Lubich & Wanner 2006, section IV.4).

    k_1 = f(x),  k_2 = f(x + h/2 k_1),  k_3 = f(x + h/2 k_2),  k_4 = f(x + h k_3)
    x'  = x + h/6 (k_1 + 2 k_2 + 2 k_3 + k_4),    x = (q, v)

Order 4. Cost: 4 forward dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.manifold import coordinate_rates, normalize
from kinetree.algorithms.steps.acceleration import acceleration, plus
from kinetree.algorithms.steps.limits import saturated
from kinetree.algorithms.steps.rules import DEFAULT_RULES, Rules
from kinetree.algorithms.steps.settle import settled
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.scalar import Scalar


def rk4(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads = (),
    rules: Rules = DEFAULT_RULES,
) -> tuple[list[Scalar], list[Scalar]]:
    """q' and v' after the time dt."""
    given = saturated(model, tau, rules.enforcement)

    def f(q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        a = acceleration(model, q, v, given, external, rules, dt)
        return coordinate_rates(model, q, v), a

    k1 = f(q, v)
    k2 = f(plus(q, k1[0], dt * 0.5), plus(v, k1[1], dt * 0.5))
    k3 = f(plus(q, k2[0], dt * 0.5), plus(v, k2[1], dt * 0.5))
    k4 = f(plus(q, k3[0], dt), plus(v, k3[1], dt))
    q1, v1 = (
        plus(x, [a + 2 * (b + c) + d for a, b, c, d in zip(*slopes, strict=True)], dt / 6)
        for x, slopes in zip((q, v), zip(k1, k2, k3, k4, strict=True), strict=True)
    )
    return settled(model, normalize(model, q1), v1, rules)
