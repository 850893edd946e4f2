"""The forces of stops and dry friction on joints, and their derivatives.

Source: as in `limits`, Hunt & Crossley's one-sided spring and damper in its linear form. Friction
is F v / sqrt(v^2 + s^2), one of many ways to smooth it; B. Armstrong-Helouvry, P. Dupont &
C. Canudas de Wit, A survey of models, analysis tools and compensation methods for the control of
machines with friction (1994), has others.

    symbol    code              meaning
    k, d      stiffness damping of a stop
    g         depth             the excess of a coordinate over a limit, along the outward normal
    s         friction_speed    the speed below which dry friction behaves as a damper

With n = +1 at the upper limit and n = -1 at the lower one, the force of a stop is
-n max(0, k g + d n v) where g > 0: it pushes, never pulls. At the limit of a ball joint n is the
slope of the angle; the slopes of the force are its diagonal.

Cost: O(N), and nothing for joints without limits or friction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from kinetree.algorithms.actuation.passive import smooth_friction
from kinetree.algorithms.dense import dot
from kinetree.algorithms.limited import limited_balls, limited_coordinates
from kinetree.algorithms.steps.limits import Enforcement
from kinetree.algorithms.transmissions import Law, transmitted_forces
from kinetree.model import Drive, Model
from kinetree.model.edit import without
from kinetree.model.joints import Joint
from kinetree.scalar import Scalar, less, maximum, select, sqrt


def limited(model: Model, enforcement: Enforcement) -> Model:
    """The model without dry friction if `passive_forces` smooths it."""
    return without(model, "friction") if enforcement.friction_speed else model


def passive_forces(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], enforcement: Enforcement
) -> list[Scalar]:
    """The joint forces of stops and smoothed friction."""
    forces: list[Scalar] = [0] * model.nv
    for k, slope in _friction(model, v, enforcement):
        forces[k] = forces[k] - slope * v[k]
    for k, normal, depth in _stops(model, q, enforcement):
        forces[k] = forces[k] - normal * _pushed(depth, v[k] * normal, enforcement)
    for at, depth, slopes in _ball_stops(model, q, enforcement):
        push = _pushed(depth, dot(slopes, v[at]), enforcement)
        forces[at] = [f - slope * push for f, slope in zip(forces[at], slopes, strict=True)]
    if s := enforcement.friction_speed:
        smoothed = transmitted_forces(model, q, v, _smooth_friction(s))
        rubbing = smooth_friction(model, q, v, s)
        forces = [f - a - b for f, a, b in zip(forces, smoothed, rubbing, strict=True)]
    return forces


def _smooth_friction(s: float) -> Law:
    """F u / sqrt(u^2 + s^2), for joints that follow others by a varying ratio."""

    def law(joint: Joint, drive: Drive, _: list[Scalar], u: list[Scalar]) -> list[Scalar]:
        return [x * drive.friction / sqrt(x * x + s * s) if drive.friction else 0 for x in u]

    return law


def passive_slopes(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], enforcement: Enforcement
) -> tuple[list[Scalar], list[Scalar]]:
    """The damping and the stiffness of `passive_forces` at a state, one entry a velocity.

    The damping of friction is that of the secant through rest, F / sqrt(v^2 + s^2): it never
    reverses a motion.
    """
    damping: list[Scalar] = [0] * model.nv
    stiffness: list[Scalar] = [0] * model.nv
    for k, slope in _friction(model, v, enforcement):
        damping[k] = damping[k] + slope
    for k, normal, depth in _stops(model, q, enforcement):
        pushes = less(0.0, _pushed(depth, v[k] * normal, enforcement))
        damping[k] = damping[k] + select(pushes, enforcement.damping, 0.0)
        stiffness[k] = stiffness[k] + select(pushes, enforcement.stiffness, 0.0)
    for at, depth, slopes in _ball_stops(model, q, enforcement):
        pushes = less(0.0, _pushed(depth, dot(slopes, v[at]), enforcement))
        for k, slope in enumerate(slopes, at.start):
            damping[k] = damping[k] + select(pushes, enforcement.damping * slope * slope, 0.0)
            stiffness[k] = stiffness[k] + select(pushes, enforcement.stiffness * slope * slope, 0.0)
    return damping, stiffness


def _pushed(depth: Scalar, speed: Scalar, enforcement: Enforcement) -> Scalar:
    """The force of a stop; speed is that along the outward normal."""
    push = maximum(0.0, depth * enforcement.stiffness + speed * enforcement.damping)
    return select(less(0.0, depth), push, 0.0)


def _friction(
    model: Model, v: Sequence[Scalar], enforcement: Enforcement
) -> Iterator[tuple[int, Scalar]]:
    """Velocities with dry friction: their number, and F / sqrt(v^2 + s^2)."""
    s = enforcement.friction_speed
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for k in range(at.start, at.stop) if s and drive.friction else ():
            yield k, drive.friction / sqrt(v[k] * v[k] + s * s)


def _stops(
    model: Model, q: Sequence[Scalar], enforcement: Enforcement
) -> Iterator[tuple[int, float, Scalar]]:
    """Spring stops: the number of a velocity, the outward normal, and the depth."""
    for at, k, lower, upper in limited_coordinates(model) if enforcement.stops == "spring" else ():
        if math.isfinite(upper):
            yield k, 1.0, q[at] - upper
        if math.isfinite(lower):
            yield k, -1.0, lower - q[at]


def _ball_stops(
    model: Model, q: Sequence[Scalar], enforcement: Enforcement
) -> Iterator[tuple[slice, Scalar, list[Scalar]]]:
    """Spring stops of ball joints: velocities, the depth, and its rates for unit velocities."""
    for i in limited_balls(model) if enforcement.stops == "spring" else ():
        from kinetree.algorithms.ball_limits import outward_limits  # few robots need it

        for depth, slopes in outward_limits(model, q, (i,)):
            yield model.v_slices[i], depth, slopes
