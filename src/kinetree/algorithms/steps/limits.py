"""Joint limits in a time step.

Source: the one-sided spring-dampers of K. H. Hunt & F. R. E. Crossley, Coefficient of restitution
interpreted as damping in vibroimpact (1975), in their linear form. They are in `passive`, with dry
friction that is smoothed near rest.

A clamped joint is set onto its limit at the end of the step. If its velocity leads outwards, it
stops in an impact without rebound (`stop_impacts`), which acts on the other joints, too. Limits are
those of joints whose velocities are the rates of their coordinates, and ranges of ball joints.

Cost: O(N), and nothing for joints without limits; that of `stop_impacts` where a joint stops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.limited import limited_balls, limited_coordinates
from kinetree.model import Model
from kinetree.scalar import Scalar, call_if, less, maximum, minimum, select
from kinetree.spatial import Transform, Vector3

STOPS = ("none", "spring", "clamp")


class Enforcement(NamedTuple):
    """The treatment of joint limits in a step; by default they are ignored.

    Arguments:
        stops: "none", "spring" for a one-sided spring and damper at each limit, "clamp" for an
            impact without rebound at the end of the step.
        stiffness, damping: of spring stops, N m/rad and N m s (N/m and N s/m for sliding joints).
        saturate: whether joint forces are cut off at the effort limits.
        friction_speed: the speed below which dry friction grows with the velocity instead of
            jumping, rad/s (or m/s). With zero, dry friction jumps, and chatters at rest.
    """

    stops: str = "none"
    stiffness: float = 1e4
    damping: float = 1e2
    saturate: bool = False
    friction_speed: float = 0.0


FREE = Enforcement()


def saturated(model: Model, tau: Sequence[Scalar], enforcement: Enforcement) -> list[Scalar]:
    """The joint forces that the drives can give."""
    given = list(tau)
    if enforcement.saturate:
        for i in model.coordinate_order:
            most, at = model.bodies[i].limits.effort, model.v_slices[i]
            if math.isfinite(most):
                given[at] = [minimum(maximum(t, -most), most) for t in given[at]]
    return given


def clamped(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], enforcement: Enforcement
) -> tuple[list[Scalar], list[Scalar]]:
    """The state at the end of a step, set back onto the limits if those are clamped."""
    limited, balls = list(limited_coordinates(model)), limited_balls(model)
    if enforcement.stops != "clamp" or not (limited or balls):
        return list(q), list(v)
    from kinetree.algorithms.ball_limits import outward_limits  # imported here: rarely needed
    from kinetree.algorithms.steps.stop_impacts import Impact

    sides: list[Scalar] = []
    for at, _, lower, upper in limited:
        side: Scalar = 0.0
        if math.isfinite(upper):
            side = select(less(upper, q[at]), -1.0, side)
        if math.isfinite(lower):
            side = select(less(q[at], lower), 1.0, side)
        sides.append(side)
    sides += [select(less(0.0, depth), -1.0, 0.0) for depth, _ in outward_limits(model, q, balls)]
    moved, impact = within_limits(model, q), Impact(model)
    outwards: Scalar = 0.0
    for side, rate in zip(sides, impact.rates(moved, v), strict=True):
        outwards = maximum(outwards, -(side * rate))
    v = list(call_if(less(0.0, outwards), impact, moved, list(v), sides, otherwise=list(v)))
    for (_, k, _, _), side in zip(limited, sides, strict=False):  # sets rounding errors to zero
        v[k] = select(less(side * v[k], 0.0), 0.0, v[k])
    return moved, v


def within_limits(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The nearest configuration within the limits of all joints."""
    moved = list(q)
    for at, _, lower, upper in limited_coordinates(model):
        if math.isfinite(upper):
            moved[at] = minimum(moved[at], upper)
        if math.isfinite(lower):
            moved[at] = maximum(moved[at], lower)
    for i in limited_balls(model):
        _limit_ball(model, i, moved)
    return moved


def _limit_ball(model: Model, body: int, q: list[Scalar]) -> None:
    """Move a ball joint that left its range to the edge of it, in place."""
    from kinetree.algorithms.ball_limits import outward_limits  # few robots need them
    from kinetree.algorithms.nearest_rotation import nearest_rotation

    at, joint = model.q_slices[body], model.bodies[body].joint
    given = model.bodies[body].limits.ball
    assert given is not None
    most: Scalar = 0.0
    for depth, _ in outward_limits(model, q, (body,)):
        most = maximum(most, depth)
    R = nearest_rotation(given, joint.transform(q[at]).rotation)
    edge = joint.coordinates_at(Transform(R, Vector3.zero()))
    q[at] = [select(less(0.0, most), x, old) for x, old in zip(edge, q[at], strict=True)]
