"""Forward dynamics by the mass matrix: H qdd = tau - bias, factored and solved.

Source: Lecture 9, "Forward Dynamics Problem", steps 1 to 3; the factorisation is H = L^T D L from
the tips to the base, which leaves the zeros of a tree where they are (R. Featherstone, Rigid Body
Dynamics Algorithms (2008), section 6.5).

    lecture     code      meaning
    c~          bias      forces at zero acceleration, external wrenches included
    M           H         the mass matrix

Cost: O(N d^2) for depth d. Takes joints that share a coordinate, which the articulated-body
algorithm cannot.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.crba import crba
from kinetree.algorithms.dense import solve_symmetric
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.tree import Wrenches
from kinetree.model import Model
from kinetree.scalar import Scalar


def forward_crba(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Wrenches | None = None,
) -> list[Scalar]:
    """The accelerations qdd that the joint forces tau give."""
    bias = rnea(model, q, qd, [0] * model.nv, external)
    H = crba(model, q)
    # the last first, as the tips are: no entry of H fills in
    reverse = list(reversed(range(model.nv)))
    flipped = [[H[i][j] for j in reverse] for i in reverse]
    solved = solve_symmetric(flipped, [tau[i] - bias[i] for i in reverse])
    return list(reversed(solved))
