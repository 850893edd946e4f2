"""Passivity-based control and the momentum observer, without forming the Coriolis matrix.

Source: Echeandia & Wensing, Remark 1, after G. Niemeyer & J.-J. E. Slotine: with a reference
velocity for one of the two in v x* I v, the recursion of Newton and Euler gives C(q, v) v_r.

    paper      code       meaning
    v_i        V[i]       velocity of body i, in its frame
    q_r'       vr, ar     reference velocity and acceleration; Vr[i], Ar[i] those of body i
    B_i        B          the factor of eq. 12
    h_i^C      h[i]       momentum of body i and all it carries

    tau = H a_r + C v_r + g (the law of Slotine and Li, with C + C^T = H'), with g of gravity and
    springs, and
    C^T v = sum of Phi'_i . h_i^C, because the rate of the momentum H v = Phi . h is C v + C^T v.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.blocks import rotor_momenta
from kinetree.algorithms.drives import rotor_products, spring_forces
from kinetree.algorithms.rnea import forward_pass
from kinetree.algorithms.tree import along, carry_to_base, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Twist, Vector3, christoffel_factor


def passivity_forces(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    vr: Sequence[Scalar],
    ar: Sequence[Scalar],
) -> list[Scalar]:
    """H(q) a_r + C(q, v) v_r + g(q), with C of the Christoffel symbols; rotors included."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    A_g = Twist(model.gravity, Vector3.zero())
    V: list[Twist] = []
    Vr: list[Twist] = []
    Ar: list[Twist] = []
    F: list[Force] = []
    for i, body in enumerate(model.bodies):
        at, p = model.v_slices[i], body.parent
        own_rates = body.joint.subspace_rate(q[model.q_slices[i]], v[at])
        reference = along(Phi[i], vr[at])
        V.append((X[i].to_child(V[p]) if p >= 0 else Twist.zero()) + along(Phi[i], v[at]))
        Vr.append((X[i].to_child(Vr[p]) if p >= 0 else Twist.zero()) + reference)
        Ar.append(
            X[i].to_child(Ar[p] if p >= 0 else -A_g)
            + along(Phi[i], ar[at])
            + V[i].cross(reference)
            + along(own_rates, vr[at])
        )
        B = christoffel_factor(V[i], body.inertia)  # (12)
        F.append(body.inertia @ Ar[i] + B @ Vr[i])  # (10)
    springs, turning = spring_forces(model, q), rotor_products(model, v, vr)
    rotors = rotor_momenta(model, ar)
    tau = [s + t + rotor for s, t, rotor in zip(springs, turning, rotors, strict=True)]
    carry_to_base(model, X, Phi, F, tau)
    return tau


def momentum_observer(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    r: Sequence[Scalar],
) -> tuple[list[Scalar], list[Scalar]]:
    """The generalised momentum p = H v, and its estimated rate tau + C^T v - g + r.

    Integrate the rate over a step to estimate p. With p at the end of the step,
    r = gain (p - estimate) converges to the external joint forces
    (A. De Luca & R. Mattone, ICRA 2003).
    """
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    zero = [0] * model.nv
    A_g = Twist(model.gravity, Vector3.zero())
    V, A = forward_pass(model, X, Phi, q, zero, zero, -A_g)
    weight = [body.inertia @ A[i] for i, body in enumerate(model.bodies)]
    V, _ = forward_pass(model, X, Phi, q, v, zero, Twist.zero())
    h = [body.inertia @ V[i] for i, body in enumerate(model.bodies)]
    p = rotor_momenta(model, v)
    springs, turning = spring_forces(model, q), rotor_products(model, v, v)
    rate = [t + x - s - c for t, x, s, c in zip(tau, r, springs, turning, strict=True)]
    for i, body in reversed(list(enumerate(model.bodies))):
        at = model.v_slices[i]
        own_rates = body.joint.subspace_rate(q[model.q_slices[i]], v[at])
        for k, (axis, own) in enumerate(zip(Phi[i], own_rates, strict=True), at.start):
            p[k] = p[k] + axis.dot(h[i])
            change = V[i].cross(axis) + own  # Phi'
            rate[k] = rate[k] + change.dot(h[i]) - axis.dot(weight[i])
        if body.parent >= 0:
            h[body.parent] = h[body.parent] + X[i].to_parent(h[i])
            weight[body.parent] = weight[body.parent] + X[i].to_parent(weight[i])
    return p, rate
