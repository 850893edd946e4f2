"""A robot in one common frame: what coordinate-free algorithms are run in.

Source: Echeandia & Wensing, section 2.3, whose vectors have no coordinates: sums over bodies are
sums. The frame is that of each tree's first body, in which nothing depends on where a base is.

    paper           code        meaning
    Phi_i           Phi[i]      axes of joint i
    I_i, I_i^C      I, IC       inertia of body i; of the subtree at body i (20)

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.tree import parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Motion, Transform


@dataclass(frozen=True)
class InOneFrame:
    """Poses, axes and inertias of all bodies in the common frame."""

    X: list[Transform]
    Phi: list[list[Motion]]
    I: list[Inertia]
    IC: list[Inertia]


def in_one_frame(model: Model, q: Sequence[Scalar]) -> InOneFrame:
    """A robot's parts in the common frame."""
    X: list[Transform] = []
    for body, X_p in zip(model.bodies, parent_transforms(model, q), strict=True):
        X.append(X[body.parent] @ X_p if body.parent >= 0 else Transform.identity())
    own = subspaces(model, q)
    Phi = [[X_i.to_parent(axis) for axis in axes] for X_i, axes in zip(X, own, strict=True)]
    I = [X_i.to_parent(b.inertia) for X_i, b in zip(X, model.bodies, strict=True)]
    IC = list(I)
    for j, body in reversed(list(enumerate(model.bodies))):
        if body.parent >= 0:
            IC[body.parent] = IC[body.parent] + IC[j]  # (20)
    return InOneFrame(X, Phi, I, IC)
