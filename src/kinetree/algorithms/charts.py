"""How far the coordinates of joints are from being singular.

Source: Liu & Jain eq. 52 to 54, the charts of a free orientation.

A joint is singular where its axes, the columns of Phi, are linearly dependent. Some accelerations
of the body then belong to no acceleration of the coordinates. Examples are Euler angles whose first
and last axis are aligned, and a rotation vector of a full turn.

    code      meaning
    G         Phi^T Phi; det(G) / tr(G)^n is zero at a singularity, and the same in any unit

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dense import determinant
from kinetree.model import Model
from kinetree.scalar import Scalar


def charts(model: Model) -> list[int]:
    """The bodies whose joints have several axes that move, so that they can become dependent.

    A joint that follows others may move in fewer directions than these.
    """
    own = [i for i, body in enumerate(model.bodies) if body.follows is None]
    parts = [(i, model.bodies[i].joint.singular_part()) for i in own]
    return [i for i, part in parts if part.nv > 1 and not part.has_constant_axes]


def chart_volumes(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """How much the axes of each of `charts` span: one number a joint, zero where it is singular."""
    volumes = []
    for i in charts(model):
        joint, q_i = model.bodies[i].joint.singular_part(), q[model.q_slices[i]]
        Phi = joint.subspace(q_i[len(q_i) - joint.nq :])
        G = [[a.linear.dot(b.linear) + a.angular.dot(b.angular) for b in Phi] for a in Phi]
        trace = sum((G[k][k] for k in range(len(Phi))), start=0)
        scale = 1
        for _ in Phi:
            scale = scale * trace
        volumes.append(determinant(G) / scale)
    return volumes
