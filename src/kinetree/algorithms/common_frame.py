"""A robot in one common frame: what coordinate-free algorithms are run in.

Source: Echeandia & Wensing, section 2.3, whose vectors have no coordinates: sums over bodies are
sums. The frame is that of each tree's first body, in which nothing depends on where a base is.

    paper           code        meaning
    Phi_i           Phi[i]      axes of joint i
    I_i, I_i^C      I, IC       inertia of body i; of the subtree at body i (20)

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinetree.algorithms.blocks import add_symmetric, rotor_matrix
from kinetree.algorithms.tree import ancestors, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Motion, Transform


@dataclass(frozen=True)
class InOneFrame:
    """Poses and axes of all bodies in the common frame."""

    model: Model
    X: list[Transform]
    Phi: list[list[Motion]]

    def from_the_tips(self) -> Iterator[tuple[int, Inertia, Inertia]]:
        """Each body with I_i and I_i^C, children before parents: made when they are needed."""
        carried: dict[int, Inertia] = {}
        for i, body in reversed(list(enumerate(self.model.bodies))):
            I = self.X[i].to_parent(body.inertia)
            IC = I + carried.pop(i) if i in carried else I  # (20)
            if body.parent >= 0:
                p = body.parent
                carried[p] = carried[p] + IC if p in carried else IC
            yield i, I, IC


def in_one_frame(model: Model, q: Sequence[Scalar]) -> InOneFrame:
    """A robot's parts in the common frame."""
    X: list[Transform] = []
    for body, X_p in zip(model.bodies, parent_transforms(model, q), strict=True):
        X.append(X[body.parent] @ X_p if body.parent >= 0 else Transform.identity())
    own = subspaces(model, q)
    Phi = [[X_i.to_parent(axis) for axis in axes] for X_i, axes in zip(X, own, strict=True)]
    return InOneFrame(model, X, Phi)


def crba_in_one_frame(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix, as `crba` has it, in one frame: no force is carried, only products remain.

    Cheaper than in the bodies' frames where chains are long and their axes slanted.
    """
    parts = in_one_frame(model, q)
    H = rotor_matrix(model)
    for j, _, IC in parts.from_the_tips():
        F = [IC @ axis for axis in parts.Phi[j]]  # (26)
        for i in ancestors(model, j):
            add_symmetric(model, H, (i, j), parts.Phi[i], F)  # (22)
    return H
