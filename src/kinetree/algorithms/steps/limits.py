"""What the limits of joints do in a step of time.

Source: the one-sided spring-dampers of K. H. Hunt & F. R. E. Crossley, Coefficient of restitution
interpreted as damping in vibroimpact (1975), in their linear form. They are in `passive`, with dry
friction that is smoothed near rest.

A clamped joint is set onto its limit at the end of the step, and a velocity that leads outwards
becomes zero: an impact without rebound. A ball joint is set onto the edge of its range.

Cost: O(N), and nothing for joints without limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.dense import dot
from kinetree.algorithms.limited import limited_balls, limited_coordinates
from kinetree.model import Model
from kinetree.scalar import Scalar, less, logical_or, maximum, minimum, select
from kinetree.spatial import Transform, Vector3

STOPS = ("none", "spring", "clamp")


class Enforcement(NamedTuple):
    """How joint limits act in a step; by default not at all.

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
    q, v = list(q), list(v)
    for at, k, lower, upper in limited_coordinates(model) if enforcement.stops == "clamp" else ():
        if math.isfinite(upper):
            v[k] = select(less(upper, q[at]), minimum(v[k], 0.0), v[k])
            q[at] = minimum(q[at], upper)
        if math.isfinite(lower):
            v[k] = select(less(q[at], lower), maximum(v[k], 0.0), v[k])
            q[at] = maximum(q[at], lower)
    for i in limited_balls(model) if enforcement.stops == "clamp" else ():
        _clamp_ball(model, i, q, v)
    return q, v


def _clamp_ball(model: Model, body: int, q: list[Scalar], v: list[Scalar]) -> None:
    """Set a ball joint onto the edge of its range, and stop what leads out of it, in place."""
    from kinetree.algorithms.ball_limits import outward_limits  # few robots need them
    from kinetree.algorithms.nearest_rotation import nearest_rotation

    at, along, joint = model.q_slices[body], model.v_slices[body], model.bodies[body].joint
    given = model.bodies[body].limits.ball
    assert given is not None
    outside: Scalar = False
    for depth, normal in outward_limits(model, q, (body,)):
        beyond = less(0.0, depth)
        rate = maximum(dot(normal, v[along]), 0.0) / dot(normal, normal)
        stop = select(beyond, rate, 0.0)
        v[along] = [x - stop * n for x, n in zip(v[along], normal, strict=True)]
        outside = logical_or(outside, beyond)
    R = nearest_rotation(given, joint.transform(q[at]).rotation)
    edge = joint.coordinates_at(Transform(R, Vector3.zero()))
    q[at] = [select(outside, x, old) for x, old in zip(edge, q[at], strict=True)]
