"""Inverse dynamics by Cartesian tensors.

Source: B. Guenter & C. F. Rose, Derivations of the Balafoutis & Patel Recursive Dynamics
Formulation, MSR-TR-2000-80 (2000), "Inverse-dynamics equations"; after C. A. Balafoutis & R. V.
Patel, Dynamic Analysis of Robot Manipulators: A Cartesian Tensor Approach (1991).

    report            code          meaning
    A_i               X[i].rotation link i's frame in its parent's
    s_i,i+            X[i].translation
    z_i               Phi[i]        joint axes in the link's frame
    omega_i           w[i]          angular velocity
    omega'_i          dw[i]         angular acceleration
    Omega_i           Omega[i]      angular acceleration tensor [omega'] + [omega][omega]
    s''_0,i           dds[i]        acceleration of the frame's origin
    J_i               in `Inertia`  Euler's inertia tensor, tr(I) / 2 - I
    f_i, eta_i        F[i]          force and moment exerted on link i by its parent

differs: the report has one revolute joint a link. A joint of any axes adds to omega and omega' what
turns, and to s'' the acceleration of an origin that moves in its parent: with v_J and omega_J the
joint's own velocity, v_J' + (2 omega - omega_J) x v_J.
differs: forces and moments are taken about the link's origin, not its centre of mass: with first
moment h = m r and J about the origin, F = m s'' + Omega h and eta = h x s'' + dual(Omega J). That
saves r'' and takes inertias without mass, as regrouping leaves them.

Where the text at hand has something else, docs/sources.md says so.

Cost: O(N). Fewer operations than `rnea` and `liu_jain` on every robot of docs/operations.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.drives import drive_forces
from kinetree.algorithms.tree import (
    Loads,
    carry_to_base,
    joint_motion,
    parent_transforms,
    subspaces,
    wrenches_on_bodies,
)
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Matrix3, Transform, Twist, Vector3, acceleration_tensor


@dataclass(frozen=True)
class Links:
    """The motion of each link, and the force it needs: results of the pass from base to tips."""

    w: list[Vector3]
    dw: list[Vector3]
    dds: list[Vector3]
    Omega: list[Matrix3]
    F: list[Force]


def balafoutis_patel(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external: Loads = (),
) -> list[Scalar]:
    """The joint forces that give the accelerations qdd."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    F = base_to_tips(model, X, Phi, q, qd, qdd, external).F
    tau = drive_forces(model, q, qd, qdd)
    carry_to_base(model, X, Phi, F, tau)
    return tau


def base_to_tips(
    model: Model,
    X: Sequence[Transform],
    Phi: Sequence[Sequence[Twist]],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external: Loads,
) -> Links:
    """Each link's motion, and the force it needs beyond the external loads."""
    F_ext = wrenches_on_bodies(model, X, external)
    w: list[Vector3] = []
    dw: list[Vector3] = []
    dds: list[Vector3] = []
    Omega: list[Matrix3] = []
    F: list[Force] = []
    for i, body in enumerate(model.bodies):
        p = body.parent
        A, s = X[i].rotation, X[i].translation
        V_J, A_J = joint_motion(model, i, Phi[i], q, qd, qdd)
        if p >= 0:
            w.append(A.T @ w[p] + V_J.angular)
            dw.append(A.T @ dw[p] + w[i].cross(V_J.angular) + A_J.angular)
            reached = A.T @ (dds[p] + Omega[p] @ s)
        else:
            w.append(V_J.angular)
            dw.append(A_J.angular)
            reached = -(A.T @ model.gravity)
        slide = (w[i] * 2 - V_J.angular).cross(V_J.linear) + A_J.linear
        dds.append(reached + slide)
        Omega.append(acceleration_tensor(w[i], dw[i]))
        F.append(body.inertia.tensor_wrench(dds[i], Omega[i]) - F_ext[i])
    return Links(w, dw, dds, Omega, F)
