"""Momentum: linear and angular, about the centre of mass or the world's origin.

Source: D. E. Orin, A. Goswami & S.-H. Lee, Centroidal dynamics of a humanoid robot, Autonomous
Robots 35 (2013): eq. 8 and 27, its matrix by composite inertias as in section 6.

    paper     code       meaning
    h_G       momentum   in the world's axes, about the centre of mass
    A_G       columns    h_G = A_G qd
    I_i^C     IC[i]      inertia of body i and all it carries

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.center_of_mass import center_of_mass
from kinetree.algorithms.crba import composite_inertias
from kinetree.algorithms.kinematics import motions
from kinetree.algorithms.rate import rate
from kinetree.algorithms.tree import body_poses, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual
from kinetree.spatial import Force, Transform, Vector3

POINTS = ("center", "world")


def momentum(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], about: str) -> list[Scalar]:
    """The momentum of all moving bodies: six numbers, linear first, in the world's axes."""
    V, _ = motions(model, q, qd, [0] * model.nv)
    total = [Force.zero() for _ in range(len(model.bodies) + 1)]
    for i, X in reversed(list(enumerate(parent_transforms(model, q)))):
        total[i] = total[i] + model.bodies[i].inertia @ V[i]
        parent = model.bodies[i].parent
        total[parent] = total[parent] + X.to_parent(total[i])
    return list(_shifted(total[-1], _point(model, q, about)))


def momentum_matrix(model: Model, q: Sequence[Scalar], about: str) -> list[list[Scalar]]:
    """The momentum for each unit velocity: six rows."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    IC = composite_inertias(model, X)
    point = _point(model, q, about)
    from_point = [
        Transform(X_i.rotation, X_i.translation - point) if body.parent < 0 else X_i
        for X_i, body in zip(X, model.bodies, strict=True)
    ]
    columns = [Force.zero()] * model.nv
    for i, X_i in enumerate(body_poses(model, from_point)):
        for j, axis in enumerate(Phi[i], model.v_slices[i].start):
            columns[j] = columns[j] + X_i.to_parent(IC[i] @ axis)
    return [list(row) for row in zip(*columns, strict=True)]


def momentum_rate(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    about: str,
) -> list[Scalar]:
    """The rate of the momentum at the accelerations qdd."""
    moving = [Dual(x, dx) for x, dx in zip(qd, qdd, strict=True)]
    result: list[Scalar] = rate(momentum, model, q, qd, moving, about)
    return result


def _point(model: Model, q: Sequence[Scalar], about: str) -> Vector3:
    return Vector3(*center_of_mass(model, q)) if about == "center" else Vector3.zero()


def _shifted(f: Force, point: Vector3) -> Force:
    """A momentum about the world's origin, taken about another point instead."""
    return Force(f.linear, f.angular - point.cross(f.linear))
