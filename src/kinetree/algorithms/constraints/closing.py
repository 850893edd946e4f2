"""One step towards a configuration that satisfies the constraints.

Source: K. Levenberg (1944), D. Marquardt (1963), on the manifold of configurations.

    J dq = - error,    dq = - J^T (J J^T + mu)^-1 error,    q' = q (+) dq

It is the shortest step that closes the loops to first order, so that repeated steps end at a branch
near the start.

    symbol      code        meaning
    mu          damping     times the mean of J J^T's diagonal; larger values give shorter steps

Cost: that of the rows, O(m^3) for m rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.algorithms.constraints.sparse import weighted_products
from kinetree.algorithms.ltl import factor, sparse_order
from kinetree.algorithms.manifold import integrate
from kinetree.model import Model
from kinetree.scalar import Scalar

TINY = 1e-12
"""Avoids a division by zero if every joint is held."""


def closing_step(
    model: Model, q: Sequence[Scalar], damping: Scalar, weights: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """q after a step, and the errors of the rows before it.

    weights: how willingly each velocity moves; zero holds it.
    """
    rows = constraint_rows(model, q)
    J, m = rows.J, len(rows.J)
    A = weighted_products(J, weights)
    total: Scalar = sum((A[r][r] for r in range(m)), start=0)
    mu = damping * (total * (1.0 / max(m, 1)) + TINY)
    damped = [[a + mu if r == s else a for s, a in enumerate(row)] for r, row in enumerate(A)]
    x = factor(damped, sparse_order(A)).solve([-e for e in rows.error])
    step = [f * w for f, w in zip(rows.force(x, model.nv), weights, strict=True)]
    return integrate(model, q, step), rows.error
