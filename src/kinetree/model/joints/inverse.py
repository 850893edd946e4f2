"""A joint's coordinates from its transform: the way back for joints without a formula of their own.

The coordinates are those whose transform is nearest: the sum of squares of the error, a shift in
metres and a rotation vector in radians, both in the body's frame, is least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetree.scalar import Scalar, less, select
from kinetree.spatial import Transform, Twist, Vector3
from kinetree.spatial.angles import rotation_vector

if TYPE_CHECKING:
    from kinetree.model.joints.kinematics import JointKinematics

STEPS = 16
"""Steps of Levenberg and Marquardt's method: a joint of analytic transform needs four to ten."""
FIRST_DAMPING = 1e-3
SMALLEST = 1e-12
"""Damping that remains, so that a singular chart divides by no zero."""


def nearest_coordinates(joint: JointKinematics, X: Transform) -> list[Scalar]:
    """The coordinates of a joint at which its transform is nearest to X, from its neutral ones on.

    All steps are taken in every state, so that the method can be traced: a step that does not help
    is not kept, and the next one is shorter.
    """
    q: list[Scalar] = list(joint.neutral())
    error = transform_error(joint.transform(q), X)
    damping: Scalar = FIRST_DAMPING
    for _ in range(STEPS):
        tried = joint.integrate(q, _damped_step(joint.subspace(q), error, damping))
        error_there = transform_error(joint.transform(tried), X)
        better = less(_square(error_there), _square(error))
        q = [select(better, a, b) for a, b in zip(tried, q, strict=True)]
        pairs = zip(error_there, error, strict=True)
        six = [select(better, a, b) for a, b in pairs]
        error = Twist(Vector3(*six[:3]), Vector3(*six[3:]))
        damping = select(better, damping * 0.05 + SMALLEST, damping * 10.0)
    return q


def transform_error(X: Transform, wanted: Transform) -> Twist:
    """The motion, in the frame of X, that is missing from X to another transform."""
    missing = X.inverse() @ wanted
    return Twist(missing.translation, rotation_vector(missing.rotation))


def solve_normal_equations(
    columns: Sequence[Sequence[Scalar]], right: Sequence[Scalar], damping: Scalar = 0
) -> list[Scalar]:
    """The x for which sum_j columns[j] x_j is nearest to `right`: (A^T A) x = A^T b, by L D L^T.

    Arguments:
        damping: what is added to the diagonal of A^T A.
    """
    n = len(columns)
    G = [[_dot(a, b) + (damping if i == j else 0) for j, b in enumerate(columns)]
         for i, a in enumerate(columns)]  # fmt: skip
    x = [_dot(a, right) for a in columns]
    for k in range(n):  # elimination without exchanges: G is positive definite
        for i in range(k + 1, n):
            share = G[i][k] / G[k][k]
            x[i] = x[i] - share * x[k]
            for j in range(k + 1, n):
                G[i][j] = G[i][j] - share * G[k][j]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            x[k] = x[k] - G[k][j] * x[j]
        x[k] = x[k] / G[k][k]
    return x


def _damped_step(Phi: Sequence[Twist], error: Twist, damping: Scalar) -> list[Scalar]:
    return solve_normal_equations([list(axis) for axis in Phi], list(error), damping)


def _square(m: Twist) -> Scalar:
    return m.linear.dot(m.linear) + m.angular.dot(m.angular)


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0)
