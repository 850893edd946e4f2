"""A loop closed by a joint: two frames move relative to each other as the joint allows."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree._lazy import cached_property
from kinetree.errors import ModelError
from kinetree.model.constraints.base import FrameConstraint
from kinetree.model.constraints.forbidden import Forbidden, forbidden
from kinetree.model.joints import Joint, Label
from kinetree.model.joints.inverse import transform_error
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Twist, Vector3

SIX = ("x", "y", "z", "rx", "ry", "rz")
AXES = tuple(Vector3(*(1.0 if i == k else 0.0 for i in range(3))) for k in range(3))


@dataclass(frozen=True)
class LoopJoint(FrameConstraint):
    """A joint between two frames, which closes a loop; it has a row for each forbidden motion.

    A hinge has five rows, a ball three, a slider five; None, a weld, has six. The joint has no
    coordinates in q: they follow from the poses of the two frames.

    Arguments:
        softness: as in `Constraint`.
        name, frame, base, at_frame, at_base: as in `FrameConstraint`.
        joint: one of `kinetree.joints`; None to weld the frames together.
    """

    joint: Joint | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.joint is None or isinstance(self.joint, Joint)):
            raise ModelError(
                f"{self.name}: joint={self.joint!r}: a joint of kinetree.joints is expected, such "
                "as Revolute('z'), or None for a weld"
            )
        if self.joint is not None and self.joint.nv >= 6:
            raise ModelError(f"{self.name}: joint={self.joint!r} forbids no motion")

    @cached_property
    def _forbidden(self) -> Forbidden | None:
        return None if self.joint is None else forbidden(self.joint)

    def row_labels(self) -> tuple[Label, ...]:
        rows = self._constant_rows()
        labels = []
        for k, row in enumerate(rows):
            at = max(range(6), key=lambda i: abs(row[i]))
            pure = abs(row[at]) == 1.0
            labels.append(Label(SIX[at] if pure else f"row{k + 1}", "m" if at < 3 else "rad"))
        more = (6 if self.joint is None else 6 - self.joint.nv) - len(rows)
        return (*labels, *(Label(f"row{len(rows) + k + 1}", "rad") for k in range(more)))

    def _constant_rows(self) -> tuple[tuple[float, ...], ...]:
        if self._forbidden is not None:
            return self._forbidden.constant
        return tuple(tuple(1.0 if i == k else 0.0 for i in range(6)) for k in range(6))

    def error(self, X: Transform) -> list[Scalar]:
        if self.joint is None:
            return list(transform_error(Transform.identity(), X))
        q = self.joint.coordinates_at(X)
        missing = transform_error(self.joint.transform(q), X)
        return [T.dot(missing) for T in self._forbidden.wrenches(q)]  # type: ignore[union-attr]

    def wrenches(self, X: Transform) -> list[Force]:
        if self._forbidden is None:
            zero = Vector3.zero()
            return [*(Force(u, zero) for u in AXES), *(Force(zero, u) for u in AXES)]
        q = self.joint.coordinates_at(X) if self._forbidden.varying else ()  # type: ignore[union-attr]
        return self._forbidden.wrenches(q)

    def wrench_rates(self, X: Transform, V: Twist) -> list[Force]:
        if self._forbidden is None or not self._forbidden.varying:
            return [Force.zero()] * self.row_count
        return super().wrench_rates(X, V)
