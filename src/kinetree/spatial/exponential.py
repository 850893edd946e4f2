"""The exponential map of rotations and screws, and its inverse, smooth through the identity.

With theta = |w| and x = theta^2, everything here is w times an even function of theta. Each such
function has a closed form that loses digits near zero and a power series that does not; `select`
takes the series below x = 1, where its truncation is below a double's rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial

from kinetree.scalar import Scalar, atan2, cos, less, select, sin, sqrt
from kinetree.spatial.vector import Vector3

_SWITCH = 1.0
_TERMS = 9


def _series(x: Scalar, coefficients: Sequence[float]) -> Scalar:
    """The sum of coefficients[k] x^k, by Horner's rule."""
    total: Scalar = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


def _factorials(start: int) -> list[float]:
    """(-1)^k / (2k + start)!: the coefficients of the sine and cosine quotients."""
    return [(-1.0) ** k / factorial(2 * k + start) for k in range(_TERMS)]


def _angle(x: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """(is x small, theta, theta^2), the last two replaced by one where x is small."""
    small = less(x, _SWITCH)
    safe = select(small, 1.0, x)
    return small, sqrt(safe), safe


def sine_quotient(x: Scalar) -> Scalar:
    """sin(theta) / theta."""
    small, theta, _ = _angle(x)
    return select(small, _series(x, _factorials(1)), sin(theta) / theta)


def cosine_quotient(x: Scalar) -> Scalar:
    """(1 - cos(theta)) / theta^2."""
    small, theta, square = _angle(x)
    return select(small, _series(x, _factorials(2)), (1.0 - cos(theta)) / square)


def third_quotient(x: Scalar) -> Scalar:
    """(theta - sin(theta)) / theta^3."""
    small, theta, square = _angle(x)
    closed = (theta - sin(theta)) / (theta * square)
    return select(small, _series(x, _factorials(3)), closed)


def half_turn_quat(w: Vector3) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """exp([w]) as a quaternion (x, y, z, w): (w sin(theta/2) / theta, cos(theta/2))."""
    x = w.dot(w)
    small, theta, _ = _angle(x * 0.25)
    s = select(small, _series(x * 0.25, _factorials(1)), sin(theta) / theta)
    c = select(small, _series(x * 0.25, _factorials(0)), cos(theta))
    return (*(w * (s * 0.5)), c)


def quat_product(p: Sequence[Scalar], q: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """The Hamilton product of two quaternions (x, y, z, w)."""
    u, v = Vector3(*p[:3]), Vector3(*q[:3])
    return (*(v * p[3] + u * q[3] + u.cross(v)), p[3] * q[3] - u.dot(v))


def quat_rates(q: Sequence[Scalar], w: Sequence[Scalar]) -> list[Scalar]:
    """The rate of a quaternion whose body turns with w, in its own frame: q (w, 0) / 2.

    Its length is any but zero, and does not change.
    """
    square = quat_square(q)
    share = 1 / square
    # a product with 1, except for a zero quaternion, which has no direction and becomes NaN
    turned = [c * share * square for c in q]
    return [0.5 * c for c in quat_product(turned, (*w, 0))]


def quat_square(q: Sequence[Scalar]) -> Scalar:
    """The square of a quaternion's length."""
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]


def quat_unit(q: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """The quaternion of length one in the same direction."""
    scale = 1.0 / sqrt(quat_square(q))
    return tuple(c * scale for c in q)


def quat_log(q: Sequence[Scalar]) -> Vector3:
    """The w with exp([w]) = q and |w| <= pi, of a quaternion of any length."""
    flip = select(less(q[3], 0.0), -1.0, 1.0)
    v, c = Vector3(*q[:3]) * flip, q[3] * flip
    square = v.dot(v)
    # 2 atan(t) / (t c) with t = |v| / c; the series in t^2 = x / c^2 near the identity
    small = less(square, 1e-4 * (c * c))
    length = sqrt(select(small, 1.0, square))
    safe = select(small, c, 1.0)
    t2 = square / (safe * safe)
    series = _series(t2, [2.0 * (-1.0) ** k / (2 * k + 1) for k in range(5)]) / safe
    return v * select(small, series, 2.0 * atan2(length, c) / length)


def quat_difference(q0: Sequence[Scalar], q1: Sequence[Scalar]) -> Vector3:
    """The rotation vector from one orientation to another; its entries are the same in both."""
    x, y, z, w = q0
    return quat_log(quat_product((-x, -y, -z, w), q1))


def translation_of_screw(v: Vector3, w: Vector3) -> Vector3:
    """The displacement of the origin under the screw (v, w) after one unit of time.

    V v with V = 1 + (1 - cos) / theta^2 [w] + (theta - sin) / theta^3 [w]^2.
    """
    x = w.dot(w)
    once = w.cross(v)
    return v + once * cosine_quotient(x) + w.cross(once) * third_quotient(x)


def translation_to_screw(p: Vector3, w: Vector3) -> Vector3:
    """The inverse of `translation_of_screw`: V^-1 p.

    V^-1 = 1 - [w] / 2 + (1 - (theta/2) cot(theta/2)) / theta^2 [w]^2, for |w| <= pi.
    """
    x = w.dot(w)
    small, theta, square = _angle(x)
    half = theta * 0.5
    closed = (1.0 - half * cos(half) / sin(half)) / square
    once = w.cross(p)
    return p - once * 0.5 + w.cross(once) * select(small, _series(x, _COT), closed)


def _cotangent_coefficients() -> list[float]:
    """(1 - (theta/2) cot(theta/2)) / theta^2 as a series in theta^2: |B_2k| / (2k)!, k >= 1."""
    bernoulli = [Fraction(1)]
    for m in range(1, 2 * _TERMS + 3):
        total = sum((comb(m + 1, k) * bernoulli[k] for k in range(m)), start=Fraction(0))
        bernoulli.append(-total / (m + 1))
    return [float(abs(bernoulli[2 * k]) / factorial(2 * k)) for k in range(1, _TERMS + 2)]


_COT = _cotangent_coefficients()
