"""What the limits of joints do in a step of time.

Source: the one-sided spring-dampers of K. H. Hunt & F. R. E. Crossley, Coefficient of restitution
interpreted as damping in vibroimpact (1975), in their linear form. They are in `passive`, with dry
friction that is smoothed near rest.

A clamped joint is set onto its limit at the end of the step. If its velocity leads outwards, it
stops in an impact without rebound (`stop_impacts`), which the other joints feel. Only joints whose
velocities are the rates of their coordinates have stops.

Cost: O(N), and nothing for joints without limits; that of `stop_impacts` where a joint stops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.limited import limited_coordinates
from kinetree.model import Model
from kinetree.scalar import Scalar, call_if, less, maximum, minimum, select

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
    limited = list(limited_coordinates(model)) if enforcement.stops == "clamp" else []
    if not limited:
        return list(q), list(v)
    from kinetree.algorithms.steps.stop_impacts import Impact  # rarely needed

    sides: list[Scalar] = []
    outwards: Scalar = 0.0
    for at, k, lower, upper in limited:
        side: Scalar = 0.0
        if math.isfinite(upper):
            side = select(less(upper, q[at]), -1.0, side)
        if math.isfinite(lower):
            side = select(less(q[at], lower), 1.0, side)
        sides.append(side)
        outwards = maximum(outwards, -(side * v[k]))
    moved = within_limits(model, q)
    impact = Impact(model, [k for _, k, _, _ in limited])
    v = list(call_if(less(0.0, outwards), impact, moved, list(v), sides, otherwise=list(v)))
    for (_, k, _, _), side in zip(limited, sides, strict=True):  # what is left is rounding
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
    return moved
