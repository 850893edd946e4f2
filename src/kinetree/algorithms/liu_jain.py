"""Inverse dynamics in local frames, forces and torques apart.

Source: Liu & Jain, A Quick Tutorial on Multibody Dynamics, section 7, eq. 72 to 85.

    paper            code       meaning
    R_k, d_k         R, d       rotation and origin of link k in its parent
    m_k c_k          h          first moment: mass times centre of mass, in the link's frame
    omega^_k         w_J        angular velocity of the joint, in the parent's frame
    omega_k^l        w[k]       angular velocity of the link, in its own frame
    (v'_k)^l         dv[k]      acceleration of the link's origin, in the link's frame
    (omega'_k)^l     dw[k]      angular acceleration
    f_k, tau_k       f[k] t[k]  force and torque received from the parent, at the joint

The linear velocity of eq. 76 is not needed here and left out. Translational joints are
eq. 82 to 84 for one that may turn, too: d_k moves with the velocity d' in the parent's frame.

Eq. 84 gives the rate of the velocity's local components. The acceleration, as in eq. 79, is that
plus omega_k x v_k; this is where 2 omega x d' and omega x (omega x d) below come from.

differs: the paper follows the centres of mass; here it is the links' origins, whose equations need
m c alone. That takes inertias without mass, as parameters and regrouping have them.
differs: eq. 81 and 85 start with a link that turns about the world's origin; here the base is the
world, with acceleration -g and no other motion, and the root's joint is a joint like any other.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.drives import drive_forces
from kinetree.algorithms.tree import (
    Loads,
    joint_motion,
    parent_transforms,
    subspaces,
    wrenches_on_bodies,
)
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Vector3


def liu_jain(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external: Loads = (),
) -> list[Scalar]:
    """The joint forces that give the accelerations qdd."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    F_ext = wrenches_on_bodies(model, X, external)
    n = len(model.bodies)
    zero = Vector3.zero()
    w: list[Vector3] = []
    dw: list[Vector3] = []
    dv: list[Vector3] = []

    # pass 1: velocity and acceleration
    for k, body in enumerate(model.bodies):
        p = body.parent
        R, d = X[k].rotation, X[k].translation
        V_J, A_J = joint_motion(model, k, Phi[k], q, qd, qdd)
        w_J, dw_J = R @ V_J.angular, R @ A_J.angular
        d_rate = R @ V_J.linear
        d_acceleration = R @ (A_J.linear + V_J.angular.cross(V_J.linear))

        if p >= 0:
            w_p, dw_p, dv_p = w[p], dw[p], dv[p]
        else:
            w_p, dw_p, dv_p = zero, zero, -model.gravity  # (85)
        w.append(R.T @ (w_p + w_J))  # (78)
        dw.append(R.T @ (dw_p + dw_J + w_p.cross(w_J)))  # (80)
        origin = (
            dv_p + dw_p.cross(d) + w_p.cross(w_p.cross(d)) + w_p.cross(d_rate) * 2 + d_acceleration
        )
        dv.append(R.T @ origin)  # (79)

    # pass 2: force and torque
    f = [Vector3.zero() for _ in range(n)]  # first the sums over the children
    t = [Vector3.zero() for _ in range(n)]
    tau = drive_forces(model, q, qd, qdd)
    for k, body in reversed(list(enumerate(model.bodies))):
        m, h, I = body.inertia.mass, body.inertia.moment, body.inertia.rotational
        inertial = dv[k] * m + w[k].cross(w[k].cross(h)) + dw[k].cross(h)  # m times the centre's
        spin = I @ dw[k] + w[k].cross(I @ w[k])
        f[k] = f[k] + inertial - F_ext[k].linear  # (72)
        t[k] = t[k] + spin + h.cross(dv[k]) - F_ext[k].angular  # (73), about the link's origin
        for j, axis in enumerate(Phi[k], model.v_slices[k].start):
            tau[j] = tau[j] + axis.angular.dot(t[k]) + axis.linear.dot(f[k])
        if body.parent >= 0:
            carried = X[k].rotation @ f[k]
            f[body.parent] = f[body.parent] + carried
            turned = X[k].rotation @ t[k] + X[k].translation.cross(carried)
            t[body.parent] = t[body.parent] + turned
    return tau
