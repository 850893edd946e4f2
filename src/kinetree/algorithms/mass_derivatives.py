"""The derivatives of the mass matrix and of its inverse by the configuration.

Source: Echeandia & Wensing, eq. 22: H_ij = Phi_i^T I_j^C Phi_j for a joint i that carries joint j,
in one common frame. A step along an axis s of joint k turns all that k carries by s, so of these
factors only those that k carries change:

    joint k                 d H_ij
    carries i and j         0
    between i and j         Phi_i^T (s x* I_j^C Phi_j) = (Phi_i x s)^T I_j^C Phi_j
    is carried by j         Phi_i^T (s x* I_k^C - I_k^C s x) Phi_j

    paper           code       meaning
    Phi_i           Phi[i]     axes of joint i; s one of them
    I_j^C Phi_j     F          as in `crba`

differs: where the axes of a joint are not fixed in its body, their own change is added.

Cost: O(N d^2) for H, O(N^4) for its inverse.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.axes import changes
from kinetree.algorithms.dense import dot
from kinetree.algorithms.factored_inverse import mass_matrix_inverse
from kinetree.algorithms.frames import in_one_frame
from kinetree.algorithms.tree import ancestors
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Motion

Tensor = list[list[list[Scalar]]]
Axis = tuple[int, Motion]
"""Where its velocity stands in v, and what it is."""


def mass_derivatives(model: Model, q: Sequence[Scalar]) -> Tensor:
    """[i][j][k]: the derivative of H_ij along direction k of q (+) delta."""
    parts, n, zero = in_one_frame(model, q), model.nv, [0] * model.nv
    dH: Tensor = [[[0] * n for _ in range(n)] for _ in range(n)]
    axes: list[list[Axis]] = []
    axis_changes: list[list[tuple[int, list[Axis]]]] = []
    for i, (X, Phi) in enumerate(zip(parts.X, parts.Phi, strict=True)):
        start = model.v_slices[i].start
        axes.append(list(enumerate(Phi, start)))
        axis_changes.append(
            [
                (c.number, list(enumerate([X.to_parent(axis) for axis in c.axes], start)))
                for c in changes(model, i, q, zero, zero)
            ]
        )

    def add(i: int, j: int, k: int, entry: Scalar) -> None:
        """Add to the derivatives of H_ij and of H_ji."""
        dH[i][j][k] = dH[i][j][k] + entry
        dH[j][i][k] = dH[j][i][k] + entry

    for j, _, IC in parts.from_the_tips():
        above = list(ancestors(model, j))
        for column, axis in axes[j]:
            F = IC @ axis
            for depth, k in enumerate(above):
                for number, s in axes[k]:  # k between i and j
                    for i in above[depth + 1 :]:
                        for row, other in axes[i]:
                            add(row, column, number, other.cross(s).dot(F))
                for number, changed in axis_changes[k]:
                    for row, other in changed:
                        add(row, column, number, other.dot(F))
        for number, s in axes[j]:  # j is k, carried by both
            for depth, i in enumerate(above[1:], 1):
                for column, axis in axes[i]:
                    change = s.cross_force(IC @ axis) - IC @ s.cross(axis)
                    for row, other in axes[i]:
                        if row < column:
                            add(row, column, number, other.dot(change))
                    add(column, column, number, axis.dot(change) * 0.5)
                    for k in above[depth + 1 :]:
                        for row, other in axes[k]:
                            add(row, column, number, other.dot(change))
        for number, changed in axis_changes[j]:
            for column, axis in changed:
                F = IC @ axis
                for i in above[1:]:
                    for row, other in axes[i]:
                        add(row, column, number, other.dot(F))
    return dH


def mass_inverse_derivatives(model: Model, q: Sequence[Scalar]) -> Tensor:
    """[i][j][k]: the derivative of the inverse's entry ij: d H^-1 = -H^-1 dH H^-1."""
    n, inverse, change = model.nv, mass_matrix_inverse(model, q), mass_derivatives(model, q)
    d_inverse: Tensor = [[[0] * n for _ in range(n)] for _ in range(n)]
    for k in range(n):
        dH = [[change[i][j][k] for j in range(n)] for i in range(n)]
        half = [[dot(row, column) for column in inverse] for row in dH]
        for i in range(n):
            for j in range(i + 1):
                entry = -dot(inverse[i], [row[j] for row in half])
                d_inverse[i][j][k] = d_inverse[j][i][k] = entry
    return d_inverse
