"""A shape fixed in a frame of a robot, or in the world."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kinetree.errors import ModelError
from kinetree.model.arguments import PoseLike, given_transform
from kinetree.model.geometry.shapes import Solid
from kinetree.spatial import Vector3


@dataclass(frozen=True)
class Collider:
    """A shape that can touch others.

    Arguments:
        name: of the collider; unique in a robot.
        frame: the name of the frame in which it is fixed; None for the world.
        shape: of `kinetree.geometry`.
        at: its pose in the frame: a Transform, a 4x4 matrix, or a point.
        mass_center: the point of the frame whose inertia scales the softness of contacts; None for
            the centre of mass of the whole body.
    """

    name: str
    frame: str | None
    shape: Solid
    at: PoseLike = (0.0, 0.0, 0.0)
    mass_center: Vector3 | None = None

    def __post_init__(self) -> None:
        given: Any = self.name
        if not isinstance(given, str) or not given.strip():
            raise ModelError(f"the name of a collider is {self.name!r}: some text is expected")
        shape: Any = self.shape
        if not isinstance(shape, Solid):
            raise ModelError(
                f"collider {self.name!r}: shape={shape!r}: one of kinetree.geometry is expected, "
                "such as Sphere(0.1)"
            )
        frame: Any = self.frame
        if not (frame is None or isinstance(frame, str)):
            raise ModelError(
                f"collider {self.name!r}: frame={frame!r}: the name of a frame is expected, or "
                "None for the world"
            )
        object.__setattr__(self, "at", given_transform(self.at, f"collider {self.name!r}: at"))

    def renamed(self, prefix: str) -> Collider:
        """The same collider of a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A collider.
        """
        frame = None if self.frame is None else prefix + self.frame
        return replace(self, name=prefix + self.name, frame=frame)
