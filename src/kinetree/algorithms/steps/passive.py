"""What stops and dry friction add to the forces of joints, and how it changes with the state.

Source: as in `limits`, Hunt & Crossley's one-sided spring and damper in its linear form. Friction
is F v / sqrt(v^2 + s^2), one of many ways to smooth it; B. Armstrong-Helouvry, P. Dupont &
C. Canudas de Wit, A survey of models, analysis tools and compensation methods for the control of
machines with friction (1994), has others.

    symbol    code              meaning
    k, d      stiffness damping of a stop
    g         depth             how far a coordinate is beyond a limit, along the outward normal
    s         friction_speed    the speed below which dry friction behaves as a damper

With n = +1 at the upper limit and n = -1 at the lower one, the force of a stop is
-n max(0, k g + d n v) where g > 0: it pushes, never pulls.

Cost: O(N), and nothing for joints without limits or friction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from kinetree.algorithms.steps.limits import Enforcement, limited_coordinates
from kinetree.model import Model
from kinetree.model.edit import without
from kinetree.scalar import Scalar, less, maximum, select, sqrt


def limited(model: Model, limits: Enforcement) -> Model:
    """The model whose own dry friction is left out where `passive_forces` has it smoothed."""
    return without(model, "friction") if limits.friction_speed else model


def passive_forces(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], limits: Enforcement
) -> list[Scalar]:
    """What stops and smoothed friction add to the joint forces."""
    forces: list[Scalar] = [0] * model.nv
    for k, slope in _friction(model, v, limits):
        forces[k] = forces[k] - slope * v[k]
    for k, normal, depth in _stops(model, q, limits):
        forces[k] = forces[k] - normal * _pushed(depth, v[k] * normal, limits)
    return forces


def passive_slopes(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], limits: Enforcement
) -> tuple[list[Scalar], list[Scalar]]:
    """The damping and the stiffness that `passive_forces` has at a state, one entry a velocity.

    The damping of friction is that of the secant through rest, F / sqrt(v^2 + s^2): it never
    reverses a motion.
    """
    damping: list[Scalar] = [0] * model.nv
    stiffness: list[Scalar] = [0] * model.nv
    for k, slope in _friction(model, v, limits):
        damping[k] = damping[k] + slope
    for k, normal, depth in _stops(model, q, limits):
        pushes = less(0.0, _pushed(depth, v[k] * normal, limits))
        damping[k] = damping[k] + select(pushes, limits.damping, 0.0)
        stiffness[k] = stiffness[k] + select(pushes, limits.stiffness, 0.0)
    return damping, stiffness


def _pushed(depth: Scalar, speed: Scalar, limits: Enforcement) -> Scalar:
    """How hard a stop pushes; speed is that along the outward normal."""
    push = maximum(0.0, depth * limits.stiffness + speed * limits.damping)
    return select(less(0.0, depth), push, 0.0)


def _friction(
    model: Model, v: Sequence[Scalar], limits: Enforcement
) -> Iterator[tuple[int, Scalar]]:
    """Velocities with dry friction: their number, and F / sqrt(v^2 + s^2)."""
    s = limits.friction_speed
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for k in range(at.start, at.stop) if s and drive.friction else ():
            yield k, drive.friction / sqrt(v[k] * v[k] + s * s)


def _stops(
    model: Model, q: Sequence[Scalar], limits: Enforcement
) -> Iterator[tuple[int, float, Scalar]]:
    """Spring stops: the number of a velocity, the outward normal, and the depth."""
    for at, k, lower, upper in limited_coordinates(model) if limits.stops == "spring" else ():
        if math.isfinite(upper):
            yield k, 1.0, q[at] - upper
        if math.isfinite(lower):
            yield k, -1.0, lower - q[at]
