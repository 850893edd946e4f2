"""Every touch of a robot at a configuration: those of each of its contact pairs.

Source: Todorov, Erez & Tassa (2012), as in `touches`.

Cost: the poses of all bodies, and that of each pair of shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby

from kinetree.algorithms.contact.touch import Touch
from kinetree.algorithms.contact.touches import slot_count, touches
from kinetree.algorithms.kinematics import poses
from kinetree.model import Model
from kinetree.model.geometry import Collider
from kinetree.model.joints.answers import Label
from kinetree.model.model import WORLD
from kinetree.scalar import Scalar
from kinetree.spatial import Transform, Vector3


def collider_poses(model: Model, X0: Sequence[Transform]) -> dict[str, Transform]:
    """The pose of each collider in the world, by its name.

    Arguments:
        model: the robot.
        X0: the poses of its bodies in the world.
    """

    def pose(c: Collider) -> Transform:
        if c.frame is None:
            return c.at
        frame = model.frame(c.frame)
        at = frame.placement @ c.at
        return at if frame.body == WORLD else X0[frame.body] @ at

    return {c.name: pose(c) for c in model.colliders}


def robot_touches(model: Model, X0: Sequence[Transform], apart: bool = False) -> list[list[Touch]]:
    """The touches of each contact pair, in the order of `model.contacts`.

    Arguments:
        model: the robot.
        X0: the poses of its bodies in the world.
        apart: whether distances are exact beyond the margin, too.
    """
    shape = {c.name: c.shape for c in model.colliders}
    X = collider_poses(model, X0)
    return [
        touches(shape[c.first], X[c.first], shape[c.second], X[c.second], c.margin, apart)
        for c in model.contacts
    ]


def distances(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The distance of every touch."""
    return [t.distance for t in _all_touches(model, q)]


def distances_points_normals(
    model: Model, q: Sequence[Scalar]
) -> tuple[list[Scalar], list[Vector3], list[Vector3]]:
    """The distance, the point and the normal of every touch."""
    found = _all_touches(model, q)
    return [t.distance for t in found], [t.point for t in found], [t.normal for t in found]


def _all_touches(model: Model, q: Sequence[Scalar]) -> list[Touch]:
    return list(chain.from_iterable(robot_touches(model, poses(model, q), apart=True)))


def touch_labels(model: Model) -> tuple[Label, ...]:
    """The name of every touch: that of its pair, with a number if the pair has several.

    Arguments:
        model: the robot.
    """
    found: list[Label] = []
    for name, group in groupby(touch_pairs(model)):
        count = len(list(group))
        ends = [""] if count == 1 else [f".{k}" for k in range(1, count + 1)]
        found += [Label(name + end, "m") for end in ends]
    return tuple(found)


def touch_pairs(model: Model) -> tuple[str, ...]:
    """The name of the pair of every touch.

    Arguments:
        model: the robot.
    """
    shape = {c.name: c.shape for c in model.colliders}
    counts = ((pair.name, slot_count(shape[pair.first], shape[pair.second]))
              for pair in model.contacts)  # fmt: skip
    return tuple(name for name, count in counts for _ in range(count))
