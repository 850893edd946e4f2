"""The Christoffel symbols of the first kind.

Source: Echeandia & Wensing, Algorithm 2, in one common frame, where lines 18 and 21 to 22 carry
nothing.

    paper             code          meaning
    B~_k              B             B(Phi_k, I_k^C), eq. 12
    D_k               f, B          (I_k^C Phi_k x-*) - B~_k, applied as two terms
    F_1, F_2, F_3     F1 F2 F3      (51), (52), (53)
    Gamma_ijk         Gamma         (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i) / 2 (4)

For i, j, k on one path to the root, ordered so that k is the farthest from it; all others vanish.
Where the text at hand has something else, docs/sources.md says so.

B~_k has zero blocks where it takes linear motion (see `christoffel_factor`), so that F_2 and F_3
are moments alone: twelve multiplications for three symbols, where the paper needs eighteen.

differs: the paper has joints of one degree of freedom with fixed axes. Two velocities j and k of
one joint bring the terms of eq. 19 that then do not vanish: with the derivative of Phi'_j,
T_jk = Phi_k x Phi_j + dPhi_j/dq_k, it is Gamma_ijk = Phi_i^T (I^C T_jk + B(Phi_k, I^C) Phi_j).
differs: where velocities are no rates of coordinates (a quaternion's), Gamma_ijk is the derivative
of C_ij of `coriolis` by v_k. C = Gamma v and C + C^T = H' hold; the symmetry in j and k does not.

Cost: O(N d^2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kinetree.algorithms.blocks import rotor_symbols
from kinetree.algorithms.dots import dots
from kinetree.algorithms.frames import Frames, in_one_frame
from kinetree.algorithms.tree import ancestors
from kinetree.model import Model
from kinetree.scalar import Scalar, call
from kinetree.spatial import Force, Inertia, Operator, Twist, christoffel_factor

Triple = tuple[int, int, int]
Add = Callable[[int, int, int, Scalar], None]


def christoffel_symbols(model: Model, q: Sequence[Scalar]) -> list[list[list[Scalar]]]:
    """All symbols Gamma_ijk, as nested lists [i][j][k]."""
    n = model.nv
    Gamma: list[list[list[Scalar]]] = [[[0] * n for _ in range(n)] for _ in range(n)]
    for (i, j, k), value in symbols(model, q).items():
        Gamma[i][j][k] = value
    return Gamma


def symbols(model: Model, q: Sequence[Scalar]) -> dict[Triple, Scalar]:
    """The symbols that can be nonzero for robots of this structure, by their indices."""
    parts = in_one_frame(model, q)
    Gamma: dict[Triple, Scalar] = {}

    def add(a: int, b: int, c: int, value: Scalar) -> None:
        Gamma[a, b, c] = Gamma.get((a, b, c), 0) + value

    def add_both(a: int, b: tuple[int, int], c: tuple[int, int], value: Scalar) -> None:
        """Add to Gamma_abc and Gamma_acb, once if b and c are the same velocity."""
        add(a, b[1], c[1], value)
        if b != c:
            add(a, c[1], b[1], value)

    IC: dict[int, Inertia] = {}
    for K, _, IC[K] in parts.from_the_tips():
        path = _path(model, parts, K)
        count = len(parts.Phi[K])
        for k in range(len(path) - count, len(path)):
            Phi_k, at_k = path[k]
            B = christoffel_factor(Phi_k, IC[K])
            f = IC[K] @ Phi_k
            for j in range(k + 1):
                Phi_j, at_j = path[j]
                F1, F2, F3 = call(_forces, B, f, Phi_j, times=len(path))
                products = dots([Phi_i for Phi_i, _ in path[: j + 1]], [F1, F2, F3])
                for (_, at_i), (by_F1, by_F2, by_F3) in zip(path, products, strict=False):
                    add_both(at_i[1], at_j, at_k, by_F1)  # (54)
                    if at_i != at_j:
                        add_both(at_j[1], at_i, at_k, by_F2)  # (55)
                    if j != k:
                        add_both(at_k[1], at_i, at_j, by_F3)  # (56)
    for i, j, k, value in rotor_symbols(model):
        add(i, j, k, value)
    for body in range(len(model.bodies)):
        if model.bodies[body].joint.nv > 1:
            _add_changes_of_axes(model, q, parts, IC, body, add)
    return Gamma


def _forces(B: Operator, f: Force, Phi_j: Twist) -> tuple[Force, Force, Force]:
    F1 = B @ Phi_j  # (51)
    return F1, B.T @ Phi_j, Phi_j.cross_force(f) - F1  # (52), (53)


def _path(model: Model, parts: Frames, body: int) -> list[tuple[Twist, tuple[int, int]]]:
    """The axes from the root to a body, each with its body and its velocity."""
    path = []
    for i in reversed(list(ancestors(model, body))):
        for k, axis in enumerate(parts.Phi[i], model.v_slices[i].start):
            path.append((axis, (i, k)))
    return path


def _add_changes_of_axes(
    model: Model,
    q: Sequence[Scalar],
    parts: Frames,
    IC: Mapping[int, Inertia],
    body: int,
    add: Add,
) -> None:
    """Add I^C T_jk for two velocities of one joint, beyond what the loop has added."""
    joint, at = model.bodies[body].joint, model.v_slices[body]
    Phi = parts.Phi[body]
    changes = []  # [k][j]: dPhi_j/dq_k
    for k in range(joint.nv):
        unit = [1 if j == k else 0 for j in range(joint.nv)]
        rates = joint.subspace_rate(q[model.q_slices[body]], unit)
        changes.append([parts.X[body].to_parent(rate) for rate in rates])
    related = [
        (other, IC[max(other, body)])
        for other in range(len(model.bodies))
        if body in ancestors(model, other) or other in ancestors(model, body)
    ]

    def add_change(T: Twist, b: int, c: int) -> None:
        for other, inertia in related:
            force = inertia @ T
            for a, axis in enumerate(parts.Phi[other], model.v_slices[other].start):
                add(a, at.start + b, at.start + c, axis.dot(force))

    for low in range(joint.nv):
        for high in range(low, joint.nv):
            # both orders were given B(Phi_high) Phi_low; the other one is that + I (high x low)
            add_change(changes[high][low] + Phi[high].cross(Phi[low]), low, high)
            if low != high:
                add_change(changes[low][high], high, low)
