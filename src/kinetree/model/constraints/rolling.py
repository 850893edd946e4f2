"""Wheels and blades: nonholonomic constraints, which forbid velocities without fixing positions."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinetree.errors import ModelError
from kinetree.model.arguments import Axis, given_axis, given_number
from kinetree.model.constraints.base import FrameConstraint
from kinetree.model.constraints.loop_joint import AXES
from kinetree.model.joints import Label
from kinetree.scalar import Scalar, sqrt
from kinetree.spatial import Force, Transform, Vector3


@dataclass(frozen=True)
class KnifeEdge(FrameConstraint):
    """A blade or skate: the origin of the frame does not move sideways. One row.

    Arguments:
        softness: as in `Constraint`.
        name, frame, base, at_frame, at_base: as in `FrameConstraint`.
        sideways: the direction in the frame along which it does not move.
    """

    sideways: Vector3 = field(default=AXES[1], kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take("sideways", given_axis(self.sideways, "sideways"))

    def row_labels(self) -> tuple[Label, ...]:
        return (Label("sideways", "m"),)

    @property
    def holonomic(self) -> bool:
        return False

    def error(self, X: Transform) -> list[Scalar]:
        return [0]

    def wrenches(self, X: Transform) -> list[Force]:
        return [Force(self.sideways, Vector3.zero())]


@dataclass(frozen=True)
class RollingWheel(FrameConstraint):
    """A thin wheel that rolls on the plane z = 0 of its base without slipping: three rows.

    The point of the wheel that touches the plane is at rest. Along x and y this is nonholonomic;
    along z it holds the height of the wheel's lowest point.

    Arguments:
        softness: as in `Constraint`.
        name, frame, base, at_frame, at_base: as in `FrameConstraint`; the frame is at the centre
            of the wheel.
        radius: m.
        axis: of the wheel, a direction in the frame; it is not normal to the plane.
    """

    radius: float = field(kw_only=True)
    axis: Axis = field(default=AXES[1], kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take("axis", given_axis(self.axis))
        self._take("radius", given_number(f"{self.name}: radius", self.radius))
        if self.radius <= 0.0:
            raise ModelError(f"{self.name}: radius={self.radius!r}: more than zero is expected, m")

    def row_labels(self) -> tuple[Label, ...]:
        return tuple(Label(name, "m") for name in ("x", "y", "height"))

    @property
    def holonomic(self) -> bool:
        return False

    def _up(self, X: Transform) -> tuple[Vector3, Scalar]:
        """The unit vector from the lowest point to the centre, times cos(tilt); and cos(tilt)."""
        n, u = X.rotation.T @ AXES[2], Vector3(*self.axis)
        across = n - u * n.dot(u)
        return across, sqrt(across.dot(across))

    def error(self, X: Transform) -> list[Scalar]:
        _, slope = self._up(X)
        return [0, 0, X.translation.z - slope * self.radius]

    def wrenches(self, X: Transform) -> list[Force]:
        across, slope = self._up(X)
        lowest = across * (-self.radius / slope)
        along = [X.rotation.T @ u for u in AXES]
        return [Force(u, lowest.cross(u)) for u in along]
