"""Jacobians: the motion of a frame for each unit velocity.

Source: Liu & Jain, eq. 50, 51, 57 and 58; the axes are those of `kinematics`.

    paper          code         meaning
    p(1, k)        ancestors    the bodies from the root to body k
    W_p(l)^0       X0, after    transforms along the chain
    J_k            columns      one motion for each velocity, zero off the chain

Rates of Jacobians: `rate.rate` of these functions.

Cost: O(d) for a frame at depth d, O(N d) for all bodies.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.kinematics import poses
from kinetree.algorithms.tree import ancestors, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Twist


def jacobian(model: Model, q: Sequence[Scalar], name: str, axes: str) -> list[list[Scalar]]:
    """The Jacobian of a frame: six rows, linear first."""
    frame = model.frame(name)
    return matrix(model, body_columns(model, q, frame.body, frame.placement, axes))


def jacobians(model: Model, q: Sequence[Scalar], axes: str) -> list[list[list[Scalar]]]:
    """The Jacobians of all bodies."""
    here = Transform.identity()
    return [matrix(model, body_columns(model, q, i, here, axes)) for i in range(len(model.bodies))]


def matrix(model: Model, columns: Sequence[Twist]) -> list[list[Scalar]]:
    """The rows of the matrix with these columns."""
    return [list(row) for row in zip(*columns, strict=True)]


def body_columns(
    model: Model, q: Sequence[Scalar], k: int, place: Transform, axes: str
) -> list[Twist]:
    """The columns of J_k, for a frame fixed in body k (58)."""
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    columns = [Twist.zero()] * model.nv
    if k < 0:
        return columns
    X0 = poses(model, q)
    point = X0[k].point(place.translation)
    after = place  # from body l to the frame
    for l in ancestors(model, k):
        for j, axis in enumerate(Phi[l], model.v_slices[l].start):
            if axes == "body":
                column = after.to_child(axis)
            elif axes == "world":
                column = X0[l].to_parent(axis)
            else:  # R_p(l)^0 J^_l (51), at the frame's origin
                column = Transform(X0[l].rotation, X0[l].translation - point).to_parent(axis)
            columns[j] = columns[j] + column  # joints that share a coordinate add up
        after = X[l] @ after
    return columns
