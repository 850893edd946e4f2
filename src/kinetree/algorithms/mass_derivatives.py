"""The derivatives of the mass matrix and of its inverse by the configuration.

Source: Echeandia & Wensing, eq. 22: H_ij = Phi_i^T I_j^C Phi_j in one common frame, for a joint i
that carries joint j or is joint j. What follows from it is derived here, by letters.

    paper           code       meaning
    Phi_i           Phi[i]     axes of joint i, each with the number of its velocity
    I_j^C           IC         inertia of all that joint j carries (20)
    I_j^C Phi_j     F          as in `crba`
                    s          an axis of joint k, along which the configuration steps
                    E[k]       the changes of the axes of joint k in its body, by its own velocities

A step along s turns all that joint k carries, its own axes and body included, as one rigid body.
Of what is turned, motions x, forces f and inertias I change by

    d x = s x x,    d f = s x* f,    d I = s x* I - I s x.                          (a)

The inertia I_j^C of a joint j that carries k holds I_k^C as a summand, which alone changes; so the
derivative of H_ij along s depends on where k stands on the path from j to the root:

    k carries or is i:     0, as H_ij is a product of motions and forces that turn together
    k is carried by i,
    carries or is j:       Phi_i^T (s x* F) = (Phi_i x s)^T F,  F = I_j^C Phi_j     (b)
    k is carried by j:     Phi_i^T D,  D = (s x* I_k^C - I_k^C s x) Phi_j           (c)

differs: where the axes of joint k are not fixed in its body, they change by E besides:

    k is i:                E^T F                                                    (d)
    k is j:                Phi_i^T I_k^C E                                          (e)

(d) also stands for the joint's own block, i = j = k, whose other term is the transpose of it.

Cost: O(N d^2) for H, O(N^4) for its inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kinetree.algorithms.axes import changes
from kinetree.algorithms.dense import dot
from kinetree.algorithms.factored_inverse import mass_matrix_inverse
from kinetree.algorithms.frames import Frames, in_one_frame
from kinetree.algorithms.tree import ancestors
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Twist

Tensor = list[list[list[Scalar]]]
Axis = tuple[int, Twist]
"""The number of a velocity, and its axis (or the change of its axis)."""
Add = Callable[[int, int, int, Scalar], None]
"""Adds to the derivatives of H_ij and of H_ji by velocity k, from i, j, k and a summand."""


def mass_derivatives(model: Model, q: Sequence[Scalar]) -> Tensor:
    """[i][j][k]: the derivative of H_ij along direction k of q (+) delta."""
    parts, n = in_one_frame(model, q), model.nv
    axes = _Axes.of(parts, q)
    dH: Tensor = [[[0] * n for _ in range(n)] for _ in range(n)]

    def add(i: int, j: int, k: int, entry: Scalar) -> None:
        dH[i][j][k] = dH[i][j][k] + entry
        dH[j][i][k] = dH[j][i][k] + entry

    for body, _, IC in parts.from_the_tips():
        path = list(ancestors(model, body))
        _step_between(axes, path, IC, add)
        _step_beyond(axes, path, IC, add)
        _change_of_last(axes, path, IC, add)
    return dH


@dataclass(frozen=True)
class _Axes:
    """The axes of every joint in one frame, and their changes by the joint's own velocities.

    Phi: [i] the axes of joint i.
    E: [k] for each velocity of joint k its number and the changes of all axes of joint k.
    """

    Phi: list[list[Axis]]
    E: list[list[tuple[int, list[Axis]]]]

    @classmethod
    def of(cls, parts: Frames, q: Sequence[Scalar]) -> _Axes:
        model, zero = parts.model, [0] * parts.model.nv
        Phi: list[list[Axis]] = []
        E: list[list[tuple[int, list[Axis]]]] = []
        for i, X in enumerate(parts.X):
            start = model.v_slices[i].start
            Phi.append(list(enumerate(parts.Phi[i], start)))
            changed = changes(model, i, q, zero, zero)
            E.append(
                [(c.number, list(enumerate(map(X.to_parent, c.axes), start))) for c in changed]
            )
        return cls(Phi, E)

    def along(self, joints: Iterable[int]) -> list[Axis]:
        """The axes of several joints."""
        return [axis for i in joints for axis in self.Phi[i]]


def _step_between(axes: _Axes, path: Sequence[int], IC: Inertia, add: Add) -> None:
    """Joint j is the first of the path; joint k carries or is it."""
    for column, Phi_j in axes.Phi[path[0]]:
        F = IC @ Phi_j
        for depth, k in enumerate(path):
            above = axes.along(path[depth + 1 :])
            for number, s in axes.Phi[k]:
                for row, Phi_i in above:
                    add(row, column, number, Phi_i.cross(s).dot(F))  # (b)
            for number, E in axes.E[k]:
                for row, E_i in E:
                    add(row, column, number, E_i.dot(F))  # (d)


def _step_beyond(axes: _Axes, path: Sequence[int], IC: Inertia, add: Add) -> None:
    """Joint k is the first of the path; joint j carries it."""
    for number, s in axes.Phi[path[0]]:
        for depth, j in enumerate(path[1:], 1):
            for column, Phi_j in axes.Phi[j]:
                D = s.cross_force(IC @ Phi_j) - IC @ s.cross(Phi_j)  # (c)
                for row, Phi_i in axes.Phi[j]:
                    if row < column:
                        add(row, column, number, Phi_i.dot(D))
                add(column, column, number, Phi_j.dot(D) * 0.5)  # twice, for H_ij and for H_ji
                for row, Phi_i in axes.along(path[depth + 1 :]):
                    add(row, column, number, Phi_i.dot(D))


def _change_of_last(axes: _Axes, path: Sequence[int], IC: Inertia, add: Add) -> None:
    """Joints j and k are both the first of the path; joint i carries it."""
    above = axes.along(path[1:])
    for number, E in axes.E[path[0]]:
        for column, E_j in E:
            F = IC @ E_j
            for row, Phi_i in above:
                add(row, column, number, Phi_i.dot(F))  # (e)


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
