"""Forward kinematics: the poses of bodies and frames in the world.

Source: Liu & Jain, A Quick Tutorial on Multibody Dynamics, section 5.1 and eq. 57.

    paper     code        meaning
    W_k       X[k]        pose of link k in its parent p(k)
    W_k^0     X0[k]       pose of link k in the world, W_p(k)^0 W_k

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.tree import parent_transforms
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Transform


def body_poses(model: Model, q: Sequence[Scalar]) -> list[Transform]:
    """The pose of every body in the world."""
    X0: list[Transform] = []
    for body, X in zip(model.bodies, parent_transforms(model, q), strict=True):
        # W_k^0 = W_p(k)^0 W_k (57)
        X0.append(X if body.parent < 0 else X0[body.parent] @ X)
    return X0


def frame_pose(model: Model, q: Sequence[Scalar], name: str) -> Transform:
    """The pose of a named frame in the world."""
    frame = model.frame(name)
    if frame.body < 0:
        return frame.placement
    return body_poses(model, q)[frame.body] @ frame.placement
