"""Torques on links and in joints, from each other.

Source: Liu & Jain, section 6.2, eq. 68.

    paper       code        meaning
    tau'_k      torque      torque on link k, in the world's axes
    tau^_k      hat         torque of joint k in the parent's axes: on link k, its opposite on p(k)
    R_k^0       X0          orientation of link k
    D           -           tells each link from its parent (64): tau' = D^T R tau^

differs: next to tau^_k a joint may have a force f^_k, acting at the link's origin.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.kinematics import poses
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Twist, Vector3


def body_wrenches(
    model: Model, q: Sequence[Scalar], hat: Sequence[Twist], points: Sequence[Vector3]
) -> tuple[list[Vector3], list[Vector3]]:
    """What joint forces and torques do to each link: D^T R tau^ (68), forces at points of links.

    A joint's force acts on link k at its origin, and its opposite on the parent at the same place.
    """
    X0 = poses(model, q)
    f = [Vector3.zero() for _ in model.bodies]
    torque = [Vector3.zero() for _ in model.bodies]
    for k, body in enumerate(model.bodies):
        R = X0[body.parent].rotation if body.parent >= 0 else Transform.identity().rotation
        pull, turn = R @ hat[k].linear, R @ hat[k].angular
        for link, sign in ((k, 1), (body.parent, -1)):
            if link >= 0:
                arm = X0[k].translation - X0[link].point(points[link])
                f[link] = f[link] + pull * sign
                torque[link] = torque[link] + (turn + arm.cross(pull)) * sign
    return f, torque


def joint_torques_of_body_torques(
    model: Model, q: Sequence[Scalar], torque: Sequence[Vector3]
) -> list[Vector3]:
    """tau^ = (D^T R)^-1 tau': each joint passes on the torques of all links behind it (68)."""
    X0, total, hat = poses(model, q), list(torque), list(torque)
    for k, body in reversed(list(enumerate(model.bodies))):
        if body.parent >= 0:
            total[body.parent] = total[body.parent] + total[k]
            hat[k] = X0[body.parent].rotation.T @ total[k]
        else:
            hat[k] = total[k]
    return hat
