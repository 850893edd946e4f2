"""Forward dynamics by the articulated-body algorithm.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3, Table 7.1, whose
numbers (7.x) these are; Lecture 9 names it as the most efficient way.

    book        code      meaning
    v_i, c_i    V[i] c    velocity of body i; its velocity-product acceleration
    I_i^A       IA[i]     articulated-body inertia: of body i and all it carries, joints free
    p_i^A       pA[i]     the force that leaves body i without acceleration
    U_i         U[i]      I_i^A S_i
    D_i         D         S_i^T U_i, one row and column a degree of freedom
    u_i         u[i]      tau_i - S_i^T p_i^A
    a'          A_i       acceleration of body i before its joint's own is added

Hybrid dynamics (section 9.2): a joint whose acceleration is given passes on all of the inertia
behind it, and its force follows.

The drive of a joint adds its rotor's inertia to D and takes its friction and its spring from tau.

Cost: O(N). Every joint must have coordinates of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kinetree.algorithms.articulated import articulated
from kinetree.algorithms.dense import dot
from kinetree.algorithms.drives import drive_forces
from kinetree.algorithms.tree import (
    Loads,
    along,
    parent_transforms,
    subspaces,
    wrenches_on_bodies,
)
from kinetree.model import Model
from kinetree.scalar import Scalar, call
from kinetree.spatial import ArticulatedInertia, Force, Transform, Twist, Vector3

BODIES = 8
"""A joint's part pays as a routine only in robots with so many times `CALLS_THAT_PAY` bodies."""


def aba(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
) -> list[Scalar]:
    """The accelerations qdd that the joint forces tau give."""
    qdd, _ = hybrid_dynamics(model, q, qd, [0] * model.nv, tau, external, ())
    return qdd


def hybrid_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    prescribed: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads,
    accelerated: Collection[int],
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations and joint forces, where each joint is given one of the two.

    Arguments:
        prescribed: the accelerations of the accelerated joints; other entries are not read.
        tau: the forces of the other joints; other entries are not read.
        accelerated: the bodies whose joints' accelerations are given.
    """
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    A_g = Twist(model.gravity, Vector3.zero())
    n = len(model.bodies)
    taken = drive_forces(model, q, qd, [0] * model.nv)
    F_ext = wrenches_on_bodies(model, X, external)
    c, pA = _bias(model, q, qd, X, Phi, F_ext)
    IA = [ArticulatedInertia.of_body(body.inertia) for body in model.bodies]

    # tips to base: articulated inertias and the forces they leave
    U: list[list[Force]] = [[] for _ in range(n)]
    D_inv: list[list[list[Scalar]]] = [[] for _ in range(n)]
    u: list[list[Scalar]] = [[] for _ in range(n)]
    for i in reversed(range(n)):
        at, parent = model.v_slices[i], model.bodies[i].parent
        if i in accelerated:  # its acceleration is given: all of the inertia is felt
            c[i] = c[i] + along(Phi[i], prescribed[at])
            if parent >= 0:
                IA[parent] = IA[parent] + X[i].to_parent(IA[i])
                pA[parent] = pA[parent] + X[i].to_parent(pA[i] + IA[i] @ c[i])
            continue
        free = [t - f for t, f in zip(tau[at], taken[at], strict=True)]
        rotor = model.drives[i].armature
        U[i], D_inv[i], u[i], Ia, pa = call(
            articulated, list(Phi[i]), IA[i], pA[i], c[i], free, rotor, times=n // BODIES
        )
        if parent >= 0:
            IA[parent] = IA[parent] + X[i].to_parent(Ia)
            pA[parent] = pA[parent] + X[i].to_parent(pa)

    # base to tips: accelerations, and the forces of joints whose acceleration is given
    A: list[Twist] = []
    qdd: list[Scalar] = [0] * model.nv
    forces = list(tau)
    for i, body in enumerate(model.bodies):
        at = model.v_slices[i]
        A_p = A[body.parent] if body.parent >= 0 else -A_g
        A_i = X[i].to_child(A_p) + c[i]  # (7.49)
        if i in accelerated:
            F = IA[i] @ A_i + pA[i]
            qdd[at] = prescribed[at]
            for k, axis in enumerate(Phi[i], at.start):
                rotor = model.drives[i].armature * prescribed[k]
                forces[k] = axis.dot(F) + rotor + taken[k]
            A.append(A_i)
            continue
        net = [ui - force.dot(A_i) for ui, force in zip(u[i], U[i], strict=True)]
        qdd[at] = [dot(row, net) for row in D_inv[i]]  # (7.50)
        A.append(A_i + along(Phi[i], qdd[at]))  # (7.51)
    return qdd, forces


def _bias(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    X: Sequence[Transform],
    Phi: Sequence[Sequence[Twist]],
    F_ext: Sequence[Force],
) -> tuple[list[Twist], list[Force]]:
    """Velocity-product accelerations c and bias forces p, from the base to the tips."""
    V: list[Twist] = []
    c: list[Twist] = []
    pA: list[Force] = []
    for i, body in enumerate(model.bodies):
        rates = qd[model.v_slices[i]]
        V_J = along(Phi[i], rates)
        V_p = V[body.parent] if body.parent >= 0 else Twist.zero()
        V.append(X[i].to_child(V_p) + V_J)
        Phi_rate = body.joint.subspace_rate(q[model.q_slices[i]], rates)
        c.append(V[i].cross(V_J) + along(Phi_rate, rates))
        pA.append(body.inertia.bias(V[i]) - F_ext[i])  # v x* I v - f^x (7.42)
    return c, pA
