"""A joint whose motions are another's, counted by another coordinate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinetree.model.joints.base import Joint
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Transform


@dataclass(frozen=True)
class Recounted(Joint):
    """A joint of one coordinate, which is a function of q."""

    joint: Joint

    @abstractmethod
    def inner(self, q: Sequence[Scalar]) -> list[Scalar]:
        """The coordinate of the joint itself.

        Arguments:
            q: the coordinate by which it is counted.

        Returns:
            One scalar.
        """

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.joint.transform(self.inner(q))

    @property
    def has_constant_axes(self) -> bool:
        return self.joint.has_constant_axes

    def lumped(self, inertia: Inertia) -> Inertia:
        return self.joint.lumped(inertia)

    def recentered(self) -> tuple[Transform, Joint]:
        X, joint = self.joint.recentered()
        return X, replace(self, joint=joint)

    def aligned(self) -> tuple[Transform, Joint]:
        X, joint = self.joint.aligned()
        return X, replace(self, joint=joint)

    @property
    def rotates_about_z(self) -> bool:
        return self.joint.rotates_about_z
