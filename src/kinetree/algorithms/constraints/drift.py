"""Drift correction: after a step, the state is projected back onto the constraints.

Source: E. Hairer & G. Wanner, Solving Ordinary Differential Equations II (1996), section VII.2,
"Methods with projection"; the metric of the mass matrix is that of Ch. Lubich, Extrapolation
integrators for constrained multibody systems, Impact of Computing in Science and Engineering 3
(1991). It keeps the order of the step.

    q' = q (+) M^-1 J^T x,    G x = - error(q),    again with the new error and the same G
    v' = v + M^-1 J^T y,      G y = - J v,         J and G at q'

    symbol      code        meaning
    G           inner       J M^-1 J^T, as in `proximal`: dependent rows do no harm
    error       error       of the rows; zero for those that only forbid velocities

Cost: two factors as in `forward`, and for each iteration the errors and a solution.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.constraints.forward import NO_STABILIZATION
from kinetree.algorithms.constraints.null_space import projected_velocity
from kinetree.algorithms.constraints.proximal import proximal
from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.algorithms.manifold import integrate
from kinetree.model import Model
from kinetree.model.softness import Baumgarte, Projection, Stabilization
from kinetree.scalar import Scalar

PROJECTION = Projection()


def acceleration_terms(stabilization: Stabilization) -> Baumgarte:
    """The Baumgarte terms of a stabilization: none if errors are removed after the step."""
    return stabilization if isinstance(stabilization, Baumgarte) else NO_STABILIZATION


def projected(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], stabilization: Stabilization
) -> tuple[list[Scalar], list[Scalar]]:
    """The state after a step, back on the constraints; with Baumgarte terms it is not projected."""
    if not model.constraints or isinstance(stabilization, Baumgarte):
        return list(q), list(v)
    rows = constraint_rows(model, q)
    factors = proximal(model, q, rows.J)
    error = rows.error
    for k in range(stabilization.iterations):
        error = constraint_rows(model, q).error if k else error
        x, _ = factors.forces([-e for e in error])
        q = integrate(model, q, factors.solve({}, x))
    return list(q), projected_velocity(model, q, v)
