"""The inverse of the mass matrix without the mass matrix.

Source: J. Carpentier, Analytical inverse of the joint space inertia matrix, hal-01790934 (2018),
Algorithm 1: the articulated-body algorithm for all unit forces at once, with the robot at rest.

    paper        code        meaning
    D_i, U_i     D_inv U     as in `aba`
    F_i          F[i]        column -> the force that unit force k leaves at body i
    P_i          P[i]        column -> the acceleration of body i under unit force k
    M^-1         inverse     only its upper triangle is computed

Cost: O(N d). Every joint must have coordinates of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from kinetree.algorithms.dense import dot, inverse_symmetric
from kinetree.algorithms.ltl import elimination_order
from kinetree.algorithms.tree import along, combine, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import ArticulatedInertia, Force, Twist


def minverse(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """M^-1(q), both triangles."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    n, nv = len(model.bodies), model.nv
    IA = [ArticulatedInertia.of_body(body.inertia) for body in model.bodies]
    F: list[dict[int, Force]] = [{} for _ in range(n)]
    U: list[list[Force]] = [[] for _ in range(n)]
    D_inv: list[list[list[Scalar]]] = [[] for _ in range(n)]
    inverse: list[list[Scalar]] = [[0] * nv for _ in range(nv)]

    # tips to base: the effect of a unit force at k or beyond on joint i, its parents held
    for i in reversed(range(n)):
        at, parent = model.v_slices[i], model.bodies[i].parent
        rows = range(at.start, at.stop)
        U[i] = [IA[i] @ axis for axis in Phi[i]]
        D = [[axis.dot(force) for force in U[i]] for axis in Phi[i]]
        for r in range(len(D)):
            D[r][r] = D[r][r] + model.drives[i].armature
        D_inv[i] = inverse_symmetric(D)
        for row, weights in zip(rows, D_inv[i], strict=True):
            for column, weight in zip(rows, weights, strict=True):
                inverse[row][column] = weight
            for column, force in F[i].items():
                felt = [axis.dot(force) for axis in Phi[i]]
                inverse[row][column] = -dot(weights, felt)
        if parent < 0:
            continue
        Ia = IA[i]
        for weights, force in zip(D_inv[i], U[i], strict=True):
            Ia = Ia - ArticulatedInertia.outer(force, combine(U[i], weights))
        IA[parent] = IA[parent] + X[i].to_parent(Ia)
        for column in (*rows, *F[i]):
            moved = combine(U[i], [inverse[row][column] for row in rows])
            left = moved + F[i][column] if column in F[i] else moved
            F[parent][column] = X[i].to_parent(left)

    # base to tips: the parents move, too; columns before a body's rows follow by symmetry
    rank = {k: r for r, k in enumerate(elimination_order(model))}
    P: list[dict[int, Twist]] = [{} for _ in range(n)]
    for i, body in enumerate(model.bodies):
        rows = range(model.v_slices[i].start, model.v_slices[i].stop)
        carried = P[body.parent] if body.parent >= 0 else {}
        for column in {*rows, *F[i], *carried}:
            if rank[column] < rank[rows[0]]:
                continue
            A = Twist.zero()
            if column in carried:
                A = X[i].to_child(carried[column])
                felt = [force.dot(A) for force in U[i]]
                for row, weights in zip(rows, D_inv[i], strict=True):
                    inverse[row][column] = inverse[row][column] - dot(weights, felt)
            P[i][column] = A + along(Phi[i], [inverse[row][column] for row in rows])
    for row, column in combinations(elimination_order(model), 2):
        inverse[column][row] = inverse[row][column]
    return inverse
