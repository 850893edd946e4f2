"""The inertia that a frame feels: the mass matrix in operational space.

Source: O. Khatib, A unified approach for motion and force control of robot manipulators: the
operational space formulation (1987), section III.

    paper        code      meaning
    Lambda       L         (J M^-1 J^T)^-1, the operational-space inertia
    A            factor    the mass matrix M, factored as in `ltl`
    J            J         the rows of the frame's Jacobian that count, linear first
    J A^-1       JM        rows of J M^-1

A force F on the frame, the joints free, accelerates it by Lambda^-1 F from rest.

differs: c is added to the diagonal of J M^-1 J^T. With c > 0 there is an inverse even where rows of
J are dependent: Lambda is 1 / c along what the robot cannot do, and never larger.

Cost: O(N d) for each row beyond the factors of M.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.crba import crba
from kinetree.algorithms.dense import Matrix, dot, inverse_symmetric
from kinetree.algorithms.jacobian import jacobian
from kinetree.algorithms.ltl import Factor, elimination_order, factor
from kinetree.model import Model
from kinetree.scalar import Scalar

ROWS = {"pose": 6, "position": 3}
"""Maps what of a frame counts to how many rows of its Jacobian that are."""


def operational_space_inertia(
    model: Model, q: Sequence[Scalar], name: str, axes: str, rows: str
) -> list[list[Scalar]]:
    """Lambda of a frame, both triangles; singular J M^-1 J^T have none."""
    J = jacobian(model, q, name, axes)[: ROWS[rows]]
    return inertia_along(factor(crba(model, q), elimination_order(model)), J)


def inertia_along(factor: Factor, J: Matrix, c: float = 0.0) -> list[list[Scalar]]:
    """(J M^-1 J^T + c 1)^-1 of any rows J."""
    JM = [factor.solve(row) for row in J]
    inverse = [
        [dot(a, b) + (c if i == j else 0.0) for j, b in enumerate(J)] for i, a in enumerate(JM)
    ]
    return inverse_symmetric(inverse)
