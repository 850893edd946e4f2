"""How far ball joints are from the limits of their ranges, and how fast that changes.

Source: P. Baerlocher & R. Boulic, Parametrization and range of motion of the ball-and-socket joint,
Deformable Avatars (2001). MuJoCo's documentation, "Computation", section "Limit", has the angle.

    symbol    code        meaning
    M         M           the rotation from the middle of the range, its third axis the twist axis
    d         d           the twist axis: the third column of M
    alpha     limit       the largest swing in the direction of a swing

With s = sin(theta/2) u of a swing by theta about u, d = (2 s_y c, -2 s_x c, cos theta), and M^T's
first two rows hold the twist (c = cos(theta/2)).

    swing     alpha - theta,  sin(alpha/2) = 1 / sqrt((u_x / sin(a/2))^2 + (u_y / sin(b/2))^2)
    twist     the angle of (M_yx - M_xy, M_xx + M_yy) from its lower and to its upper limit
    angle     most - angle of M

Cost: a few dozen operations for each limit; nothing for joints without any.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.limited import limited_balls, nearer_bound
from kinetree.model import Model
from kinetree.model.joints import Joint
from kinetree.model.limits import BallRange
from kinetree.scalar import Scalar, atan2, less, maximum, select, sqrt
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Rotation

TINY = 1e-24
"""Added to squared sines, so that angles have slopes where they are zero."""


class BallLimit(NamedTuple):
    """A limited angle of a ball joint.

    name: "swing", "twist" or "angle".
    at: the velocities that change it.
    value: the angle; of a swing, counted from its limit.
    bounds: its lower and upper limit, rad.
    slopes: its rates for unit velocities.
    """

    name: str
    at: tuple[int, ...]
    value: Scalar
    bounds: tuple[float, float]
    slopes: list[Scalar]


def ball_limits(
    model: Model, q: Sequence[Scalar], bodies: Iterable[int] | None = None
) -> Iterator[BallLimit]:
    """The limited angles of ball joints, all or those of some bodies, with their slopes."""
    for i in limited_balls(model) if bodies is None else bodies:
        body, at = model.bodies[i], model.v_slices[i]
        given = body.limits.ball
        assert given is not None
        own = q[model.q_slices[i]]
        values = angles(given, body.joint.transform(own).rotation)
        slopes = _slopes(body.joint, given, own)
        where = tuple(range(at.start, at.stop))
        for k, name in enumerate(given.names):
            columns = [column[k] for column in slopes]
            yield BallLimit(name, where, values[k], bounds(given)[k], columns)


def outward_limits(
    model: Model, q: Sequence[Scalar], bodies: Iterable[int]
) -> Iterator[tuple[Scalar, list[Scalar]]]:
    """How far the nearer limits are exceeded, and the slopes of that.

    Arguments:
        bodies: whose joints they are.
    """
    for limit in ball_limits(model, q, bodies):
        inwards, distance = nearer_bound(limit.value, *limit.bounds)
        yield -distance, [-inwards * x for x in limit.slopes]


def bounds(given: BallRange) -> list[tuple[float, float]]:
    """The lower and upper limit of each angle of `angles`."""
    found = {"swing": (-math.inf, 0.0), "twist": given.twist, "angle": (-math.inf, given.angle)}
    return [found[name] for name in given.names]


def angles(given: BallRange, rotation: Rotation) -> list[Scalar]:
    """The angles that a range limits, at a rotation of the joint.

    Arguments:
        given: the range.
        rotation: of the body in the joint frame.
    """
    M = from_middle(given, rotation)
    kinds = {"swing": _swing, "twist": _twist, "angle": _angle}
    return [kinds[name](given, M) for name in given.names]


def from_middle(given: BallRange, rotation: Rotation) -> Rotation:
    """M, the rotation from the middle of a range, in its axes."""
    R = rotation.T if given.inverse else rotation
    return given.axes.T @ (given.middle.T @ R) @ given.axes


def _swing(given: BallRange, M: Rotation) -> Scalar:
    (_, _, x), (_, _, y), (_, _, z) = M.rows
    across = x * x + y * y + TINY
    theta = atan2(sqrt(across), z)
    a, b = given.sines
    if a == b:
        return theta - min(given.swing[0], math.pi)
    # u = (-y, x) / sqrt(across)
    square = across / (y * y * (1 / (a * a)) + x * x * (1 / (b * b)) + TINY)
    return theta - 2 * atan2(sqrt(square), sqrt(maximum(1 - square, TINY)))


def _twist(given: BallRange, M: Rotation) -> Scalar:
    (xx, xy, _), (yx, yy, _), _ = M.rows
    across, along = yx - xy, xx + yy
    told = less(TINY, across * across + along * along)  # not after a swing by half a turn
    return twist_of(given, across, select(told, along, 1.0))


def twist_of(given: BallRange, sine: Scalar, cosine: Scalar) -> Scalar:
    """The angle of a twist, within half a turn of the middle between its limits.

    So the nearer limit is that by the shorter way. Sine and cosine may have any positive factor.
    """
    middle = given.middle_twist
    s, c = math.sin(middle), math.cos(middle)
    return atan2(sine * c - cosine * s, cosine * c + sine * s) + middle


def _angle(given: BallRange, M: Rotation) -> Scalar:
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = M.rows
    x, y, z = zy - yz, xz - zx, yx - xy  # twice the axis times the sine
    return atan2(sqrt(x * x + y * y + z * z + TINY), xx + yy + zz - 1)


def _slopes(joint: Joint, given: BallRange, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The rates of all angles for each unit velocity of the joint."""
    found = []
    for k in range(joint.nv):
        unit = [float(i == k) for i in range(joint.nv)]
        rates = joint.coordinate_rates(q, unit)
        moving = [Dual(x, rate) for x, rate in zip(q, rates, strict=True)]
        rotation = joint.transform(moving).rotation
        found.append([lift(x).rate for x in angles(given, rotation)])
    return found
