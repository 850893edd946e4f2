"""Forward dynamics by the mass matrix: H qdd = tau - bias, factored and solved.

Source: Lecture 9, "Forward Dynamics Problem", steps 1 to 3; the factorisation is that of `ltl`.

    lecture     code      meaning
    c~          bias      forces at zero acceleration, external wrenches included
    M           H         the mass matrix

Cost: O(N d^2) for depth d. Takes joints that share a coordinate, which the articulated-body
algorithm cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.scalar import Scalar


def forward_crba(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
) -> list[Scalar]:
    """The accelerations qdd that the joint forces tau give."""
    bias = balafoutis_patel(model, q, qd, [0] * model.nv, external)
    H = factor(crba(model, q), elimination_order(model))
    return H.solve([t - b for t, b in zip(tau, bias, strict=True)])


def hybrid_crba(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads,
    accelerated: Collection[int],
) -> tuple[list[Scalar], list[Scalar]]:
    """Hybrid dynamics as in `aba`, by solving the rows of H whose force is given."""
    prescribed = {k for i in accelerated for k in range(*model.v_slices[i].indices(model.nv))}
    known = [x if k in prescribed else 0 for k, x in enumerate(qdd)]
    taken = balafoutis_patel(model, q, qd, known, external)
    order = [k for k in elimination_order(model) if k not in prescribed]
    H = crba(model, q)
    part = [[H[i][j] for j in order] for i in order]
    free = factor(part, range(len(order))).solve([tau[k] - taken[k] for k in order])
    free_accelerations = dict(zip(order, free, strict=True))
    acceleration = [free_accelerations.get(k, known[k]) for k in range(model.nv)]
    forces = [
        sum((H[k][j] * free_accelerations[j] for j in order), start=taken[k])
        if k in prescribed
        else tau[k]
        for k in range(model.nv)
    ]
    return acceleration, forces
