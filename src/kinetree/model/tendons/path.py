"""The path of a spatial tendon: points that it runs through, bodies that it wraps, pulleys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinetree.errors import ModelError, among, unknown
from kinetree.model.checked import Checked
from kinetree.model.place import Place

KINDS = ("sphere", "cylinder")
"""The kinds of bodies that a tendon can wrap around."""


@dataclass(frozen=True)
class Via(Checked):
    """A point that a tendon runs through: the origin of a frame.

    Arguments:
        frame: its name.
    """

    frame: str

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of the frames it refers to."""
        return (self.frame,)

    def renamed(self, prefix: str) -> Via:
        """The same point of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A point.
        """
        return replace(self, frame=prefix + self.frame)


@dataclass(frozen=True)
class Wrap(Checked):
    """A sphere or a cylinder that a tendon wraps around, between two points of its path.

    Arguments:
        kind: "sphere" or "cylinder", whose axis is z.
        radius: m.
        place: its centre and axes.
        side: the name of the frame on whose side the tendon runs; None for the shorter path. If
            that frame is inside, the tendon runs through, and touches the wall from within.
    """

    kind: str
    radius: float
    place: Place
    side: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not among(self.kind, KINDS):
            raise unknown("kind", self.kind, KINDS, "Wrap")

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of the frames it refers to."""
        return (self.place.frame,) if self.side is None else (self.place.frame, self.side)

    def renamed(self, prefix: str) -> Wrap:
        """The same body of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A body.
        """
        side = None if self.side is None else prefix + self.side
        return replace(self, place=self.place.renamed(prefix), side=side)


@dataclass(frozen=True)
class Pulley(Checked):
    """A branching point of a tendon: the path after it counts 1 / divisor of its length.

    Arguments:
        divisor: a positive number.
    """

    divisor: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.divisor <= 0.0:
            raise ModelError(f"Pulley: divisor must be above zero, got {self.divisor!r}")

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of the frames it refers to: none."""
        return ()

    def renamed(self, prefix: str) -> Pulley:
        """The same pulley.

        Arguments:
            prefix: has no effect.

        Returns:
            A pulley.
        """
        return self
