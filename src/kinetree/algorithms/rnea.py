"""Inverse dynamics by the recursive Newton-Euler algorithm, in body coordinates.

Source: W. Zhang, Lecture 9, Dynamics of Open Chains, "Recursive Newton-Euler Algorithm"; the
equation numbers are those of Echeandia & Wensing, who write the same recursion coordinate-free.

    lecture     code         meaning
    p(i)        body.parent  parent of body i
    iX_p(i)     X[i]         parent to body i (`to_child`); its dual carries forces back
    S_i         Phi[i]       axes of joint i, in frame i
    V_i, A_i    V[i], A[i]   spatial velocity and acceleration of body i
    F_i         F[i]         wrench onto body i from its parent
    A_g         A_g          gravity's acceleration

differs: the lecture's F_ext is what the robot does to its surroundings; here an external wrench
acts on the robot, so it enters with the opposite sign.
differs: the lecture has axes fixed in their bodies; the rate of Phi in body coordinates is added
to A_i as in eq. 16, and vanishes for those.
differs: what the drives take, rotor inertia, friction and springs, is added to tau; joints that
share a coordinate add up in it.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.drives import drive_forces
from kinetree.algorithms.tree import (
    Loads,
    along,
    carry_to_base,
    parent_transforms,
    subspaces,
    wrenches_on_bodies,
)
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Twist, Vector3


def rnea(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external: Loads = (),
) -> list[Scalar]:
    """The joint forces tau that give the accelerations qdd."""
    _, tau = passes(model, q, qd, qdd, external)
    return tau


def joint_wrenches(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external: Loads = (),
) -> list[Force]:
    """F_i: the wrench that joint i transmits to body i, in the body's frame."""
    F, _ = passes(model, q, qd, qdd, external)
    return F


def passes(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external: Loads,
) -> tuple[list[Force], list[Scalar]]:
    """Both passes: the wrenches F that the joints transmit, and the joint forces tau."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    A_g = Twist(model.gravity, Vector3.zero())
    F_ext = wrenches_on_bodies(model, X, external)

    V, A = forward_pass(model, X, Phi, q, qd, qdd, -A_g)
    # F_i = I_i A_i + V_i x* I_i V_i (7), less what comes from outside
    F = [body.inertia.wrench(V[i], A[i]) - F_ext[i] for i, body in enumerate(model.bodies)]

    # tips to base: what each joint carries (18), and the force of its drive
    tau = drive_forces(model, q, qd, qdd)
    carry_to_base(model, X, Phi, F, tau)
    return F, tau


def forward_pass(
    model: Model,
    X: Sequence[Transform],
    Phi: Sequence[tuple[Twist, ...]],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    A_0: Twist,
) -> tuple[list[Twist], list[Twist]]:
    """Base to tips: V and A, from the acceleration A_0 of the base."""
    V: list[Twist] = []
    A: list[Twist] = []
    for i, body in enumerate(model.bodies):
        rates = qd[model.v_slices[i]]
        V_p = V[body.parent] if body.parent >= 0 else Twist.zero()
        A_p = A[body.parent] if body.parent >= 0 else A_0
        V_J = along(Phi[i], rates)
        Phi_rate = body.joint.subspace_rate(q[model.q_slices[i]], rates)
        V.append(X[i].to_child(V_p) + V_J)  # (15)
        A.append(  # (16)
            X[i].to_child(A_p)
            + along(Phi[i], qdd[model.v_slices[i]])
            + V[i].cross(V_J)
            + along(Phi_rate, rates)
        )
    return V, A
