"""The contribution of two touching bodies to the derivatives of joint forces.

Source: as in `constraints.turned_forces`, for frames of bodies that touch; J. Carpentier & N.
Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS (2018). Everything is in the
world's axes, at the world's origin.

The joint forces of a couple are J^T F: c_k F with c_k = sigma_k s_k for a joint k on the way from
one body to the other. A step along the axis s_j turns the axes that joint j carries, and changes F
as `pair_slopes` says:

    d(c_k F) / dq_j = c_k (dF_j - [j carries k] s_j x* F)                                       (19)
    dF_j = P s_j + sigma_j (dF/dV u_j + dF/dA w_j)                                              (20)
    u_j = V_p x s_j,    w_j = A_p x s_j                                                         (21)
    d(c_k F) / dv_j = c_k dF/dV c_j                                                             (22)

    symbol    code       meaning
    s_j       s          an axis of a joint
    sigma     sign       1 on the way to the second body, -1 to the first; 0 for joints that carry
                         both: these change F only if friction is anisotropic
    V_p, A_p             the motion of the body that joint j is fixed to
    P         by_first   how F changes with the pose of a body, from `pair_slopes`
              by_second

Axes that are not fixed in their bodies add their own changes.

Cost: O(k^2) for k axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kinetree.algorithms.contact.slopes import Slopes
from kinetree.algorithms.tree import combine
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Twist

Matrix = list[list[Scalar]]


@dataclass(frozen=True)
class Axis:
    """An axis of a joint, with the changes of velocities and accelerations along it (21).

    changes: of all axes of the joint in their body; empty if they are fixed there.
    """

    s: Twist
    u: Twist
    w: Twist
    changes: list[Twist]


def couple_added(
    signs: Sequence[float], places: Sequence[Sequence[int]]
) -> Callable[..., tuple[Matrix, Matrix]]:
    """The function that adds a couple's derivatives of J^T F by q and by v to two matrices.

    Arguments:
        signs: of each joint on the way, then of those that carry both bodies; outermost first.
        places: of its velocities in the matrices: rows are those on the way.
    """
    numbers = [
        (sign, joint, k)
        for joint, (sign, own) in enumerate(zip(signs, places, strict=True))
        for k in own
    ]

    def function(
        axes: list[Axis], slopes: Slopes, by_q: Matrix, by_v: Matrix
    ) -> tuple[Matrix, Matrix]:
        by_q, by_v = [list(row) for row in by_q], [list(row) for row in by_v]
        known = list(zip(numbers, axes, strict=True))
        for (sign, joint, j), axis in known:
            dF, by_speed = _changes(slopes, axis, sign)
            turned = dF - axis.s.cross_force(slopes.F)
            own = iter(axis.changes)
            for (sign_k, joint_k, k), row in known:
                if not sign_k:
                    continue
                carried = not sign or (sign_k == sign and joint_k <= joint)
                entry = row.s.dot(turned if carried else dF)  # (19)
                if joint_k == joint and axis.changes:
                    entry = entry + next(own).dot(slopes.F)
                by_q[k][j] = by_q[k][j] + entry * sign_k
                if sign:
                    by_v[k][j] = by_v[k][j] + row.s.dot(by_speed) * sign_k  # (22)
        return by_q, by_v

    return function


def _changes(slopes: Slopes, axis: Axis, sign: float) -> tuple[Force, Force]:
    """The changes of F by the coordinate (20) and by the velocity of an axis."""
    if not sign:
        return combine(slopes.by_first, axis.s) + combine(slopes.by_second, axis.s), Force.zero()
    moved = slopes.by_second if sign > 0 else slopes.by_first
    pushed = combine(slopes.by_V, axis.u) + combine(slopes.by_A, axis.w)
    return combine(moved, axis.s) + pushed * sign, combine(slopes.by_V, axis.s) * sign
