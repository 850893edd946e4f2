"""The midpoint rules, explicit and implicit.

Source: E. Hairer, C. Lubich & G. Wanner, Geometric Numerical Integration (2006), section II.1.1
and IV.8 for rotations: with the velocity of the middle constant over the step, q' = q (+) h v_m.

    explicit    v_m = v + h/2 a(q, v),       q_m = q (+) h/2 v,      v' = v + h a(q_m, v_m)
    implicit    v_m = v + h/2 a_m,           q_m = q (+) h/2 v_m,    a_m = a(q_m, v_m)

The implicit rule is solved by fixed-point iteration, `SWEEPS` times from the explicit middle. Each
sweep multiplies the error by about h/2 |da/dv| + h^2/4 |da/dq|, which must be below one: for stiff
springs and dampers take `implicit_springs`.

Order 2. Cost: 2 forward dynamics, or 1 + SWEEPS.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.steps.acceleration import acceleration, plus, times
from kinetree.algorithms.steps.limits import saturated
from kinetree.algorithms.steps.rules import DEFAULT_RULES, Rules
from kinetree.algorithms.steps.settle import settled
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.scalar import Scalar

SWEEPS = 5


def midpoint(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads = (),
    rules: Rules = DEFAULT_RULES,
) -> tuple[list[Scalar], list[Scalar]]:
    """q' and v' after the time dt, by the explicit rule."""
    given, half = saturated(model, tau, rules.enforcement), dt * 0.5
    v_m = plus(v, acceleration(model, q, v, given, external, rules, dt), half)
    q_m = integrate(model, q, times(v, half))
    a_m = acceleration(model, q_m, v_m, given, external, rules, dt)
    return settled(model, integrate(model, q, times(v_m, dt)), plus(v, a_m, dt), rules)


def implicit_midpoint(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads = (),
    rules: Rules = DEFAULT_RULES,
) -> tuple[list[Scalar], list[Scalar]]:
    """q' and v' after the time dt, by the implicit rule."""
    given, half = saturated(model, tau, rules.enforcement), dt * 0.5
    a_m = acceleration(model, q, v, given, external, rules, dt)
    for _ in range(SWEEPS):
        v_m = plus(v, a_m, half)
        q_m = integrate(model, q, times(v_m, half))
        a_m = acceleration(model, q_m, v_m, given, external, rules, dt)
    v_m = plus(v, a_m, half)
    return settled(model, integrate(model, q, times(v_m, dt)), plus(v, a_m, dt), rules)
