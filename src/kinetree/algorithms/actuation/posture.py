"""A robot in one configuration: the poses of its frames, and the moment arms of lines of action.

Source: Liu & Jain, A Quick Tutorial on Multibody Dynamics, eq. 57 for poses. By the principle of
virtual work, the gradient of a length equals the joint forces of a unit force along it.

    symbol    code       meaning
    W_k^0     X0[k]      pose of body k in the world
    Phi_k     axes(k)    axes of joint k, in the world's axes at the world's origin
    F         W          a wrench, also there

Cost: O(N) for the poses, O(d) for a wrench on a body at depth d.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.tree import ancestors, body_poses, parent_transforms
from kinetree.model import Model
from kinetree.model.place import Place
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Twist, Vector3

Row = list[Scalar]
"""A scalar for each velocity."""


class Posture:
    """The poses and axes of a robot at a configuration."""

    def __init__(self, model: Model, q: Sequence[Scalar]) -> None:
        self.model, self.q = model, q
        self.X0 = list(body_poses(model, parent_transforms(model, q)))
        self._axes: dict[int, list[Twist]] = {}

    def pose(self, name: str) -> Transform:
        """The pose of a named frame in the world."""
        frame = self.model.frame(name)
        return self.X0[frame.body] @ frame.placement if frame.body >= 0 else frame.placement

    def point(self, name: str) -> Vector3:
        """The origin of a named frame in the world."""
        frame = self.model.frame(name)
        place = frame.placement.translation
        return self.X0[frame.body].point(place) if frame.body >= 0 else place

    def seen(self, p: Vector3, X: Transform) -> Vector3:
        """A point of the world in the coordinates of a frame, with the scalar type of q.

        Even if both are fixed: a choice between fixed points may depend on q.
        """
        nothing = self.q[0] * 0
        return X.inverse().point(p) + Vector3(nothing, nothing, nothing)

    def placed(self, place: Place) -> Transform:
        """The pose of a place in the world."""
        return self.pose(place.frame) @ place.at

    def body(self, name: str) -> int:
        """The body that carries a named frame."""
        return self.model.frame(name).body

    def axes(self, i: int) -> list[Twist]:
        """The axes of joint i, in the world."""
        if i not in self._axes:
            at = self.model.q_slices[i]
            Phi = self.model.bodies[i].joint.subspace(self.q[at])
            self._axes[i] = [self.X0[i].to_parent(axis) for axis in Phi]
        return self._axes[i]

    def nothing(self) -> Row:
        """A row of zeros."""
        return [0] * self.model.nv

    def add(self, row: Row, body: int, W: Force, base: int = -1, back: Force | None = None) -> None:
        """Add the joint forces of a wrench W on a body, and of the opposite one on a base.

        W: in the world's axes, at its origin. Joints that carry both get nothing.
        back: -back acts on the base, if that is not -W.
        """
        both = set(ancestors(self.model, body)) & set(ancestors(self.model, base))
        for end, wrench in ((body, W), (base, -(W if back is None else back))):
            for i in ancestors(self.model, end):
                if i not in both:
                    for k, axis in enumerate(self.axes(i), self.model.v_slices[i].start):
                        row[k] = row[k] + axis.dot(wrench)

    def joint(self, i: int) -> tuple[Scalar, Row]:
        """The coordinate of a joint that has one, and its gradient; the joint may follow others."""
        model, joint = self.model, self.model.bodies[i].joint
        at, along = model.q_slices[i], model.v_slices[i]
        row = self.nothing()
        if joint.has_varying_ratio:
            for k, by in enumerate(joint.ratios(self.q[at]), along.start):
                row[k] = by[0]
            return joint.inner_coordinates(self.q[at])[0], row
        _, ratio, offset = joint.transmission
        row[along.start] = ratio
        own = self.q[at][0]
        return (own if (ratio, offset) == (1, 0) else own * ratio + offset), row

    def body_of_joint(self, name: str) -> int:
        """The body that a named joint moves."""
        return next(i for i, b in enumerate(self.model.bodies) if b.joint_name == name)


def line(point: Vector3, direction: Vector3) -> Force:
    """The wrench of a force through a point, at the world's origin."""
    return Force(direction, point.cross(direction))
