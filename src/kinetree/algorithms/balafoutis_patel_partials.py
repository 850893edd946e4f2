"""The partial derivatives of inverse dynamics by Cartesian tensors, link by link.

Source: B. Guenter & C. F. Rose, Derivations of the Balafoutis & Patel Recursive Dynamics
Formulation, MSR-TR-2000-80 (2000), "The recursive partials & their initial conditions" and "The
backward-recursive partials".

    report              code       meaning
    d omega_i / d x_j   P.w        of the angular velocity of link i
    d omega'_i / d x_j  P.dw       of its angular acceleration
    d Omega_i / d x_j   Omega      of its angular acceleration tensor
    d s''_0,i / d x_j   P.dds      of the acceleration of its origin
    d f_i, d eta_i      dF[i]      of the force and moment exerted on link i by its parent
    d tau_i / d x_j     result     x is q, q' or q''

The report's equations for i+ > j are `_carried`, its initial conditions, i+ = j,
`_initial`.

differs: as in `balafoutis_patel`, joints have any axes, and forces and moments are about the link's
origin: d F and d eta follow from d s'' and d Omega by the link's inertia, without d r''.
differs: turning A_j by its axis turns A_j^T x the other way, so
(d A_j^T / d q_j) x = -z_j x A_j^T x.
differs: the report's z_j does not change with q_j. Where axes do, d z_j . f_j is added to d tau_j.

Where the text at hand has something else, docs/sources.md says so.

Cost: O(N d).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.axes import changes
from kinetree.algorithms.balafoutis_patel import Links, base_to_tips
from kinetree.algorithms.blocks import drive_matrices
from kinetree.algorithms.tree import (
    Loads,
    carry_to_base,
    joint_motion,
    parent_transforms,
    point_forces,
    subspaces,
)
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Twist, Vector3, acceleration_tensor_change

Matrix = list[list[Scalar]]
Key = tuple[str, int]
"""The variable of a derivative: "q", "qd" or "qdd", and its index."""


class Partial(NamedTuple):
    """The partial derivative of a link's motion; `turn` is the rotation of its frame."""

    w: Vector3
    dw: Vector3
    dds: Vector3
    turn: Vector3

    def __add__(self, other: Partial) -> Partial:  # type: ignore[override]
        return Partial(*(a + b for a, b in zip(self, other, strict=True)))


def balafoutis_patel_partials(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external: Loads = (),
) -> tuple[Matrix, Matrix, Matrix]:
    """The derivatives of the joint forces by q, qd and qdd."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    links = base_to_tips(model, X, Phi, q, qd, qdd, external)
    pulls = point_forces(model, X, external)
    P: list[dict[Key, Partial]] = []
    dF: list[dict[Key, Force]] = []

    # the recursive partials
    for i, body in enumerate(model.bodies):
        V_J, _ = joint_motion(model, i, Phi[i], q, qd, qdd)
        P.append({})
        for key, d in P[body.parent].items() if body.parent >= 0 else ():
            dOmega = acceleration_tensor_change(links.w[body.parent], d.w, d.dw)
            P[i][key] = _carried(X[i], V_J, d, dOmega @ X[i].translation)
        for key, d in _initial(model, i, X[i], Phi[i], links, (q, qd, qdd), V_J):
            P[i][key] = P[i][key] + d if key in P[i] else d
        dF.append({})
        for key, d in P[i].items():
            dOmega = acceleration_tensor_change(links.w[i], d.w, d.dw)
            dF[i][key] = body.inertia.tensor_wrench(d.dds, dOmega)
            for force, point in pulls[i]:  # a force that does not turn with the link
                back = d.turn.cross(force)
                dF[i][key] = dF[i][key] + Force(back, point.cross(back))

    # the backward-recursive partials
    f = list(links.F)
    carry_to_base(model, X, Phi, f, [0] * model.nv)
    results = dict(zip(("q", "qd", "qdd"), drive_matrices(model, q, qd), strict=True))
    for i, body in reversed(list(enumerate(model.bodies))):
        for (kind, column), change in dF[i].items():
            for row, axis in enumerate(Phi[i], model.v_slices[i].start):
                results[kind][row][column] = results[kind][row][column] + axis.dot(change)
        for z, change_j in zip(Phi[i], changes(model, i, q, qd, qdd), strict=True):
            key, dq = ("q", change_j.number), results["q"]
            for row, axis in enumerate(change_j.axes, model.v_slices[i].start):
                dq[row][change_j.number] = dq[row][change_j.number] + axis.dot(f[i])
            dF[i][key] = dF[i][key] + z.cross_force(f[i])  # d A_j f_j = A_j (z_j x f_j)
        for key, felt in dF[i].items() if body.parent >= 0 else ():
            moved, known = X[i].to_parent(felt), dF[body.parent].get(key)
            dF[body.parent][key] = moved if known is None else known + moved
    return results["q"], results["qd"], results["qdd"]


def _carried(X: Transform, V_J: Twist, d: Partial, Omega_s: Vector3) -> Partial:
    """From a link to the next, i+ > j."""
    w = (back := X.rotation.T) @ d.w
    return Partial(
        w,
        back @ d.dw + w.cross(V_J.angular),
        back @ (d.dds + Omega_s) + (w * 2).cross(V_J.linear),
        back @ d.turn,
    )


def _initial(
    model: Model,
    i: int,
    X: Transform,
    Phi: Sequence[Twist],
    links: Links,
    state: tuple[Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]],
    V_J: Twist,
) -> Iterator[tuple[Key, Partial]]:
    """The partials by a joint's own coordinates, velocities and accelerations, i+ = j."""
    p, back, w, zero = model.bodies[i].parent, X.rotation.T, links.w[i], Vector3.zero()
    if p >= 0:
        w_p, dw_p = back @ links.w[p], back @ links.dw[p]
        reached = back @ (links.dds[p] + links.Omega[p] @ X.translation)
    else:
        w_p, dw_p, reached = zero, zero, -(back @ model.gravity)
    for z, change in zip(Phi, changes(model, i, *state), strict=True):
        dV, dA = change.velocity, change.acceleration
        dw = w_p.cross(z.angular) + dV.angular
        slide = back @ (links.Omega[p] @ (X.rotation @ z.linear)) if p >= 0 else zero
        by_position = Partial(
            dw,
            dw_p.cross(z.angular) + dw.cross(V_J.angular) + w.cross(dV.angular) + dA.angular,
            reached.cross(z.angular)
            + slide
            + (dw * 2 - dV.angular).cross(V_J.linear)
            + (w * 2 - V_J.angular).cross(dV.linear)
            + dA.linear,
            z.angular,
        )
        dA = change.velocity + change.rate
        by_velocity = Partial(
            z.angular,
            z.angular.cross(V_J.angular) + w.cross(z.angular) + dA.angular,
            z.angular.cross(V_J.linear) + (w * 2 - V_J.angular).cross(z.linear) + dA.linear,
            zero,
        )
        yield ("q", change.number), by_position
        yield ("qd", change.number), by_velocity
        yield ("qdd", change.number), Partial(zero, z.angular, z.linear, zero)
