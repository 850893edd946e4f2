"""The null space of constraints: the motions they allow, and the inertia along them.

Source: O. Khatib, L. Sentis, J. Park & J. Warren, Whole-body dynamic behavior and control of
human-like robots, International Journal of Humanoid Robotics 1 (2004); F. Aghili, A
unified approach for inverse and direct dynamics of constrained multibody systems based on linear
projection operator, IEEE Transactions on Robotics 21 (2005).

    paper       code           meaning
    N           N              1 - M^-1 J^T G^+ J: the velocity nearest to v that is allowed, in
                               the metric of the mass matrix
    G           G              J M^-1 J^T, as in `proximal`
    M_c         inertia        N^T M N = M - J^T G^+ J

Cost: O(N m) for each of the nv columns beyond the factors.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.constraints.proximal import Proximal, proximal
from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.algorithms.constraints.sparse import Rows
from kinetree.algorithms.crba import crba
from kinetree.model import Model
from kinetree.scalar import Scalar

Matrix = list[list[Scalar]]


def projected_velocity(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], names: Sequence[str] = ()
) -> list[Scalar]:
    """N v: the allowed velocity that is nearest to v."""
    rows = constraint_rows(model, q, names=names)
    factors = proximal(model, q, rows.J)
    forces, _ = factors.forces([-speed for speed in rows.velocity(qd)])
    return [v + dv for v, dv in zip(qd, factors.solve({}, forces), strict=True)]


def null_space_projection(model: Model, q: Sequence[Scalar], names: Sequence[str] = ()) -> Matrix:
    """N."""
    rows = constraint_rows(model, q, names=names)
    factors = proximal(model, q, rows.J)
    columns = []
    for k, weights in enumerate(_weights(model, rows, factors)):
        taken = factors.solve({}, weights)
        columns.append([(1 if i == k else 0) - x for i, x in enumerate(taken)])
    return [list(row) for row in zip(*columns, strict=True)]


def constrained_inertia(model: Model, q: Sequence[Scalar], names: Sequence[str] = ()) -> Matrix:
    """M_c."""
    rows = constraint_rows(model, q, names=names)
    M = [list(row) for row in crba(model, q)]
    weights = _weights(model, rows, proximal(model, q, rows.J))
    for i in range(model.nv):
        for k in range(i + 1):
            taken = sum(
                (J[i] * w for J, w in zip(rows.J, weights[k], strict=True) if i in J), start=0
            )
            M[i][k] = M[k][i] = M[i][k] - taken
    return M


def _weights(model: Model, rows: Rows, factors: Proximal) -> Matrix:
    """The columns of G^+ J."""
    moved = sorted({k for row in rows.J for k in row})
    columns, _ = factors.columns([[row.get(k, 0) for row in rows.J] for k in moved])
    found = dict(zip(moved, columns, strict=True))
    return [found.get(k, [0] * len(rows.J)) for k in range(model.nv)]
