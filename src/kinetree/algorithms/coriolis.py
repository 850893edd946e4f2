"""The mass matrix, its rate and the Coriolis matrix in one pass.

Source: Echeandia & Wensing, Algorithm 1, with the equations of section 3; in one common frame,
where lines 15 and 22 to 23 carry nothing.

    paper             code       meaning
    v_i               v[i]       velocity of body i (15)
    Phi'_i            dPhi[i]    rate of its axes: v_i x Phi_i and their own change (16, 17)
    B_i^C             BC         factor of the velocity products of the subtree at body i (21)
    F_1, F_2, F_3     F1 F2 F3   (25), (26), (27)

B(v, I) may be any admissible factor (Definition 4, eq. 14): then C is admissible, C + C^T = H'
(Proposition 1). With that of eq. 12 it is the one of the Christoffel symbols,
C_ij = sum_k Gamma_ijk q_k' (3). Where the text at hand has something else, docs/sources.md says so.

differs: Proposition 2 asks for joints of one degree of freedom whose axes are fixed in their
bodies. It holds for every joint whose velocities are the rates of its coordinates: for two of
these, j and k, the axes' own change obeys dPhi_j/dq_k - dPhi_k/dq_j = Phi_j x Phi_k (the
Maurer-Cartan equation), and as B(Phi_k) Phi_j - B(Phi_j) Phi_k = -I (Phi_k x Phi_j), C is then a
sum of symbols symmetric in j and k; only one such is admissible. Where velocities are no rates (a
quaternion's), C is still admissible (Remark 4).
differs: rotor inertias are added to H; joints that share a coordinate add up.

Cost: O(N d).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.algorithms.blocks import rotor_coriolis_matrix, rotor_matrix, zero_matrix
from kinetree.algorithms.frames import in_one_frame
from kinetree.algorithms.tree import along, ancestors
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Operator, Twist, christoffel_factor, spatial_factor

Factor = Callable[[Twist, Inertia], Operator]
"""B(v, I) with B v = v x* I v; admissible if also B + B^T = (v x*) I - I (v x)."""

FACTORIZATIONS: dict[str, Factor] = {
    "christoffel": christoffel_factor,  # (12)
    "spatial": spatial_factor,  # (11)
}


def coriolis(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], factor: Factor = christoffel_factor
) -> tuple[list[list[Scalar]], list[list[Scalar]], list[list[Scalar]]]:
    """H, H' and C."""
    parts = in_one_frame(model, q)
    Phi = parts.Phi
    v: list[Twist] = []
    dPhi: list[list[Twist]] = []
    for i, body in enumerate(model.bodies):
        rates = qd[model.v_slices[i]]
        v_p = v[body.parent] if body.parent >= 0 else Twist.zero()
        v.append(v_p + along(Phi[i], rates))  # (15)
        axis_changes = body.joint.subspace_rate(q[model.q_slices[i]], rates)
        dPhi.append(
            [
                v[i].cross(axis) + parts.X[i].to_parent(change)
                for axis, change in zip(Phi[i], axis_changes, strict=True)
            ]
        )

    H, dH = rotor_matrix(model), zero_matrix(model)
    C = rotor_coriolis_matrix(model, qd)
    carried: dict[int, Operator] = {}
    for j, I, IC in parts.from_the_tips():
        BC = factor(v[j], I)
        BC = BC + carried.pop(j) if j in carried else BC  # (21)
        parent = model.bodies[j].parent
        if parent >= 0:
            carried[parent] = carried[parent] + BC if parent in carried else BC
        F1 = [IC @ rate + BC @ axis for axis, rate in zip(Phi[j], dPhi[j], strict=True)]
        F2 = [IC @ axis for axis in Phi[j]]
        F3 = [BC.T @ axis for axis in Phi[j]]
        for i in ancestors(model, j):
            for r, (axis, rate) in enumerate(zip(Phi[i], dPhi[i], strict=True)):
                row = model.v_slices[i].start + r
                for c, (f1, f2, f3) in enumerate(zip(F1, F2, F3, strict=True)):
                    column = model.v_slices[j].start + c
                    upper = axis.dot(f1)
                    C[row][column] = C[row][column] + upper  # (29)
                    if i == j and c < r:
                        continue  # the other half of a symmetric block
                    lower = rate.dot(f2) + axis.dot(f3)
                    entry, change = axis.dot(f2), lower + upper
                    H[row][column] = H[row][column] + entry  # (28)
                    dH[row][column] = dH[row][column] + change
                    if i != j:
                        C[column][row] = C[column][row] + lower  # (30)
                    if i != j or r != c:
                        H[column][row] = H[column][row] + entry
                        dH[column][row] = dH[column][row] + change
    return H, dH, C


def coriolis_matrix(factor: Factor) -> Callable[..., list[list[Scalar]]]:
    """The function C(model, q, qd) of a factor."""

    def matrix(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[list[Scalar]]:
        _, _, C = coriolis(model, q, qd, factor)
        return C

    return matrix


def mass_matrix_rate(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """H', the rate of the mass matrix."""
    _, rate, _ = coriolis(model, q, qd)
    return rate
