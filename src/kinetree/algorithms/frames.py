"""The frames in which algorithms express vectors: one for each body, or one for all.

Source: Echeandia & Wensing, section 2.3, whose vectors have no coordinates. In one common frame
vectors of different bodies can be added as they are. In the bodies' frames they must be transformed
first, but axes and inertias have fewer numbers. The common frame is that of each tree's first body,
so nothing depends on the pose of a floating base.

    paper           code        meaning
    Phi_i           Phi[i]      axes of joint i
    I_i, I_i^C      I, IC       inertia of body i; of the subtree at body i (20)
    v_i, a_i        v[i] a[i]   velocity of body i; acceleration, less gravity (15, 16)

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from kinetree.algorithms.tree import along, ancestors, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import (
    AngularOperator,
    Force,
    Inertia,
    Transform,
    Twist,
    Vector3,
    velocity_factor,
)
from kinetree.spatial.transform import Movable, Returnable

T = TypeVar("T", bound=Movable)
U = TypeVar("U", bound=Returnable)


@dataclass(frozen=True)
class Frames:
    """The axes of a robot's joints, each in the frame of its body, or all in one common frame.

    X: the pose of each body in the common frame.
    X_p: the pose of each body in its parent.
    common: whether there is a common frame.
    """

    model: Model
    Phi: list[list[Twist]]
    X: list[Transform]
    X_p: list[Transform]
    common: bool

    def placed(self, i: int, value: T) -> T:
        """What is fixed in body i, in the frame that is used for body i here."""
        return self.X[i].to_parent(value) if self.common else value

    def to_parent(self, i: int, value: T) -> T:
        """From the frame that is used for body i to the one for its parent."""
        return value if self.common else self.X_p[i].to_parent(value)

    def to_child(self, i: int, value: U) -> U:
        """From the frame that is used for the parent of body i to the one for body i."""
        return value if self.common else self.X_p[i].to_child(value)

    def towards_the_base(self, i: int, *values: T) -> Iterator[tuple[list[int], tuple[T, ...]]]:
        """What is found at body i, as all that carry it see it: bodies, and the values for them.

        In one frame that is the same for all of them; in their own, for each another.
        """
        if self.common:
            yield list(ancestors(self.model, i))[1:], values
            return
        for body in list(ancestors(self.model, i))[1:]:
            values = tuple(self.to_parent(i, value) for value in values)
            yield [body], values
            i = body

    def from_the_tips(self) -> Iterator[tuple[int, Inertia, Inertia]]:
        """Each body with I_i and I_i^C, children before parents, computed on demand."""
        carried: dict[int, Inertia] = {}
        for i, body in reversed(list(enumerate(self.model.bodies))):
            I = self.placed(i, body.inertia)
            IC = I + carried.pop(i) if i in carried else I  # (20)
            if body.parent >= 0:
                p, in_parent = body.parent, self.to_parent(i, IC)
                carried[p] = carried[p] + in_parent if p in carried else in_parent
            yield i, I, IC

    def parent_motion(self, i: int, v: Sequence[Twist], a: Sequence[Twist]) -> tuple[Twist, Twist]:
        """Velocity and acceleration of body i's parent; the world accelerates against gravity."""
        p = self.model.bodies[i].parent
        if p >= 0:
            return self.to_child(i, v[p]), self.to_child(i, a[p])
        felt = -(self.X_p[i].rotation.T @ self.model.gravity)
        return Twist.zero(), Twist(felt, Vector3.zero())

    def motions(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
    ) -> tuple[list[Twist], list[Twist]]:
        """v_i and a_i (15, 16)."""
        v: list[Twist] = []
        a: list[Twist] = []
        for i, body in enumerate(self.model.bodies):
            at = self.model.v_slices[i]
            v_p, a_p = self.parent_motion(i, v, a)
            v_J = along(self.Phi[i], qd[at])
            axis_change = along(body.joint.subspace_rate(q[self.model.q_slices[i]], qd[at]), qd[at])
            v.append(v_p + v_J)
            bias = v_p.cross(v_J) + self.placed(i, axis_change)
            a.append(a_p + along(self.Phi[i], qdd[at]) + bias)
        return v, a


def in_one_frame(model: Model, q: Sequence[Scalar]) -> Frames:
    """Everything in one common frame."""
    X: list[Transform] = []
    X_p = parent_transforms(model, q)
    for i, body in enumerate(model.bodies):
        X.append(X[body.parent] @ X_p[i] if body.parent >= 0 else Transform.identity())
    in_bodies = subspaces(model, q)
    Phi = [[X_i.to_parent(axis) for axis in axes] for X_i, axes in zip(X, in_bodies, strict=True)]
    return Frames(model, Phi, X, X_p, common=True)


def in_own_frames(model: Model, q: Sequence[Scalar]) -> Frames:
    """Everything in the frames of the bodies."""
    Phi = [list(axes) for axes in subspaces(model, q)]
    return Frames(model, Phi, [], parent_transforms(model, q), common=False)


def framed(
    algorithm: Callable[..., Any], place: Callable[[Model, Sequence[Scalar]], Frames]
) -> Callable[..., Any]:
    """The function of a model and q that runs an algorithm on `Frames` made by `place`."""

    def run(model: Model, q: Sequence[Scalar], *arguments: Any) -> Any:
        return algorithm(place(model, q), q, *arguments)

    run.__name__ = f"{algorithm.__name__}_{place.__name__}"
    return run


def moving_force(I: Inertia, v: Twist, a: Twist) -> tuple[Force, AngularOperator]:
    """I a + v x* I v (7), and its derivative by v, 2 B(v, I) (12)."""
    B = velocity_factor(v * 2, I)
    return I @ a + (B @ v) * 0.5, B
