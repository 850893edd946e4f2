"""The limits of a joint; of a ball joint swing and twist cones, or the range that MJCF has.

Source: P. Baerlocher & R. Boulic, Parametrization and range of motion of the ball-and-socket joint,
Deformable Avatars (2001): the rotation of a joint is a twist about an axis of the body, followed by
a swing, which turns that axis by the shortest way.

    symbol    code            meaning
    R         R               the rotation of the body from the middle of the range
    d         d               the twist axis after the rotation: the third column of R
    a, b      swing           the largest swings about the first and the second axis across
    s         s               the swing's quaternion: sin(angle / 2) times its axis, (s_x, s_y)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.arguments import Axis, given_axis, given_number, given_numbers
from kinetree.model.plane import plane_axes
from kinetree.spatial import Matrix3, Rotation, Vector3
from kinetree.spatial.exponential import half_turn_quat

Pair = tuple[float, float]
FREE_TWIST = (-math.inf, math.inf)
CENTER = (0.0, 0.0, 0.0)


@dataclass(frozen=True, init=False)
class BallRange:
    """How far a ball joint turns, from the middle of its range.

    A swing moves the body's twist axis out of the middle; it stays in an elliptic cone:
    (s_x / sin(a/2))^2 + (s_y / sin(b/2))^2 <= 1, with s = sin(angle / 2) times the swing's axis.
    A twist turns the body about that axis.

    Arguments:
        swing: the largest swings a and b about the first and the second axis across, or one number
            for a circular cone; rad, at most pi.
        twist: the lowest and the highest twist, or one number for both ways; rad, at most pi.
        angle: the largest angle of the whole rotation, as MJCF has it, rad.
        axis: the twist axis in the body.
        across: the first axis across; by default x, turned by the shortest rotation from z to the
            twist axis. The second one is at right angles to both.
        center: the middle of the range: a rotation vector in the joint frame.
        inverse: whether the rotation is measured the other way: of the parent, seen from the body.
    """

    swing: Pair
    twist: Pair
    angle: float
    axis: Vector3
    across: Vector3
    center: tuple[float, float, float]
    inverse: bool

    def __init__(
        self,
        swing: float | Sequence[float] = math.inf,
        twist: float | Sequence[float] = math.inf,
        angle: float = math.inf,
        axis: Axis = "z",
        across: Axis | None = None,
        center: Sequence[float] = CENTER,
        inverse: bool = False,
    ) -> None:
        a, b = _pair("swing", swing, lambda x: (x, x))
        low, high = _pair("twist", twist, lambda x: (-x, x))
        most = _angle("angle", angle)
        if min(a, b, most) <= 0.0:
            raise ModelError(f"swing={swing!r}, angle={angle!r}: positive angles are expected")
        if not low < high:
            raise ModelError(f"twist={twist!r}: the lower angle, then a higher one, is expected")
        if low >= most or high <= -most:
            raise ModelError(f"twist={twist!r}, angle={angle!r}: no rotation is within both")
        middle = tuple(given_numbers("center", center, (3,)).tolist())
        along = given_axis(axis)
        given = {"swing": (a, b), "twist": (low, high), "angle": most}
        given |= {"axis": along, "across": _beside(along, across)}
        given |= {"center": middle, "inverse": bool(inverse)}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def has_swing(self) -> bool:
        """Whether swings are limited."""
        return min(self.swing) < math.pi

    @property
    def has_twist(self) -> bool:
        """Whether twists are limited."""
        return self.twist[0] > -math.pi or self.twist[1] < math.pi

    @property
    def middle_twist(self) -> float:
        """The middle between the limits of twists, from which they are measured; 0 without both."""
        low, high = self.twist
        return 0.5 * (low + high) if max(-low, high) < math.pi else 0.0

    @property
    def has_angle(self) -> bool:
        """Whether the whole angle is limited."""
        return self.angle < math.pi

    @property
    def names(self) -> tuple[str, ...]:
        """What is limited, of "swing", "twist" and "angle"."""
        limited = {"swing": self.has_swing, "twist": self.has_twist, "angle": self.has_angle}
        return tuple(name for name, yes in limited.items() if yes)

    @property
    def sines(self) -> Pair:
        """sin(a/2) and sin(b/2)."""
        a, b = (math.sin(0.5 * min(x, math.pi)) for x in self.swing)
        return a, b

    @property
    def middle(self) -> Rotation:
        """The rotation in the middle of the range."""
        return Rotation.quat_xyzw(*half_turn_quat(Vector3(*self.center)))

    @property
    def axes(self) -> Rotation:
        """The two axes across and the twist axis, the columns of a rotation, in the body."""
        return Rotation(*Matrix3(self.across, self.axis.cross(self.across), self.axis).T.rows)

    def sample(self, rng: Any, batch: tuple[int, ...]) -> Rotation:
        """Random rotations within the range.

        Arguments:
            rng: NumPy's generator.
            batch: how many.

        Returns:
            A rotation whose entries are arrays of this shape. Directions of swings, their share of
            the largest and twists are uniform; so are rotations by less than `angle` about all axes
            where it alone is limited.
        """
        angle, twist = rng.uniform(-math.pi, math.pi, batch), rng.uniform(*self.twist_ends, batch)
        share = rng.uniform(0.0, 1.0, batch)
        a, b = self.sines
        x, y = share * a * np.cos(angle), share * b * np.sin(angle)
        s, c = np.sin(0.5 * twist), np.cos(0.5 * twist)
        if self.always_twisted:
            left = np.sqrt(np.maximum(1.0 - (math.cos(0.5 * self.angle) / c) ** 2, 0.0))
            shrink = np.minimum(left / np.maximum(np.hypot(x, y), 1e-300), 1.0)
            x, y = shrink * x, shrink * y
        w = np.sqrt(np.maximum(1.0 - x * x - y * y, 0.0))
        # the swing's quaternion (x, y, 0, w) times the twist's (0, 0, s, c)
        parts = [x * c + y * s, y * c - x * s, w * s, w * c]
        if self.has_angle and not self.always_twisted:
            parts = self._narrowed(parts)
        M = Rotation.quat_xyzw(*parts)
        R = self.middle @ (self.axes @ M @ self.axes.T)
        return R.T if self.inverse else R

    @property
    def twist_ends(self) -> Pair:
        """The lowest and the highest twist, also by the angle of the whole rotation."""
        low, high = self.twist
        most = min(self.angle, math.pi)
        return max(low, -most), min(high, most)

    @property
    def always_twisted(self) -> bool:
        """Whether the whole angle is limited, and the range of twists does not contain zero.

        Then a smaller rotation may leave the range of twists: the swing must shrink alone, to
        cos(swing / 2) >= cos(angle / 2) / cos(twist / 2).
        """
        low, high = self.twist
        return self.has_angle and not low <= 0.0 <= high

    def _narrowed(self, parts: list[Any]) -> list[Any]:
        """Quaternions with angles smaller in the ratio of the largest one to half a turn."""
        x, y, z, w = parts
        size = np.sqrt(x * x + y * y + z * z)
        half = np.arctan2(size, np.abs(w)) * min(self.angle / math.pi, 1.0)
        ratio = np.sin(half) / np.maximum(size, 1e-300) * np.where(w < 0.0, -1.0, 1.0)
        return [x * ratio, y * ratio, z * ratio, np.cos(half)]

    def reversed(self) -> BallRange:
        """The range of the joint with its two bodies exchanged.

        Returns:
            A range.
        """
        return self._changed(inverse=not self.inverse)

    def relocated(self, turn: Rotation) -> BallRange:
        """The range of X J X^-1, for a joint J with this range.

        Arguments:
            turn: the rotation of X.

        Returns:
            A range.
        """
        center = tuple(turn @ Vector3(*self.center))
        axis, across = turn @ self.axis, turn @ self.across
        return self._changed(axis=axis, across=across, center=center)

    def _changed(self, **values: Any) -> BallRange:
        """A copy with other values, which need no checks."""
        made = object.__new__(BallRange)
        for field in fields(self):
            object.__setattr__(made, field.name, values.get(field.name, getattr(self, field.name)))
        return made


@dataclass(frozen=True)
class Limits:
    """The limits of a joint, the same for each of its coordinates; infinite where there is none.

    Arguments:
        lower, upper: of the coordinates, rad or m.
        velocity: rad/s or m/s.
        effort: of the joint force, N m or N.
        ball: how far a ball joint turns; `lower` and `upper` say nothing about its orientation.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    ball: BallRange | None = None

    def relocated(self, turn: Rotation) -> Limits:
        """The limits of X J X^-1, for a joint J with these.

        Arguments:
            turn: the rotation of X.

        Returns:
            Limits.
        """
        return self if self.ball is None else replace(self, ball=self.ball.relocated(turn))

    def reversed(self) -> Limits:
        """The limits of the joint with its two bodies exchanged, counted as before.

        Returns:
            Limits.
        """
        return self if self.ball is None else replace(self, ball=self.ball.reversed())


UNLIMITED = Limits()


def _beside(axis: Vector3, given: Axis | None) -> Vector3:
    """The unit vector at right angles to an axis that is nearest to another vector."""
    if given is None:
        return plane_axes(axis)[0]
    across = given_axis(given, "across")
    return given_axis(across - axis * axis.dot(across), "across")


def _angle(name: str, value: Any) -> float:
    """An angle; infinite if there is no limit."""
    if isinstance(value, Real) and math.isinf(value):
        return float(value)
    number = given_number(name, value)
    if abs(number) > math.pi + 1e-9:
        raise ModelError(f"{name}={value!r}: at most pi is expected, or math.inf for no limit")
    return number


def _pair(name: str, value: Any, both: Any) -> Pair:
    """Two angles, given as two or as one."""
    if isinstance(value, Real):
        first, second = both(value)
    else:
        try:
            first, second = value
        except (TypeError, ValueError):
            raise ModelError(f"{name}={value!r}: one or two angles are expected") from None
    return _angle(name, first), _angle(name, second)
