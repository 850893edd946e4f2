"""Generalised velocities from the velocities of all links at once.

Source: Liu & Jain, section 6.1, eq. 60 and 61.

    paper         code                meaning
    V             V                   velocities of links' points, in the world's axes
    J             -                   the stacked Jacobian of all links, V = J q' (60)
    J^+           stacked_solution    (J^T J)^-1 J^T (61)

J^T J is the mass matrix of a robot each of whose links has mass one and rotational inertia one
about its point; J^T V are forces on it. The pseudo-inverse is therefore forward dynamics: O(N) by
the articulated-body algorithm, without forming J. Weights of squares are masses and inertias.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from kinetree.algorithms.aba import aba
from kinetree.algorithms.crba import crba
from kinetree.algorithms.kinematics import poses
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.relative_velocities import velocity_residuals
from kinetree.algorithms.tree import carry_to_base, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.model.equipment import NOTHING
from kinetree.model.model import Drive
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Inertia, Symmetric3, Twist, Vector3

Solve = Callable[[Model, Sequence[Scalar], Sequence[Scalar]], list[Scalar]]
"""(model, q, forces) -> the accelerations of a robot at rest in no gravity."""


def by_articulated_bodies(model: Model, q: Sequence[Scalar], Q: Sequence[Scalar]) -> list[Scalar]:
    """M^-1 Q in O(N), for joints with coordinates of their own."""
    return aba(model, q, [0] * model.nv, Q)


def by_factor(model: Model, q: Sequence[Scalar], Q: Sequence[Scalar]) -> list[Scalar]:
    """M^-1 Q by the sparse factor of M, for every joint."""
    return factor(crba(model, q), elimination_order(model)).solve(Q)


def unit_model(
    model: Model, points: Sequence[Vector3], weights: Sequence[Sequence[Scalar]]
) -> Model:
    """The robot whose mass matrix is J^T W J: masses and rotational inertias are weights."""
    bodies = [
        replace(
            body,
            inertia=Inertia.about_center(a, point, Symmetric3.diagonal(b)),
            drive=Drive(),
        )
        for body, point, (a, b) in zip(model.bodies, points, weights, strict=True)
    ]
    return replace(model, bodies=tuple(bodies), gravity=Vector3.zero(), equipment=NOTHING)


def stacked_solution(
    model: Model,
    q: Sequence[Scalar],
    V: Sequence[Twist],
    points: Sequence[Vector3],
    weights: Sequence[Sequence[Scalar]],
    solve: Solve,
) -> list[Scalar]:
    """q' = J^+ V (61), squares weighted."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    F = []
    for X0, v, c, (a, b) in zip(poses(model, q), V, points, weights, strict=True):
        pull = X0.rotation.T @ (v.linear * a)
        F.append(Force(pull, c.cross(pull) + X0.rotation.T @ (v.angular * b)))
    Q: list[Scalar] = [0] * model.nv
    carry_to_base(model, X, Phi, F, Q)  # J^T V
    return solve(unit_model(model, points, weights), q, Q)


def stacked_velocity(
    model: Model,
    q: Sequence[Scalar],
    V: Sequence[Twist],
    points: Sequence[Vector3],
    weights: Sequence[Sequence[Scalar]],
    links: Collection[int],
    solve: Solve,
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """q' from all velocities at once, and by how much each joint's relative velocity differs."""
    counted = [w if k in links else (0, 0) for k, w in enumerate(weights)]
    qd = stacked_solution(model, q, V, points, counted, solve)
    return qd, velocity_residuals(model, q, qd, V, points, links)
