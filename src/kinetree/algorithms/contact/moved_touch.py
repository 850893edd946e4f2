"""Touches that change as their shapes move: by dual numbers, along the motions of a body.

Source: equation (18) of `pair_slopes`.

    symbol    code      meaning
    m         UNITS     the six motions of a body, at the origin of the world

Cost: a few operations for each touch.
"""

from __future__ import annotations

from kinetree.algorithms.contact.touch import Touch
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Rotation, Transform, Twist, Vector3

_AXES = (Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1))
UNITS = [Twist(axis, Vector3.zero()) for axis in _AXES] + [
    Twist(Vector3.zero(), axis) for axis in _AXES
]
"""Unit motions of a body, at the origin of the world."""


def moved(X: Transform, m: Twist) -> Transform:
    """A pose of dual numbers whose rate is a motion, given at the origin of the world."""
    columns = X.rotation.T.rows
    turned = [_dual(c, m.angular.cross(c)) for c in columns]
    p = X.translation
    return Transform(Rotation(*turned).T, _dual(p, m.linear + m.angular.cross(p)))


def carried(touch: Touch, m: Twist, along: Touch) -> Touch:
    """A touch of dual numbers whose rate is that along a motion of the first body (18)."""
    p, n = touch.point, touch.normal
    axis = None
    if touch.axis is not None and along.axis is not None:
        axis = _dual(touch.axis, m.angular.cross(touch.axis) - rates(along.axis))
    return Touch(
        Dual(touch.distance, -lift(along.distance).rate),
        _dual(p, m.linear + m.angular.cross(p) - rates(along.point)),
        _dual(n, m.angular.cross(n) - rates(along.normal)),
        axis,
    )


def _dual(x: Vector3, rate: Vector3) -> Vector3:
    return Vector3(*(Dual(a, b) for a, b in zip(x, rate, strict=True)))


def rates(x: Vector3) -> Vector3:
    return Vector3(*(lift(a).rate for a in x))
