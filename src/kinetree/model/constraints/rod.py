"""A rod without mass: two points at a constant distance."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinetree.errors import ModelError
from kinetree.model.arguments import given_number
from kinetree.model.constraints.base import FrameConstraint
from kinetree.model.joints import Label
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Vector3


@dataclass(frozen=True)
class Rod(FrameConstraint):
    """Two points at a constant distance: (p . p - l^2) / 2 l = 0, one row.

    Arguments:
        softness: as in `Constraint`.
        name, frame, base, at_frame, at_base: as in `FrameConstraint`; the rod ends at the
            origins of the two frames.
        length: l, m.
    """

    length: float = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take("length", given_number(f"{self.name}: length", self.length))
        if self.length <= 0.0:
            raise ModelError(
                f"{self.name}: length={self.length!r}: more than zero is expected; a LoopJoint "
                "with a Ball holds two points together"
            )

    def row_labels(self) -> tuple[Label, ...]:
        return (Label("length", "m"),)

    def error(self, X: Transform) -> list[Scalar]:
        p = X.translation
        return [(p.dot(p) - self.length * self.length) * (0.5 / self.length)]

    def wrenches(self, X: Transform) -> list[Force]:
        along = (X.rotation.T @ X.translation) * (1.0 / self.length)
        return [Force(along, Vector3.zero())]
