"""The mass matrix column by column: the joint forces of each unit acceleration.

Source: Lecture 9, "Calculations of c~ and M": without gravity, velocity and external forces (here
also without springs), M_:,j = RNEA(theta, 0, unit acceleration j). For teaching and for tests.

    lecture      code     meaning
    theta        q        configuration
    theta_j^0    unit     zero but for a one at entry j

Cost: O(N^2).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.rnea import rnea
from kinetree.model import Model
from kinetree.model.edit import without
from kinetree.scalar import Scalar


def mass_by_unit_accelerations(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix M(q)."""
    weightless = without(model, "gravity", "springs", "fluid")
    zero = [0] * model.nv
    columns = []
    for j in range(model.nv):
        unit = [1 if k == j else 0 for k in range(model.nv)]
        columns.append(rnea(weightless, q, zero, unit))
    return [list(row) for row in zip(*columns, strict=True)]
