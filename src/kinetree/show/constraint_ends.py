"""Where constraints act on the bodies of a robot, for whoever draws them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.model import Model
from kinetree.model.constraints import Constraint, FrameConstraint
from kinetree.model.model import WORLD
from kinetree.spatial import Transform
from kinetree.typing import Array


class End(NamedTuple):
    """A point of a body.

    body: its number, or WORLD.
    point: in the body's frame, (3,), m.
    """

    body: int
    point: Array

    @classmethod
    def on(cls, body: int, X: Transform) -> End:
        """The origin of a frame that is fixed in a body.

        Arguments:
            body: its number, or WORLD.
            X: the pose of the frame in the body.
        """
        return cls(body, np.array([float(x) for x in X.translation]))

    def at(self, poses: Array) -> Array:
        """Where it is in the world, (3,), m.

        Arguments:
            poses: of all bodies, (bodies, 4, 4).
        """
        if self.body == WORLD:
            return self.point
        pose = poses[self.body]
        return np.asarray(pose[:3, :3] @ self.point + pose[:3, 3])


def constraint_ends(model: Model) -> list[tuple[End, ...]]:
    """Where each constraint between frames acts: on its frame, and on its base.

    Arguments:
        model: of the robot.

    Returns:
        Two ends for each; only the first if the constraint does not hold it at a place of the base,
        as for a wheel.
    """
    return [_ends(model, c) for c in model.constraints if isinstance(c, FrameConstraint)]


def _ends(model: Model, c: FrameConstraint) -> tuple[End, ...]:
    frame = model.frame(c.frame)
    first = End.on(frame.body, frame.placement @ c.at_frame)
    if not c.holonomic:
        return (first,)
    if c.base is None:
        return first, End.on(WORLD, c.at_base)
    base = model.frame(c.base)
    return first, End.on(base.body, base.placement @ c.at_base)


def constrained_bodies(model: Model, c: Constraint) -> list[int]:
    """The numbers of the bodies that a constraint is between; WORLD if it holds one in the world.

    Arguments:
        model: of the robot.
        c: one of its constraints.
    """
    numbers = [model.frame(name).body for name in c.frames]
    numbers += [i for i, body in enumerate(model.bodies) if body.joint_name in c.joints]
    return numbers if len(numbers) > 1 else [*numbers, WORLD]
