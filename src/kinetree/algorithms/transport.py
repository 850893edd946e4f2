"""The transport of a displacement along a motion: the linearised kinematics of configurations.

Source: the commutator of two vector fields on configurations; for a free body it is the adjoint
of its velocity (R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 2.9).

A configuration moves with q' = T(q) v, T as in `coordinate_rates`. Two that are apart by delta, the
second at q (+) delta, and move with v and v + dv, stay apart by

    T delta' = (D_delta T) v - (D_v T) delta + T dv

with D_w the derivative along T w. Where v is the rate of q, T is constant and delta' = dv.

    code     meaning
    G        delta' = G delta + dv

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.blocks import zero_matrix
from kinetree.algorithms.dense import dot, inverse_symmetric
from kinetree.model import Model
from kinetree.model.joints import Joint
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift


def transport(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """G: the rate of a displacement for each unit displacement, at the velocity qd."""
    G = zero_matrix(model)
    for i in model.coordinate_order:
        joint, at = model.bodies[i].joint, model.v_slices[i]
        if joint.nq != joint.nv:
            block = _of_joint(joint, q[model.q_slices[i]], qd[at])
            for row, entries in enumerate(block, at.start):
                G[row][at] = entries
    return G


def _of_joint(joint: Joint, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """The block of one joint."""
    units = [[1 if k == d else 0 for k in range(joint.nv)] for d in range(joint.nv)]
    columns = [joint.coordinate_rates(q, unit) for unit in units]  # of T
    inverse = inverse_symmetric([[dot(a, b) for b in columns] for a in columns])
    block = []
    for unit in units:
        one, two = _derivative(joint, q, unit, v), _derivative(joint, q, v, unit)
        apart = [a - b for a, b in zip(one, two, strict=True)]
        felt = [dot(column, apart) for column in columns]
        block.append([dot(row, felt) for row in inverse])
    return [list(row) for row in zip(*block, strict=True)]


def _derivative(
    joint: Joint, q: Sequence[Scalar], along: Sequence[Scalar], v: Sequence[Scalar]
) -> list[Scalar]:
    """(D_along T) v."""
    rates = joint.coordinate_rates(q, along)
    moving = [Dual(x, rate) for x, rate in zip(q, rates, strict=True)]
    return [lift(x).rate for x in joint.coordinate_rates(moving, [Dual(x, 0) for x in v])]
