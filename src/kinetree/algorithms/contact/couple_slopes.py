"""What two bodies that touch add to the derivatives of the forces of joints.

Source: as in `constraints.turned_forces`, for frames of bodies that touch; J. Carpentier & N.
Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS (2018). Everything is in the
world's axes, at the world's origin.

The joint forces of a couple are J^T F: sigma_k s_k F of a joint k on the way from one body to the
other. A step along the axis s_j turns the axes that joint j carries, and changes F as `pair_slopes`
says:

    d(sigma_k s_k F) / dq_j = sigma_k ([j carries k] (s_j x s_k) F + s_k dF_j)                  (19)
    dF_j = dF/dX s_j + dF/dV dV_j + dF/dA dA_j                                                 (20)
    dV_j = sigma_j s_j x V_j,    dA_j = sigma_j s_j x A_j                                       (21)
    d(sigma_k s_k F) / dv_j = sigma_k s_k dF/dV s_j sigma_j                                     (22)

    symbol    code       meaning
    s_k       s          an axis of a joint on the way
    sigma     sign       1 on the way to the second body, -1 to the first
    V_j, A_j  V, A       how the body at that end of the way moves relative to the parent of joint j

Axes that are not fixed in their bodies add their own changes.

Cost: O(k^2) for k axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kinetree.algorithms.contact.pair_slopes import Slopes
from kinetree.algorithms.tree import along, combine
from kinetree.scalar import Scalar
from kinetree.spatial import Motion

Matrix = list[list[Scalar]]


@dataclass(frozen=True)
class Hinge:
    """A joint on the way from one body to the other, nearest to that body first.

    s: its axes.
    changes: for each of them, how a step along it changes all of them in their body; empty if they
        are fixed there.
    v, u: its velocities and accelerations.
    """

    s: list[Motion]
    changes: list[list[Motion]]
    v: list[Scalar]
    u: list[Scalar]


def couple_added(
    signs: Sequence[float], local: Sequence[Sequence[int]]
) -> Callable[..., tuple[Matrix, Matrix]]:
    """The function that adds a couple's derivatives of J^T F by q and by v to two matrices.

    Arguments:
        signs: of each joint on the way.
        local: the places of its velocities in the matrices.
    """
    places = [k for own in local for k in own]

    def function(
        joints: list[Hinge], slopes: Slopes, by_q: Matrix, by_v: Matrix
    ) -> tuple[Matrix, Matrix]:
        by_q, by_v = [list(row) for row in by_q], [list(row) for row in by_v]
        axes = [(s, sign) for joint, sign in zip(joints, signs, strict=True) for s in joint.s]
        column = 0
        V = {1.0: Motion.zero(), -1.0: Motion.zero()}
        A = dict(V)
        for joint, sign in zip(joints, signs, strict=True):
            V[sign], A[sign] = V[sign] + along(joint.s, joint.v), A[sign] + along(joint.s, joint.u)
            moved = slopes.by_second if sign > 0 else slopes.by_first
            ended = column + len(joint.s)
            for d, s in enumerate(joint.s):
                changes = joint.changes[d] if joint.changes else []
                dV = s.cross(V[sign]) + along(changes, joint.v[: len(changes)])  # (21)
                dA = s.cross(A[sign]) + along(changes, joint.u[: len(changes)])
                turned = combine(moved, s)
                pushed = combine(slopes.by_V, dV) + combine(slopes.by_A, dA)
                dF = turned + pushed * sign  # (20)
                fV = combine(slopes.by_V, s) * sign
                F = s.cross_force(slopes.F)
                for k, (s_k, sign_k) in enumerate(axes):
                    carried = sign_k == sign and k < ended
                    entry = s_k.dot(dF - F if carried else dF)  # (19)
                    if column <= k < ended and changes:
                        entry = entry + changes[k - column].dot(slopes.F)
                    i, j = places[k], places[column + d]
                    by_q[i][j] = by_q[i][j] + entry * sign_k
                    by_v[i][j] = by_v[i][j] + s_k.dot(fV) * sign_k  # (22)
            column = ended
        return by_q, by_v

    return function
