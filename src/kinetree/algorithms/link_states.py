"""The state of every link: position, orientation, linear and angular velocity in the world.

Source: Liu & Jain, A Quick Tutorial on Multibody Dynamics, section 5, eq. 49, 50, 57 and 58.

    paper         code       meaning
    W_k^0         X0[k]      pose of link k in the world
    c_k           points[k]  the point of link k whose position is asked for, in the link's frame
    x_k, R_k      x, R       position of that point and orientation, in the world
    v_k, omega_k  V          velocities of the point and of the link, in the world's axes
    J_k           columns    V_k = J_k q'

The paper's point is the centre of mass; any other will do.

Cost: O(N), O(N d) for the Jacobians.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.jacobian import body_columns, matrix
from kinetree.algorithms.kinematics import motions, poses
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Rotation, Transform, Twist, Vector3


def link_states(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], points: Sequence[Vector3]
) -> tuple[list[Vector3], list[Rotation], list[Vector3], list[Vector3]]:
    """x_k, R_k, v_k and omega_k of every link."""
    V, _ = motions(model, q, qd, [0] * model.nv)
    X0 = poses(model, q)
    seen = [in_world(X, v, c) for X, v, c in zip(X0, V, points, strict=True)]
    x = [X.point(c) for X, c in zip(X0, points, strict=True)]
    return x, [X.rotation for X in X0], [m.linear for m in seen], [m.angular for m in seen]


def in_world(X0: Transform, V: Twist, point: Vector3) -> Twist:
    """A link's velocity in its own frame, as that of one of its points in the world's axes."""
    linear = V.linear + V.angular.cross(point)
    return Twist(X0.rotation @ linear, X0.rotation @ V.angular)


def in_link(X0: Transform, V: Twist, point: Vector3) -> Twist:
    """The velocity of a link's point in the world's axes, as that of the link in its own frame."""
    back = X0.rotation.T
    angular = back @ V.angular
    return Twist(back @ V.linear - angular.cross(point), angular)


def link_jacobians_at(
    model: Model, q: Sequence[Scalar], points: Sequence[Vector3]
) -> list[list[list[Scalar]]]:
    """J_k of every link at one of its points: six rows each, linear first (58)."""
    places = [Transform(Rotation.identity(), point) for point in points]
    return [matrix(model, body_columns(model, q, k, X, "origin")) for k, X in enumerate(places)]


def point_jacobian(
    model: Model, q: Sequence[Scalar], point: Vector3, name: str, axes: str
) -> list[list[Scalar]]:
    """The Jacobian of a point given in the coordinates of a named frame."""
    frame = model.frame(name)
    place = frame.placement @ Transform(Rotation.identity(), point)
    return matrix(model, body_columns(model, q, frame.body, place, axes))
