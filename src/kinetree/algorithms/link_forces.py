"""Generalised forces from forces and torques on links and in joints.

Source: Liu & Jain, section 6.2, eq. 3, 48, 67 and 69.

    paper       code        meaning
    f_k         f           force on link k in the world's axes, at the point r_k of the link
    tau_k       -           torque of eq. 48: about the centre of mass, that of f_k included
    tau'_k      torque      torque of eq. 67: a couple, that of f_k not included
    tau^_k      hat         joint torque in the parent's axes: on link k, its opposite on p(k)
    Q           Q           generalised forces

tau_k = tau'_k + [r_k - x_k] f_k: with all forces at the centres of mass the two are the same.

differs: next to tau^_k a joint may have a force f^_k, acting at the link's origin.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.kinematics import poses
from kinetree.algorithms.link_dynamics import center
from kinetree.algorithms.tree import (
    body_poses,
    carry_to_base,
    parent_transforms,
    subspaces,
    wrenches_on_bodies,
)
from kinetree.model import Model
from kinetree.model.loads import JointWrench, PointForce, WorldWrench
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Twist, Vector3


def generalized_forces(
    model: Model,
    q: Sequence[Scalar],
    f: Sequence[Vector3],
    points: Sequence[Vector3],
    torque: Sequence[Vector3],
) -> list[Scalar]:
    """Q of forces at points of links and of torques on links, both in the world's axes (67)."""
    F = []
    for X0, pull, c, turn in zip(poses(model, q), f, points, torque, strict=True):
        local = X0.rotation.T @ pull
        F.append(Force(local, c.cross(local) + X0.rotation.T @ turn))
    return _carried(model, q, F)


def generalized_forces_of_loads(
    model: Model,
    q: Sequence[Scalar],
    external: Sequence[tuple[str, Force | PointForce | WorldWrench | JointWrench]],
) -> list[Scalar]:
    """Q of what acts from outside, each on a frame or (a JointWrench) in a joint, by name."""
    X = parent_transforms(model, q)
    X0 = list(body_poses(model, X))
    plain = [(name, x) for name, x in external if isinstance(x, (Force, PointForce))]
    F = wrenches_on_bodies(model, X, plain)
    hat = [Twist.zero()] * len(model.bodies)
    joints = {body.joint_name: k for k, body in enumerate(model.bodies)}
    for name, load in external:
        if isinstance(load, WorldWrench):
            k = model.frame(name).body
            if k >= 0:
                F[k] = F[k] + _in_body(model, X0[k], name, load)
        elif isinstance(load, JointWrench):
            k = joints[name]
            hat[k] = hat[k] + Twist(load.wrench.linear, load.wrench.angular)
    inner = forces_of_joint_torques(model, q, hat)
    return [a + b for a, b in zip(_carried(model, q, F), inner, strict=True)]


def _in_body(model: Model, X0: Transform, name: str, load: WorldWrench) -> Force:
    """A wrench in the world's axes, in the frame of its body."""
    frame = model.frame(name)
    if load.about == "world":
        return X0.to_child(load.wrench)
    at = frame.placement.translation if load.about == "origin" else center(model.bodies[frame.body])
    pull = X0.rotation.T @ load.wrench.linear
    return Force(pull, X0.rotation.T @ load.wrench.angular + at.cross(pull))


def _carried(model: Model, q: Sequence[Scalar], F: list[Force]) -> list[Scalar]:
    Q: list[Scalar] = [0] * model.nv
    carry_to_base(model, parent_transforms(model, q), subspaces(model, q), F, Q)
    return Q


def forces_of_joint_torques(
    model: Model, q: Sequence[Scalar], hat: Sequence[Twist]
) -> list[Scalar]:
    """Q = J^^T (f^, tau^) of joint forces and torques in the parents' axes (69)."""
    X, Q = parent_transforms(model, q), [0] * model.nv
    for k, Phi in enumerate(subspaces(model, q)):
        back = X[k].rotation.T
        W = Force(back @ hat[k].linear, back @ hat[k].angular)
        for j, axis in enumerate(Phi, model.v_slices[k].start):
            Q[j] = Q[j] + axis.dot(W)
    return Q
