"""Simulation by steps of equal length, of one state or a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.constraints import PROJECTION, Projection, Stabilization
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.errors import KinetreeError
from kinetree.kinds import flag, members
from kinetree.model.parameters import Parameter
from kinetree.robot.checks import count, number
from kinetree.simulate.closed_loop import ClosedLoops, ControlLaw, LoopSettings, closed_loop
from kinetree.simulate.external import given_numbers, simulated_loads
from kinetree.simulate.open_loops import warn_of_open_loops
from kinetree.simulate.overlap import warn_of_overlap
from kinetree.simulate.records import records
from kinetree.simulate.result import Simulation
from kinetree.simulate.rollout import Progress, Rollout
from kinetree.simulate.start import InitialValues, Start
from kinetree.typing import StepMethod

LONGEST = 1e300
"""Seconds: larger numbers count as infinite."""

if TYPE_CHECKING:
    from kinetree.robot import Robot


@dataclass(frozen=True, kw_only=True)
class FixedSteps:
    """Steps of equal length, and what is kept of them; see `Robot.simulate`."""

    dt: float
    method: StepMethod = "auto"
    enforcement: Enforcement = FREE
    stabilization: Stabilization = PROJECTION
    contact: ContactSolver | bool | None = SOLVER
    record: Sequence[Any] = ()
    every: int = 1


def fixed(
    robot: Robot,
    loops: ClosedLoops,
    controller: ControlLaw | None,
    values: InitialValues,
    settings: FixedSteps,
    *,
    time: float,
    progress: Progress | None = None,
) -> Simulation:
    """A simulation; see `Robot.simulate`.

    Arguments:
        loops: keeps the closed loop for further simulations.
        values: where it starts.
    """
    steps = steps_of(time, settings.dt)
    check_every(settings.every, steps)
    loads = simulated_loads(robot.model, values.external)
    start = Start(robot, controller, values, steps)
    if isinstance(settings.stabilization, Projection) and not values.parameters:
        warn_of_open_loops(robot, start)
    loop = closed_loop(
        robot,
        loops,
        LoopSettings(
            controller=controller,
            p_length=start.count,
            memory=len(start.memory),
            method=settings.method,
            enforcement=settings.enforcement,
            stabilization=settings.stabilization,
            contact=settings.contact,
            records=records(robot, settings.record, controller),
            loads=loads,
            parameters=tuple(values.parameters),
        ),
    )
    if settings.contact:
        warn_of_overlap(robot, start)
    rollout = Rollout(robot, loop, steps, float(settings.dt), settings.every, start.changes)
    return rollout.run(start, progress)


def compiled(
    robot: Robot,
    loops: ClosedLoops,
    controller: ControlLaw | None,
    settings: FixedSteps,
    *,
    steps: int,
    p_length: int | None,
    series: bool,
    parameters: Sequence[Parameter],
    external: Mapping[Any, Any],
) -> Rollout:
    """A rollout; see `Robot.rollout`.

    Arguments:
        loops: as in `fixed`.
    """
    loads = simulated_loads(robot.model, external)
    steps, dt = count("steps", steps, 0), number("dt", settings.dt, above=0.0)
    if not steps * dt < LONGEST:
        raise KinetreeError(
            f"steps={steps} of dt={settings.dt!r}: a finite number of seconds is expected"
        )
    check_every(settings.every, steps)
    default_length = len(getattr(controller, "p", ()))
    inputs = default_length if p_length is None else count("p_length", p_length, 0)
    wanted = members("parameters", parameters, Parameter, "a list of a model's parameters")
    loop = closed_loop(
        robot,
        loops,
        LoopSettings(
            controller=controller,
            p_length=inputs + sum(one.count for one in loads),
            memory=len(getattr(controller, "memory", ())),
            method=settings.method,
            enforcement=settings.enforcement,
            stabilization=settings.stabilization,
            contact=settings.contact,
            records=records(robot, settings.record, controller),
            loads=loads,
            parameters=wanted,
        ),
    )
    given = given_numbers(external)
    return Rollout(robot, loop, steps, dt, settings.every, flag("series", series), given)


def check_every(every: Any, steps: int) -> None:
    """Refuse a recording interval that does not divide the number of steps."""
    whole = isinstance(every, (int, np.integer)) and not isinstance(every, bool)
    if not whole or every < 1 or steps % every:
        raise KinetreeError(
            f"every={every!r}: a whole number that divides the {steps} steps is expected"
        )


def steps_of(time: Any, dt: Any) -> int:
    """The number of steps of a duration."""
    for name, x in (("time", time), ("dt", dt)):
        real = isinstance(x, (int, float, np.integer, np.floating)) and abs(x) < LONGEST
        if not real:
            raise KinetreeError(f"{name}={x!r}: a finite number of seconds is expected")
    if dt <= 0:
        raise KinetreeError(f"dt must be positive, got {dt!r}")
    if time < 0:
        raise KinetreeError(f"time must not be negative, got {time!r}")
    steps = round(time / dt)
    if abs(steps * dt - time) > 1e-9 * max(time, dt):
        raise KinetreeError(
            f"time={time!r} is {time / dt:.6g} steps of dt={dt!r}: a whole number is expected, "
            f"such as time={steps * dt:.9g}"
        )
    return steps
