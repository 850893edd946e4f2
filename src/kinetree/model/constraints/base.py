"""The interface of a constraint.

A constraint forbids some motions of a robot, a row for each: J v = 0. It is frozen data of the
model with a name, and refers to frames and joints by their names. There are two families:
constraints on how one frame moves relative to another (`FrameConstraint`), and constraints on
coordinates (`coupling.Coupling`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kinetree.errors import ModelError
from kinetree.model.arguments import given_transform
from kinetree.model.checked import taken
from kinetree.model.joints import Label
from kinetree.model.softness import Softness
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Force, Rotation, Transform, Twist, Vector3


@dataclass(frozen=True)
class Constraint(ABC):
    """A constraint on the motion of a robot.

    Arguments:
        name: of the constraint; unique in a robot.
        softness: in a simulation with soft constraints.
    """

    name: str
    softness: Softness = field(default=Softness(), kw_only=True)

    def __post_init__(self) -> None:
        given: Any = self.name
        if not isinstance(given, str) or not given.strip():
            raise ModelError(f"the name of a constraint is {self.name!r}: some text is expected")
        taken(f"{self.name}: softness", self.softness, Softness)

    @property
    def row_count(self) -> int:
        """The number of motions that it forbids."""
        return len(self.row_labels())

    @abstractmethod
    def row_labels(self) -> tuple[Label, ...]:
        """The name of each row and the unit of its error.

        Returns:
            A label for each row.
        """

    @property
    def holonomic(self) -> bool:
        """Whether every row constrains positions; if not, some constrain only velocities."""
        return True

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of the frames it refers to."""
        return ()

    @property
    def joints(self) -> tuple[str, ...]:
        """The names of the joints it refers to."""
        return ()

    @abstractmethod
    def renamed(self, prefix: str) -> Constraint:
        """The same constraint of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A constraint.
        """


@dataclass(frozen=True)
class FrameConstraint(Constraint):
    """A constraint on how a frame moves relative to another, its base.

    X is the pose of the frame in its base. All methods that take a pose run on any scalar.

    Arguments:
        name: of the constraint; unique in a robot.
        frame: the name of the frame that is constrained.
        base: the name of the frame relative to which it is; None for the world.
        at_frame, at_base: where on the two frames it acts: a Transform, a 4x4 matrix, or a point.
        softness: as in `Constraint`.
    """

    frame: str
    base: str | None = None
    at_frame: Transform = field(default=Transform.identity(), kw_only=True)
    at_base: Transform = field(default=Transform.identity(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("at_frame", "at_base"):
            self._take(name, given_transform(getattr(self, name), f"{self.name}: {name}"))

    def _take(self, name: str, value: Any) -> None:
        """Set a field to the normalised form of the given value."""
        object.__setattr__(self, name, value)

    @property
    def frames(self) -> tuple[str, ...]:
        return tuple(x for x in (self.frame, self.base) if x is not None)

    def renamed(self, prefix: str) -> Constraint:
        base = None if self.base is None else prefix + self.base
        return replace(self, name=prefix + self.name, frame=prefix + self.frame, base=base)

    @abstractmethod
    def error(self, X: Transform) -> list[Scalar]:
        """The error of the pose in each row; zero for rows that only forbid velocities.

        Arguments:
            X: the pose of the frame in its base.

        Returns:
            A scalar for each row, m or rad.
        """

    @abstractmethod
    def wrenches(self, X: Transform) -> list[Force]:
        """T: the wrench on the frame that belongs to each row.

        A velocity V relative to the base, given in the frame, is allowed if T V = 0 for every row.

        Arguments:
            X: the pose of the frame in its base.

        Returns:
            A wrench for each row, in the frame.
        """

    def wrench_rates(self, X: Transform, V: Twist) -> list[Force]:
        """The rates of `wrenches`, as the frame moves relative to its base.

        Arguments:
            X: the pose of the frame in its base.
            V: its velocity relative to the base, in the frame.

        Returns:
            A wrench for each row, in the frame.
        """
        return [wrench_rate(T) for T in self.wrenches(moving(X, V))]

    @property
    def turned_triples(self) -> tuple[int, ...]:
        """The triples of rows that act along, or about, the three axes of the base.

        Their wrenches are those along the axes of the frame itself, turned by X.

        Returns:
            The index of the first row of each triple.
        """
        return ()


def moving(X: Transform, V: Twist) -> Transform:
    """A pose over dual numbers that moves with the velocity V, given in its own frame."""
    R, p = X.rotation, X.translation
    rows = [
        Vector3(*map(Dual, row, rate))
        for row, rate in zip(R.rows, (row.cross(V.angular) for row in R.rows), strict=True)
    ]
    return Transform(Rotation(*rows), Vector3(*map(Dual, p, R @ V.linear)))


def wrench_rate(T: Force) -> Force:
    """The rates of a wrench over dual numbers."""
    parts: list[Sequence[Scalar]] = [[lift(x).rate for x in part] for part in (T.linear, T.angular)]
    return Force(*(Vector3(*part) for part in parts))
