"""What Liu & Jain's derivation has on its way: velocities, accelerations, forces link by link.

Source: Liu & Jain, eq. 17, 22, 25 to 27 and 72 to 85; Lecture 9 for each body's share in a joint's
torque.

    paper            code      meaning
    c_k              c         centre of mass of link k, in its frame
    v_k^l, omega_k^l v, w      velocity of the centre of mass and of the link, in the link's axes
    (v'_k)^l         dv        acceleration of the centre of mass, less gravity's (79, 85)
    (omega'_k)^l     dw        angular acceleration (80)
    f_k, tau_k       f, t      force and torque from the parent, at the joint (72, 73)
    P, L             P         momentum of a link: m v and I_c omega
    T_k              -         its kinetic energy
    J^_k             -         local Jacobian of joint k, in its parent's axes
    Lecture 9: J_i^T F_i       what body i adds to the joint torques

A link without mass has no centre: its origin is taken.

Cost: O(N), O(N d) for the shares.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.crba import crba
from kinetree.algorithms.energy import kinetic_energy
from kinetree.algorithms.kinematics import motions, poses
from kinetree.algorithms.rate import rate
from kinetree.algorithms.rnea import forward_pass, joint_wrenches
from kinetree.algorithms.tree import ancestors, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.model.model import Body
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Force, Twist, Vector3


def center(body: Body) -> Vector3:
    """c_k, of numbers."""
    return body.inertia.center_and_rotational()[0]


def link_intermediates(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[list[Vector3], ...]:
    """v, w, (v')^l, (w')^l, f and tau of every link, in the link's axes."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    felt = Twist(-model.gravity, Vector3.zero())  # (85)
    V, A = forward_pass(model, X, Phi, q, qd, qdd, felt)
    v, dv = [], []
    for body, V_k, A_k in zip(model.bodies, V, A, strict=True):
        c, w = center(body), V_k.angular
        v.append(V_k.linear + w.cross(c))  # (76)
        origin = A_k.linear + w.cross(V_k.linear)  # of the point that is at the link's origin
        dv.append(origin + A_k.angular.cross(c) + w.cross(w.cross(c)))  # (79)
    F = joint_wrenches(model, q, qd, qdd)  # (72, 73)
    return (
        v,
        [m.angular for m in V],
        dv,
        [m.angular for m in A],
        [wrench.linear for wrench in F],
        [wrench.angular for wrench in F],
    )


def link_momenta(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Force]:
    """Each link's momentum, in the world's axes, about its centre of mass."""
    V, _ = motions(model, q, qd, [0] * model.nv)
    found = []
    for body, V_k, X0 in zip(model.bodies, V, poses(model, q), strict=True):
        P = body.inertia @ V_k
        spin = P.angular - center(body).cross(P.linear)
        found.append(Force(X0.rotation @ P.linear, X0.rotation @ spin))
    return found


def link_energies(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """T_k of every link (26, 27); rotors of drives are not counted."""
    V, _ = motions(model, q, qd, [0] * model.nv)
    pairs = zip(model.bodies, V, strict=True)
    return [V_k.dot(body.inertia @ V_k) * 0.5 for body, V_k in pairs]


def local_jacobians(model: Model, q: Sequence[Scalar]) -> list[list[list[Scalar]]]:
    """J^_k of every joint in its parent's axes, six rows, linear first; zero off the joint (63)."""
    found = []
    for k, (X, Phi) in enumerate(
        zip(parent_transforms(model, q), subspaces(model, q), strict=True)
    ):
        columns = [Twist.zero()] * model.nv
        for j, axis in enumerate(Phi, model.v_slices[k].start):
            columns[j] = Twist(X.rotation @ axis.linear, X.rotation @ axis.angular)
        found.append([list(row) for row in zip(*columns, strict=True)])
    return found


def torque_shares(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[list[Scalar]]:
    """[k][j]: what link k's motion and weight take of joint force j; drives are not counted."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    V, A = forward_pass(model, X, Phi, q, qd, qdd, Twist(-model.gravity, Vector3.zero()))
    shares = []
    for k, body in enumerate(model.bodies):
        F, share = body.inertia.wrench(V[k], A[k]), [0] * model.nv
        for i in ancestors(model, k):
            for j, axis in enumerate(Phi[i], model.v_slices[i].start):
                share[j] = share[j] + axis.dot(F)
            F = X[i].to_parent(F)
        shares.append(share)
    return shares


def coriolis_by_energy(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """C = M' q' - dT/dq (17), where velocities are rates of coordinates."""
    dM = rate(crba, model, q, qd)
    C = [sum((m * v for m, v in zip(row, qd, strict=True)), start=0) for row in dM]
    rates = [Dual(v, 0) for v in qd]
    for j in range(model.nv):
        moving = [Dual(x, 1 if k == j else 0) for k, x in enumerate(q)]
        C[j] = C[j] - lift(kinetic_energy(model, moving, rates)).rate
    return C
