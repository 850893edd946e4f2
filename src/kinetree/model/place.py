"""A place on a robot, by the name of a frame, and the bookkeeping of names that parts refer to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinetree.model.checked import Checked
from kinetree.spatial import Transform

HERE = Transform.identity()


@dataclass(frozen=True)
class Place(Checked):
    """A pose fixed in a named frame.

    Arguments:
        frame: the name of the frame.
        at: the pose there.
    """

    frame: str
    at: Transform = HERE

    def renamed(self, prefix: str) -> Place:
        """The same place on a robot all of whose names have a prefix.

        Arguments:
            prefix: put before each name.

        Returns:
            A place.
        """
        return replace(self, frame=prefix + self.frame)


@dataclass(frozen=True)
class References:
    """The names that a part of a robot refers to.

    Arguments:
        frames, joints, tendons, actuators: names of these.
    """

    frames: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    tendons: tuple[str, ...] = ()
    actuators: tuple[str, ...] = ()
