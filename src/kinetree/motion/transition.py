"""Transitions: motions of least effort between two states.

Source: A. Witkin & M. Kass, Spacetime constraints (1988); C. Rose, B. Guenter, B. Bodenheimer & M.
Cohen, Efficient generation of motion transitions using spacetime constraints (1996); Guenter &
Rose, MSR-TR-2000-80: minimise P, the integral of the sum of squared joint forces, over the
coefficients of B-splines.

differs: the report minimises by BFGS. P is a sum of squares and splines have local support, so here
it is Newton's method with a band matrix, for many problems at once (`newton.py`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.motion.flat import Flat, states_of
from kinetree.motion.motion import Motion
from kinetree.motion.splines import scipy_module
from kinetree.motion.transition_problem import Problem
from kinetree.motion.transition_settings import Settings, checked
from kinetree.motion.transition_solver import solve
from kinetree.robot.checks import number

if TYPE_CHECKING:
    from kinetree.motion.result import Transition


LONGEST = 1e6
"""The longest duration, s."""


def transition(
    flat: Flat,
    first: Any,
    second: Any,
    duration: float | tuple[float, float],
    settings: Settings,
) -> Transition:
    """The transition of least effort; see `Robot.transition`.

    Arguments:
        flat: the robot.
        first, second, duration: as in `Robot.transition`.
        settings: everything else that it takes.
    """
    from kinetree.motion.result import Transition

    settings = checked(settings)
    if flat.original.model.constraints:
        raise KinetreeError(
            f"robot {flat.original.name!r} has constraints, which transitions do not keep: embed "
            "its loops (robot.constraints.embed), or hold frames of a robot without them (hold=)"
        )
    ends = states_of(flat.original, first, "first"), states_of(flat.original, second, "second")
    if settings.supports:  # the ground may be unable to produce recorded accelerations
        one, two = (
            end[:2] if _is_motion(given) else end
            for end, given in zip(ends, (first, second), strict=True)
        )
        ends = one, two
    began = time.perf_counter()
    if isinstance(duration, tuple):
        length = _best_duration(flat, ends, duration, settings)
    else:
        length = number("duration", duration, above=0.0)
        if length > LONGEST:
            raise KinetreeError(f"duration must be at most {LONGEST:g} s, got {length:g}")
    problem = Problem(flat, *ends, length, settings)
    start = problem.cost(problem.start())
    solutions, worst = solve(problem)
    return Transition(problem, solutions, worst, start, time.perf_counter() - began)


def _is_motion(given: Any) -> bool:
    """Whether an end is given as a motion, with or without a time."""
    return isinstance(given[0] if isinstance(given, tuple) else given, Motion)


def _best_duration(
    flat: Flat, ends: tuple[list[Array], list[Array]], between: tuple[float, float], how: Settings
) -> float:
    """The duration of least cost in an interval."""
    try:
        low, high = (number("duration", x, above=0.0) for x in between)
        ordered = low < high
    except (KinetreeError, ValueError):
        ordered = False
    if not ordered:
        raise KinetreeError(
            f"duration={between!r}: two positive times are expected, the smaller first"
        )

    def cost(duration: float) -> float:
        problem = Problem(flat, *ends, float(duration), how)
        solutions, violation = solve(problem)
        # durations in which the constraints cannot be met are penalised
        each = problem.cost(solutions.c) * (1.0 + 1e3 * violation)
        return float(each.reshape(-1, how.starts).min(axis=1).sum())

    optimize = scipy_module("optimize")
    options = {"xatol": 1e-3 * (high - low)}
    best = optimize.minimize_scalar(cost, bounds=(low, high), method="bounded", options=options)
    return float(best.x)
