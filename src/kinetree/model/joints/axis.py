"""Joints with one coordinate on one axis: what revolute, prismatic and screw joints share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kinetree.model.arguments import Axis, given_axis
from kinetree.model.joints.base import ConstantAxes, Joint
from kinetree.model.plane import plane_axes
from kinetree.model.rounding import is_identity, snapped_direction
from kinetree.spatial import Matrix3, Rotation, Transform, Vector3

Z = Vector3(0.0, 0.0, 1.0)


@dataclass(frozen=True, init=False)
class AxisJoint(ConstantAxes):
    """A joint that moves along or about a unit axis through the joint frame's origin.

    Arguments:
        axis: "x", "y" or "z" (or "-x", ...), three numbers, or a Vector3; its direction counts.
    """

    axis: Vector3
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def __init__(self, axis: Axis) -> None:
        object.__setattr__(self, "axis", given_axis(axis))

    def snapped(self) -> Joint:
        return replace(self, axis=snapped_direction(self.axis))

    def aligned(self) -> tuple[Transform, Joint]:
        if sum(map(bool, self.axis)) == 1:
            return Transform.identity(), self
        x, y = plane_axes(self.axis)
        turn = Rotation(*Matrix3(x, y, self.axis).T.rows)
        return Transform(turn, Vector3(0.0, 0.0, 0.0)), replace(self, axis=Z)

    def _relocated(self, at: Transform) -> Joint:
        turned = replace(self, axis=at.rotation @ self.axis)
        shift = Transform(Rotation.identity(), at.translation)
        return turned if is_identity(shift) else ConstantAxes._relocated(turned, shift)

    def reversed(self) -> Joint:
        return replace(self, axis=-self.axis)
