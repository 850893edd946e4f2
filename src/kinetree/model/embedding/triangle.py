"""Loops with a formula: a crank whose end is at a given distance from a point, or on a line.

The end of the crank, the crank's pivot and the other point form a triangle of which all sides are
known: planar four-bars and cranks that rods move. With a slider, the end is where a circle about
the pivot meets the slider's line.

An angle is the fitted one plus a correction, so that it has no jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.model.embedding.closures import Path
from kinetree.model.embedding.loop_map import Stage
from kinetree.model.embedding.start import Fit
from kinetree.scalar import Scalar, atan2, cos, sin, sqrt
from kinetree.spatial import Vector3


@dataclass(frozen=True)
class Crank:
    """A point that turns about an axis.

    Arguments:
        first, second: the axes of the plane in which it turns, from the first to the second.
        axis: normal to both.
        point: its position at the angle zero, from the pivot.
    """

    first: Vector3
    second: Vector3
    axis: Vector3
    point: Vector3

    @property
    def square(self) -> float:
        """The square of its distance from the axis, m^2."""
        x, y = self.first.dot(self.point), self.second.dot(self.point)
        return float(x * x + y * y)

    def angle(self, there: Vector3, near: Scalar) -> Scalar:
        """The angle at which it is at a given position.

        Arguments:
            there: the position, from the pivot.
            near: an angle near the result, which selects the turn.

        Returns:
            rad.
        """
        p, c = ((self.first.dot(x), self.second.dot(x)) for x in (self.point, there))
        x, y = p[0] * c[0] + p[1] * c[1], p[0] * c[1] - p[1] * c[0]
        cosine, sine = cos(near), sin(near)
        return near + atan2(y * cosine - x * sine, x * cosine + y * sine)


@dataclass(frozen=True)
class Triangle(Stage):
    """A crank whose end is at a distance from a known point, and a second crank about that, if any.

    Arguments:
        crank: the one whose angle comes first.
        pivot: the path to its pivot.
        other: the path to the known point.
        length: the distance, m; with `spatial` in space, otherwise in the plane of the crank.
        side: +1 or -1: on which side of the line between pivot and point the end is.
        follower: the second crank, about the known point; its end meets that of the first.
        start: angles near the results.
    """

    crank: Crank
    pivot: Path
    other: Path
    length: float
    spatial: bool
    side: float
    follower: Crank | None
    start: Fit

    def solve(self, known: Sequence[Scalar]) -> list[Scalar]:
        near, crank = self.start.values(known[: len(self.start.axes)]), self.crank
        X = self.pivot.pose(known).inverse() @ self.other.pose(known)
        P, height = X.translation, crank.axis.dot(crank.point)
        x, y = crank.first.dot(P), crank.second.dot(P)
        square: Scalar = self.length * self.length
        if self.spatial:
            above = crank.axis.dot(P) - height
            square = square - above * above
        d = x * x + y * y
        along = (d + (crank.square - square)) / (d * 2.0)
        across = sqrt(crank.square / d - along * along) * self.side
        end = crank.first * (x * along - y * across) + crank.second * (y * along + x * across)
        angles = [crank.angle(end, near[0])]
        if self.follower is not None:
            there = X.inverse().point(end + crank.axis * height)
            angles.append(self.follower.angle(there, near[1]))
        return angles


@dataclass(frozen=True)
class Slider(Stage):
    """A crank whose end is on a line along which a slider moves.

    Arguments:
        crank: the crank.
        pivot: the path to its pivot.
        other: the path to the slider's joint frame.
        line: the direction in which the slider moves, in that frame.
        point: the crank's end in that frame, at the slider's coordinate zero.
        side: +1 or -1: which of two solutions.
        start: an angle near the result, first; or second, if the slider's coordinate comes first.
        slider_first: the order of the results.
    """

    crank: Crank
    pivot: Path
    other: Path
    line: Vector3
    point: Vector3
    side: float
    start: Fit
    slider_first: bool

    def solve(self, known: Sequence[Scalar]) -> list[Scalar]:
        near, crank = self.start.values(known[: len(self.start.axes)]), self.crank
        X = self.other.pose(known).inverse() @ self.pivot.pose(known)
        normal = X.rotation @ crank.axis
        r = X.translation - self.point
        r = r - normal * normal.dot(r)
        along = r.dot(self.line)
        s = along + sqrt(along * along - r.dot(r) + crank.square) * self.side
        angle_near = near[1] if self.slider_first else near[0]
        angle = crank.angle(X.inverse().point(self.point + self.line * s), angle_near)
        return [s, angle] if self.slider_first else [angle, s]
