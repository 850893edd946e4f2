"""Kinematics: poses, velocities and accelerations of bodies and frames.

Source: Liu & Jain, A Quick Tutorial on Multibody Dynamics, section 5 (poses, eq. 57); Lecture 9,
"Velocity and Accel. Propagation" (velocities, accelerations).

    source      code     meaning
    W_k         X[k]     pose of body k in its parent
    W_k^0       X0[k]    pose of body k in the world
    V_i, A_i    V, A     spatial velocity and acceleration, in the body's own frame

A motion of a frame can be seen in three ways (`axes`):

    "body"      in the frame's own axes, at its origin
    "origin"    in the world's axes, at the frame's origin
    "world"     in the world's axes, at the world's origin

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.rnea import forward_pass
from kinetree.algorithms.tree import body_poses, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Twist

AXES = ("origin", "body", "world")


def poses(model: Model, q: Sequence[Scalar]) -> list[Transform]:
    """The pose of every body in the world."""
    return list(body_poses(model, parent_transforms(model, q)))


def frame_pose(model: Model, q: Sequence[Scalar], name: str) -> Transform:
    """The pose of a named frame in the world."""
    frame = model.frame(name)
    if frame.body < 0:
        return frame.placement
    return poses(model, q)[frame.body] @ frame.placement


def seen(motion: Twist, X0: Transform, axes: str) -> Twist:
    """A motion given in a frame with pose X0, expressed in `axes`."""
    if axes == "world":
        return X0.to_parent(motion)
    if axes == "origin":
        return Twist(X0.rotation @ motion.linear, X0.rotation @ motion.angular)
    return motion


def motions(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[list[Twist], list[Twist]]:
    """The velocity and the spatial acceleration of every body, in its own frame."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    return forward_pass(model, X, Phi, q, qd, qdd, Twist.zero())


def velocities(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], axes: str) -> list[Twist]:
    """The velocity of every body."""
    V, _ = motions(model, q, qd, [0] * model.nv)
    return [seen(v, X0, axes) for v, X0 in zip(V, poses(model, q), strict=True)]


def frame_velocity(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], name: str, axes: str
) -> Twist:
    """The velocity of a frame."""
    frame = model.frame(name)
    if frame.body < 0:
        return Twist.zero()
    V, _ = motions(model, q, qd, [0] * model.nv)
    in_frame = frame.placement.to_child(V[frame.body])
    return seen(in_frame, frame_pose(model, q, name), axes)


def frame_acceleration(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    name: str,
    axes: str,
    kind: str,
) -> Twist:
    """The acceleration of a frame.

    kind: "spatial", the rate of the spatial velocity; or "classical", whose linear part is the
        second derivative of the position of the point at the origin of the axes, a + w x v.
    """
    frame = model.frame(name)
    if frame.body < 0:
        return Twist.zero()
    V, A = motions(model, q, qd, qdd)
    X0 = frame_pose(model, q, name)
    a = seen(frame.placement.to_child(A[frame.body]), X0, axes)
    if kind == "spatial":
        return a
    v = seen(frame.placement.to_child(V[frame.body]), X0, axes)
    return Twist(a.linear + v.angular.cross(v.linear), a.angular)
