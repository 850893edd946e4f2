"""The configuration from the poses of links.

Source: Liu & Jain, section 5.1: the state (x_k, R_k) of every link and q stand for the same system.
The tutorial gives the way back for velocities (eq. 60 to 66); here it is taken for poses, too.

    paper       code        meaning
    W_k         X           pose of link k in its parent, from the poses of both in the world
    q_k         q           the coordinates whose transform is that, joint by joint
    p(k)        parent      the link that carries link k
    V           error       what is missing at each link, as a velocity for one unit of time
    J^+         solve       the stacked Jacobian's pseudo-inverse (61)

Joint by joint each joint sees the measured pose of its parent. Where poses do not fit the joints,
the sum over links of squared distances and angles can be made smaller: `configuration_step` is a
step of Gauss and Newton's method on the manifold of configurations.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.kinematics import poses
from kinetree.algorithms.link_velocities import Solve, stacked_solution
from kinetree.model import Model
from kinetree.scalar import Scalar, sqrt
from kinetree.spatial import Rotation, Transform, Twist, Vector3
from kinetree.spatial.angles import rotation_vector


def link_poses(
    x: Sequence[Vector3], R: Sequence[Rotation], points: Sequence[Vector3]
) -> list[Transform]:
    """The pose of every link, from the position of one of its points and its orientation."""
    found = zip(x, R, points, strict=True)
    return [Transform(turn, at - turn @ point) for at, turn, point in found]


def link_configuration(
    model: Model, measured: Sequence[Transform]
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """q from the poses of all links in the world, joint by joint; and how far each joint is off.

    A joint that mimics another takes its coordinate from that.
    """
    q: list[Scalar] = [0] * model.nq
    for i in model.coordinate_order:
        q[model.q_slices[i]] = model.bodies[i].joint.coordinates_at(_in_joint(model, measured, i))
    return q, configuration_residuals(model, q, measured)


def configuration_residuals(
    model: Model, q: Sequence[Scalar], measured: Sequence[Transform]
) -> list[list[Scalar]]:
    """How far each joint's transform is from what the poses of its two links say.

    Of each joint a distance, and the length of the difference of the two rotation matrices over the
    root of two: 2 sin(angle / 2), for small ones the angle.
    """
    found = []
    for i, body in enumerate(model.bodies):
        X = _in_joint(model, measured, i)
        J = body.joint.transform(q[model.q_slices[i]])
        off = X.translation - J.translation
        rows = zip(X.rotation.rows, J.rotation.rows, strict=True)
        turn = sum(((a - b).dot(a - b) for a, b in rows), start=0)
        found.append([sqrt(off.dot(off)), sqrt(turn * 0.5)])
    return found


def configuration_step(
    model: Model,
    q: Sequence[Scalar],
    measured: Sequence[Transform],
    points: Sequence[Vector3],
    weights: Sequence[Sequence[Scalar]],
    solve: Solve,
) -> tuple[list[Scalar], Scalar]:
    """A step dq towards the least sum of squares, at q (+) dq; and the sum at q.

    Arguments:
        points: of each link the point whose distance counts.
        weights: of each link, those of the squares of its distance and of its angle.
    """
    errors, total = [], 0
    for X, Y, c, (a, b) in zip(poses(model, q), measured, points, weights, strict=True):
        way = Y.point(c) - X.point(c)
        turn = X.rotation @ rotation_vector(X.rotation.T @ Y.rotation)
        errors.append(Twist(way, turn))
        total = total + way.dot(way) * a + turn.dot(turn) * b
    return stacked_solution(model, q, errors, points, weights, solve), total


def _in_joint(model: Model, measured: Sequence[Transform], i: int) -> Transform:
    """The pose of body i in the frame of its joint, as the poses of both links say."""
    body = model.bodies[i]
    above = measured[body.parent] @ body.placement if body.parent >= 0 else body.placement
    return above.inverse() @ measured[i]
