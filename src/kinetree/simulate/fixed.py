"""Simulation by steps of equal length, of one state or a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.steps import Enforcement
from kinetree.errors import KinetreeError
from kinetree.kinds import flag, members
from kinetree.model.parameters import Parameter
from kinetree.robot.checks import count, number
from kinetree.simulate.closed_loop import Controlled, closed_loop
from kinetree.simulate.records import records
from kinetree.simulate.result import Simulation
from kinetree.simulate.rollout import Progress, Rollout
from kinetree.simulate.start import Start
from kinetree.typing import ArrayLike, StepMethod

LONGEST = 1e300
"""Seconds: larger numbers are taken for infinite."""

if TYPE_CHECKING:
    from kinetree.robot import Robot


def fixed(
    robot: Robot,
    known: dict[Any, Any],
    q0: ArrayLike,
    v0: ArrayLike,
    controller: Controlled | None,
    time: float,
    dt: float,
    method: StepMethod,
    limits: Enforcement,
    record: Sequence[Any],
    every: int,
    p: ArrayLike | None,
    inputs: ArrayLike | None,
    parameters: Mapping[Parameter, ArrayLike],
    progress: Progress | None,
) -> Simulation:
    """A simulation; see `Robot.simulate`."""
    steps = steps_of(time, dt)
    check_every(every, steps)
    start = Start(robot, q0, v0, controller, p, inputs, parameters, steps)
    key = (controller, start.count, len(start.memory), method, limits)
    loop = closed_loop(robot, known, *key, records(robot, record, controller), tuple(parameters))
    return Rollout(robot, loop, steps, float(dt), every, start.changes).run(start, progress)


def compiled(
    robot: Robot,
    known: dict[Any, Any],
    controller: Controlled | None,
    steps: int,
    dt: float,
    method: StepMethod,
    limits: Enforcement,
    record: Sequence[Any],
    every: int,
    inputs: int | None,
    series: bool,
    parameters: Sequence[Parameter],
) -> Rollout:
    """A rollout; see `Robot.rollout`."""
    steps = count("steps", steps, 0)
    if not steps * number("dt", dt, above=0.0) < LONGEST:
        raise KinetreeError(f"steps={steps} of dt={dt!r}: a finite number of seconds is expected")
    check_every(every, steps)
    numbers = len(getattr(controller, "p", ())) if inputs is None else count("inputs", inputs, 0)
    parameters = members("parameters", parameters, Parameter, "a list of a model's parameters")
    memory = len(getattr(controller, "memory", ()))
    key = (controller, numbers, memory, method, limits)
    loop = closed_loop(robot, known, *key, records(robot, record, controller), parameters)
    return Rollout(robot, loop, steps, float(dt), every, flag("series", series))


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
