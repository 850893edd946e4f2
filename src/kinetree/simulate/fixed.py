"""Simulation by steps of equal length, of one state or a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.errors import KinetreeError
from kinetree.kinds import flag, members
from kinetree.model.parameters import Parameter
from kinetree.robot.checks import count, number
from kinetree.robot.memo import Memo
from kinetree.simulate.closed_loop import Controlled, LoopSettings, closed_loop
from kinetree.simulate.records import records
from kinetree.simulate.result import Simulation
from kinetree.simulate.rollout import Progress, Rollout
from kinetree.simulate.start import InitialValues, Start
from kinetree.typing import StepMethod

LONGEST = 1e300
"""Seconds: larger numbers are taken for infinite."""

if TYPE_CHECKING:
    from kinetree.robot import Robot


@dataclass(frozen=True, kw_only=True)
class FixedSteps:
    """Steps of equal length, and what is kept of them; see `Robot.simulate`."""

    dt: float
    method: StepMethod = "auto"
    limits: Enforcement = FREE
    record: Sequence[Any] = ()
    every: int = 1


def fixed(
    robot: Robot,
    memo: Memo,
    controller: Controlled | None,
    values: InitialValues,
    settings: FixedSteps,
    *,
    time: float,
    progress: Progress | None = None,
) -> Simulation:
    """A simulation; see `Robot.simulate`.

    Arguments:
        memo: keeps the closed loop for further simulations.
        values: where it starts.
    """
    steps = steps_of(time, settings.dt)
    check_every(settings.every, steps)
    start = Start(robot, controller, values, steps)
    loop = closed_loop(
        robot,
        memo,
        LoopSettings(
            controller=controller,
            inputs=start.count,
            memory=len(start.memory),
            method=settings.method,
            limits=settings.limits,
            records=records(robot, settings.record, controller),
            parameters=tuple(values.parameters),
        ),
    )
    rollout = Rollout(robot, loop, steps, float(settings.dt), settings.every, start.changes)
    return rollout.run(start, progress)


def compiled(
    robot: Robot,
    memo: Memo,
    controller: Controlled | None,
    settings: FixedSteps,
    *,
    steps: int,
    inputs: int | None,
    series: bool,
    parameters: Sequence[Parameter],
) -> Rollout:
    """A rollout; see `Robot.rollout`.

    Arguments:
        memo: as in `fixed`.
    """
    steps, dt = count("steps", steps, 0), number("dt", settings.dt, above=0.0)
    if not steps * dt < LONGEST:
        raise KinetreeError(
            f"steps={steps} of dt={settings.dt!r}: a finite number of seconds is expected"
        )
    check_every(settings.every, steps)
    own = len(getattr(controller, "p", ()))
    wanted = members("parameters", parameters, Parameter, "a list of a model's parameters")
    loop = closed_loop(
        robot,
        memo,
        LoopSettings(
            controller=controller,
            inputs=own if inputs is None else count("inputs", inputs, 0),
            memory=len(getattr(controller, "memory", ())),
            method=settings.method,
            limits=settings.limits,
            records=records(robot, settings.record, controller),
            parameters=wanted,
        ),
    )
    return Rollout(robot, loop, steps, dt, settings.every, flag("series", series))


def check_every(every: Any, steps: int) -> None:
    """Refuse what does not divide the steps."""
    whole = isinstance(every, (int, np.integer)) and not isinstance(every, bool)
    if not whole or every < 1 or steps % every:
        raise KinetreeError(
            f"every={every!r}: a whole number that divides the {steps} steps is expected"
        )


def steps_of(time: Any, dt: Any) -> int:
    """How many steps a time has."""
    for name, x in (("time", time), ("dt", dt)):
        real = isinstance(x, (int, float, np.integer, np.floating)) and abs(x) < LONGEST
        if not real:
            raise KinetreeError(f"{name}={x!r}: a finite number of seconds is expected")
    if dt <= 0:
        raise KinetreeError(f"dt={dt!r}: a step longer than zero is expected, s")
    if time < 0:
        raise KinetreeError(f"time={time!r}: zero or more seconds are expected")
    steps = round(time / dt)
    if abs(steps * dt - time) > 1e-9 * max(time, dt):
        raise KinetreeError(
            f"time={time!r} is {time / dt:.6g} steps of dt={dt!r}: a whole number is expected, "
            f"such as time={steps * dt:.9g}"
        )
    return steps
