"""Keys of `external=`: what acts on a robot, and in which axes its numbers are given.

A plain frame's name stands for a wrench (force, moment) at its origin and in its own axes. The
tutorial's two torques have names of their own: tau of Liu & Jain eq. 48 is the second half of a
`CenterWrench`, tau' of eq. 67 is a `BodyTorque`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from kinetree.errors import KinetreeError, among, unknown
from kinetree.model import Model
from kinetree.spatial import Force, Vector3

# what algorithms take


@dataclass(frozen=True)
class PointForce:
    """A force on a point of a body: Liu & Jain eq. 67.

    force: in the world's axes.
    point: where it acts, in the frame it is given for.
    """

    force: Vector3
    point: Vector3


@dataclass(frozen=True)
class WorldWrench:
    """A wrench in the world's axes, its moment about the origin of its frame or of the world.

    about: "origin", "world" or "center", the centre of mass of the frame's body.
    """

    wrench: Force
    about: str


@dataclass(frozen=True)
class JointWrench:
    """What a joint does to its link, in the parent's axes; the parent gets the opposite."""

    wrench: Force


# what users name


@dataclass(frozen=True)
class Point:
    """A key of `external`: a force on a point of a body instead of a wrench on a frame.

    Its value is (..., 6): the force in the world's axes, then the point in the frame's coordinates.

    Arguments:
        frame: the name of the frame in which the point is given.
    """

    frame: str
    size: ClassVar[int] = 6
    meaning: ClassVar[str] = (
        "force in the world's axes in N, then its point in the frame's coordinates in m"
    )

    def _load(self, numbers: Sequence[Any]) -> tuple[str, PointForce]:
        return self.frame, PointForce(*_halves(numbers))


@dataclass(frozen=True)
class Wrench:
    """A key of `Robot.generalized_forces`: a wrench on a frame in axes of your choice.

    Its value is (..., 6): the force, then the moment.

    Arguments:
        frame: the name of the frame.
        axes: "body" (the frame's own axes, at its origin), "origin" (the world's axes, at the
            frame's origin) or "world" (the world's axes, at the world's origin).
    """

    frame: str
    axes: Literal["body", "origin", "world"] = "body"
    size: ClassVar[int] = 6

    @property
    def meaning(self) -> str:
        """What its numbers mean."""
        axes = {
            "body": "in the frame's axes",
            "origin": "in the world's axes",
            "world": "in the world's axes, about the world's origin",
        }
        return f"wrench on a frame (force in N, then moment in N m, {axes[self.axes]})"

    def _load(self, numbers: Sequence[Any]) -> tuple[str, Force | WorldWrench]:
        wrench = Force(*_halves(numbers))
        return self.frame, wrench if self.axes == "body" else _world_wrench(wrench, self.axes)


@dataclass(frozen=True)
class CenterWrench:
    """A key of `Robot.generalized_forces`: f and tau of Liu & Jain eq. 48.

    Its value is (..., 6), in the world's axes: the force on the body's centre of mass, then the
    torque about the centre of mass, which includes that of forces acting elsewhere.

    Arguments:
        frame: the name of the body, or of a frame on it.
    """

    frame: str
    size: ClassVar[int] = 6
    meaning: ClassVar[str] = (
        "force in N, then torque about the centre of mass in N m, both in the world's axes"
    )

    def _load(self, numbers: Sequence[Any]) -> tuple[str, WorldWrench]:
        return self.frame, _world_wrench(Force(*_halves(numbers)), "center")


@dataclass(frozen=True)
class BodyTorque:
    """A key of `Robot.generalized_forces`: tau' of Liu & Jain eq. 67.

    Its value is (..., 3), in the world's axes: a torque on the body without that of any force.

    Arguments:
        frame: the name of the body, or of a frame on it.
    """

    frame: str
    size: ClassVar[int] = 3
    meaning: ClassVar[str] = "torque on a body in the world's axes, in N m"

    def _load(self, numbers: Sequence[Any]) -> tuple[str, WorldWrench]:
        return self.frame, _world_wrench(Force(Vector3.zero(), Vector3(*numbers)), "center")


@dataclass(frozen=True)
class JointTorque:
    """A key of `Robot.generalized_forces`: tau^ of Liu & Jain eq. 68 and 69.

    Its value is (..., 3), in the axes of the joint's parent: a torque on the joint's body, whose
    opposite acts on the parent.

    Arguments:
        joint: the name of the joint.
    """

    joint: str
    size: ClassVar[int] = 3
    meaning: ClassVar[str] = "torque of a joint in its parent's axes, in N m"

    def _load(self, numbers: Sequence[Any]) -> tuple[str, JointWrench]:
        return self.joint, JointWrench(Force(Vector3.zero(), Vector3(*numbers)))


Load = Point | Wrench | CenterWrench | BodyTorque | JointTorque


def load_name(key: str | Load) -> str:
    """The name of the argument that a load is."""
    return f"external[{key!r}]"


def meaning(key: str | Load) -> str:
    """What the numbers of a load are, for a reader."""
    return Wrench("").meaning if isinstance(key, str) else key.meaning


def size(key: str | Load) -> int:
    """How many numbers a load has."""
    return 6 if isinstance(key, str) else key.size


def load(key: str | Load, numbers: Sequence[Any]) -> tuple[str, Any]:
    """What algorithms take: a name, and what acts there."""
    return (key, Force(*_halves(numbers))) if isinstance(key, str) else key._load(numbers)


def check(model: Model, quantity: str, key: Any) -> None:
    """Refuse a key that the robot or the quantity does not have."""
    if isinstance(key, Load) and not isinstance(key, Point) and quantity != "generalized_forces":
        raise KinetreeError(
            f"{quantity} takes no {type(key).__name__}: give a frame's name or a Point, or add "
            "robot.generalized_forces(...) of it to the joint forces"
        )
    if isinstance(key, JointTorque):
        joints = [body.joint_name for body in model.bodies]
        if not among(key.joint, joints):
            raise unknown("joint", key.joint, joints, f"robot {model.name!r}")
        return
    model.frame(key if isinstance(key, str) else getattr(key, "frame", key))
    if isinstance(key, Wrench) and key.axes not in ("body", "origin", "world"):
        raise unknown("axes", key.axes, ("body", "origin", "world"), "a Wrench")


def _halves(numbers: Sequence[Any]) -> tuple[Vector3, Vector3]:
    return Vector3(*numbers[:3]), Vector3(*numbers[3:])


def _world_wrench(wrench: Force, about: str) -> WorldWrench:
    return WorldWrench(wrench, about)
