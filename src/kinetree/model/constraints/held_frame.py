"""A frame held in place: a foot that stands, a hand on a handle."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinetree.errors import ModelError, among, unknown
from kinetree.kinds import flag, texts
from kinetree.model.constraints.base import FrameConstraint
from kinetree.model.constraints.loop_joint import AXES, SIX
from kinetree.model.joints import Label
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Transform, Vector3
from kinetree.spatial.angles import rotation_vector

ROTATIONS = SIX[3:]


@dataclass(frozen=True)
class HeldFrame(FrameConstraint):
    """Some of the six motions of a frame relative to another (or to the world) are held.

    Rows x, y, z hold the origin of the frame, along the axes of its base; rx, ry, rz hold its
    rotation about them. With one rotation left free, its axis keeps its direction; with two left
    free, the next axis stays normal to the one after it, as in a universal joint.

    Arguments:
        softness: as in `Constraint`.
        name, frame, base, at_frame, at_base: as in `FrameConstraint`; at_base is the pose at which
            the frame is held.
        rows: which of "x", "y", "z", "rx", "ry", "rz" are held.
        anywhere: hold only the velocity of the frame, wherever it is; errors are zero.
    """

    rows: tuple[str, ...] = field(default=SIX, kw_only=True)
    anywhere: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take("anywhere", flag(f"{self.name}: anywhere", self.anywhere))
        self._take("rows", texts(f"{self.name}: rows", self.rows))
        for row in self.rows:
            if not among(row, SIX):
                raise unknown("row", row, SIX, self.name)
        if not self.rows or len(set(self.rows)) < len(self.rows):
            raise ModelError(
                f"{self.name}: rows={list(self.rows)}: at least one row is expected, each once"
            )

    def row_labels(self) -> tuple[Label, ...]:
        return tuple(Label(row, "rad" if row.startswith("r") else "m") for row in self.rows)

    @property
    def holonomic(self) -> bool:
        return not self.anywhere

    def error(self, X: Transform) -> list[Scalar]:
        if self.anywhere:
            return [0] * len(self.rows)
        six = [*X.translation, *(rotation_vector(X.rotation) if self._turns == 3 else [0] * 3)]
        return [
            self._tilt(X, row)[0] if row in ROTATIONS and self._turns < 3 else six[SIX.index(row)]
            for row in self.rows
        ]

    def wrenches(self, X: Transform) -> list[Force]:
        back, zero = X.rotation.T, Vector3.zero()
        along = [back @ u for u in AXES]
        six = [*(Force(u, zero) for u in along), *(Force(zero, u) for u in along)]
        partly = self._turns < 3 and not self.anywhere
        return [
            Force(zero, self._tilt(X, row)[1])
            if row in ROTATIONS and partly
            else six[SIX.index(row)]
            for row in self.rows
        ]

    @property
    def turned_triples(self) -> tuple[int, ...]:
        whole = (SIX[:3], ROTATIONS)
        return tuple(k for k in range(len(self.rows)) if self.rows[k : k + 3] in whole)

    @property
    def _turns(self) -> int:
        """The number of rotations that are held."""
        return sum(row in ROTATIONS for row in self.rows)

    def _tilt(self, X: Transform, row: str) -> tuple[Scalar, Vector3]:
        """o . R f with h x f = o, for a held axis h and a free axis f; and its rate's wrench."""
        h = ROTATIONS.index(row)
        f, o = (h + 1) % 3, (h + 2) % 3
        sign = 1
        if ROTATIONS[f] in self.rows:
            f, o, sign = o, f, -1
        seen = X.rotation.T @ AXES[o]
        return seen.dot(AXES[f]) * sign, AXES[f].cross(seen) * sign
