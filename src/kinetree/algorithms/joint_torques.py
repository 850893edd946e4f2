"""Forces and torques on links and in joints from generalised forces.

Source: Liu & Jain, section 6.2, eq. 69 to 71.

    paper       code        meaning
    Q           Q           generalised forces
    f_k, tau_k  f, torque   force at a point of link k and torque on it, in the world's axes (70)
    f^_k, tau^_k  -         force and torque of joint k, in its parent's axes (71)
    J^_k        Phi         axes of joint k

Many forces give the same Q; these are the least, in the sum of their squares.

differs: eq. 71 is for joints that turn. A joint that slides, too, has a force f^_k next to tau^_k,
acting at the link's origin; (f^, tau^) = Phi (Phi^T Phi)^-1 Q_k.

Cost: O(N); O(N d^2) where the points of forces are known.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.blocks import zero_matrix
from kinetree.algorithms.crba import crba
from kinetree.algorithms.link_states import link_states
from kinetree.algorithms.link_velocities import Solve, unit_model
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.tree import along, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Twist, Vector3


def link_forces(
    model: Model,
    q: Sequence[Scalar],
    Q: Sequence[Scalar],
    points: Sequence[Vector3],
    solve: Solve,
) -> tuple[list[Vector3], list[Vector3]]:
    """The least forces at points of links and torques on links that give Q (70).

    (J^T)^+ = J (J^T J)^-1: the velocities of links that move with (J^T J)^-1 Q.
    """
    ones = [(1, 1)] * len(model.bodies)
    _, _, f, torque = link_states(model, q, solve(unit_model(model, points, ones), q, Q), points)
    return f, torque


def link_forces_and_joint_torques(
    model: Model, q: Sequence[Scalar], Q: Sequence[Scalar], points: Sequence[Vector3]
) -> tuple[list[Vector3], list[Vector3]]:
    """The least forces at known points and joint torques that give Q: eq. 69 inverted.

    With B = (J'_v; J^_omega) they are B (B^T B)^-1 Q, and B^T B is a mass matrix of point masses
    plus the squares of each joint's axes of rotation.
    """
    Phi = subspaces(model, q)
    B = _plus_squares(model, Phi, crba(unit_model(model, points, [(1, 0)] * len(Phi)), q))
    x = factor(B, elimination_order(model)).solve(Q)
    _, _, f, _ = link_states(model, q, x, points)
    X = parent_transforms(model, q)
    turns = [along(axes, x[at]).angular for axes, at in zip(Phi, model.v_slices, strict=True)]
    return f, [X_k.rotation @ turn for X_k, turn in zip(X, turns, strict=True)]


def _plus_squares(
    model: Model, Phi: Sequence[Sequence[Twist]], M: Sequence[Sequence[Scalar]]
) -> list[list[Scalar]]:
    """M plus the products of each joint's angular axes."""
    total = [list(row) for row in M]
    for axes, at in zip(Phi, model.v_slices, strict=True):
        for i, a in enumerate(axes, at.start):
            for j, b in enumerate(axes, at.start):
                total[i][j] = total[i][j] + a.angular.dot(b.angular)
    return total


def joint_torques(
    model: Model, q: Sequence[Scalar], Q: Sequence[Scalar]
) -> tuple[list[Vector3], list[Vector3]]:
    """f^ and tau^ of every joint, in its parent's axes: the least that give Q (71)."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    x = _by_joint(model, Phi, Q)
    found = [along(axes, x[at]) for axes, at in zip(Phi, model.v_slices, strict=True)]
    turned = [(X[k].rotation @ m.linear, X[k].rotation @ m.angular) for k, m in enumerate(found)]
    return [pull for pull, _ in turned], [turn for _, turn in turned]


def _by_joint(model: Model, Phi: Sequence[Sequence[Twist]], Q: Sequence[Scalar]) -> list[Scalar]:
    """(Phi^T Phi)^-1 Q, joints that share a coordinate together."""
    G = zero_matrix(model)
    for axes, at in zip(Phi, model.v_slices, strict=True):
        for i, a in enumerate(axes, at.start):
            for j, b in enumerate(axes, at.start):
                G[i][j] = G[i][j] + a.linear.dot(b.linear) + a.angular.dot(b.angular)
    return factor(G, elimination_order(model)).solve(Q)
