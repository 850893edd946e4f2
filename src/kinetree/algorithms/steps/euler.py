"""The semi-implicit Euler step: the velocity first, then the position with the new velocity.

Source: E. Hairer, C. Lubich & G. Wanner, Geometric Numerical Integration (2006), section I.1.2,
the symplectic Euler method; on the manifold of configurations, q (+) dv as in `manifold`.

differs: velocities are advanced, not momenta, so that it is symplectic only while the mass matrix
is constant.

    v' = v + h a(q, v, tau),    q' = q (+) h v'

Order 1. Cost: one forward dynamics.
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


def euler(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads = (),
    rules: Rules = DEFAULT_RULES,
) -> tuple[list[Scalar], list[Scalar]]:
    """q' and v' after the time dt."""
    a = acceleration(model, q, v, saturated(model, tau, rules.enforcement), external, rules, dt)
    v1 = plus(v, a, dt)
    return settled(model, integrate(model, q, times(v1, dt)), v1, rules)
