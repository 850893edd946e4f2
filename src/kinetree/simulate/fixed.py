"""Simulation by steps of equal length, of one state or a batch."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.steps import Enforcement
from kinetree.errors import KinetreeError, ShapeError, SimulationWarning, StateError
from kinetree.model.parameters import Parameter
from kinetree.simulate.closed_loop import ClosedLoop, Controlled, closed_loop
from kinetree.simulate.records import records
from kinetree.simulate.result import Simulation
from kinetree.typing import Array, ArrayLike, StepMethod

if TYPE_CHECKING:
    from kinetree.robot import Robot

Progress = Callable[[float], None]


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
    if every < 1 or steps % every:
        raise KinetreeError(
            f"every={every!r}: a whole number that divides the {steps} steps is expected"
        )
    state = State(robot, q0, v0, controller, p, inputs, parameters, steps)
    key = (controller, state.count, len(state.start), method, limits)
    loop = closed_loop(robot, known, *key, records(robot, record), tuple(parameters))
    return _run(loop, state, steps, float(dt), every, progress)


def steps_of(time: float, dt: float) -> int:
    """How many steps a time has."""
    for name, x in (("time", time), ("dt", dt)):
        if not math.isfinite(x):
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


class State:
    """Where a simulation starts, all arrays with one batch shape.

    q, v: (*batch, nq) and (*batch, nv).
    p: the controller's inputs, (*batch, np), or (*batch, steps, np) if they change.
    start: of the controller's memory, (m,).
    numbers: of the model's parameters, (*batch, n).
    """

    def __init__(
        self,
        robot: Robot,
        q0: ArrayLike,
        v0: ArrayLike,
        controller: Any,
        p: ArrayLike | None,
        inputs: ArrayLike | None,
        parameters: Mapping[Parameter, ArrayLike],
        steps: int,
    ) -> None:
        q, v = _array("q0", q0, robot.nq), _array("v0", v0, robot.nv)
        self.changes = inputs is not None
        if p is not None and self.changes:
            raise KinetreeError("p and inputs are both given: inputs are p of every step")
        default = getattr(controller, "p", np.zeros(0))
        numbers = [_numbers(robot, part, given) for part, given in parameters.items()]
        given = np.asarray(default if p is None else p, float) if inputs is None else None
        if given is None:
            given = np.asarray(inputs, float)
            if given.ndim < 2 or given.shape[-2] != steps:
                raise ShapeError(
                    f"inputs has shape {given.shape}; (..., {steps}, np) is expected, p of each "
                    "step"
                )
        self.count = given.shape[-1]
        if hasattr(controller, "p") and self.count != len(default):
            raise ShapeError(
                f"p has {self.count} numbers; {controller!r} takes {len(default)}: its "
                "pack(...) makes them from names"
            )
        own = given.shape[:-2] if self.changes else given.shape[:-1]
        try:
            batches = [q.shape[:-1], v.shape[:-1], own, *(x.shape[:-1] for x in numbers)]
            batch = np.broadcast_shapes(*batches)
        except ValueError:
            raise ShapeError(
                f"simulate: the batch shapes do not broadcast: q0 {q.shape[:-1]}, v0 "
                f"{v.shape[:-1]}, p {own}"
                + "".join(f", {x.shape[:-1]} of a parameter" for x in numbers)
            ) from None
        self.batch = batch
        self.q, self.v = (np.broadcast_to(x, (*batch, x.shape[-1])).copy() for x in (q, v))
        core = given.shape[-2:] if self.changes else given.shape[-1:]
        self.p = np.broadcast_to(given, (*batch, *core))
        self.start = np.asarray(getattr(controller, "memory", np.zeros(0)), float)
        spread = [np.broadcast_to(x, (*batch, x.shape[-1])) for x in numbers]
        self.numbers = [np.concatenate(spread, axis=-1)] if spread else []
        self.memory = np.broadcast_to(self.start, (*batch, len(self.start)))

    def at(self, k: int) -> Array:
        """The inputs of step k; those of the last one at the end."""
        return self.p[..., min(k, self.p.shape[-2] - 1), :] if self.changes else self.p

    def arguments(self, t: float, k: int) -> list[Any]:
        """What kernels take."""
        more = [self.at(k)] if self.count else []
        more += [self.memory] if len(self.start) else []
        return [t, self.q, self.v, *more, *self.numbers]


def _numbers(robot: Robot, parameter: Any, given: ArrayLike) -> Array:
    """The numbers of a parameter, if it is one of this robot."""
    if not isinstance(parameter, Parameter):
        raise KinetreeError(
            f"{parameter!r} is no parameter: Inertial(body), Payload(frame) and Placement(joint) "
            "are"
        )
    return _array(repr(parameter), given, len(parameter.nominal(robot.model)))


def _array(name: str, given: ArrayLike, length: int) -> Array:
    array = np.asarray(given, float)
    if array.shape[-1:] != (length,):
        raise ShapeError(f"{name} has shape {array.shape}; the last axis must be {length}")
    wrong = ~np.isfinite(array).all(axis=-1)
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        state = f" of environment {where[0] if len(where) == 1 else where}" if where else ""
        raise StateError(f"{name}{state} is not finite: {array[where].tolist()}")
    return array


def _run(
    loop: ClosedLoop, state: State, steps: int, dt: float, every: int, progress: Progress | None
) -> Simulation:
    """The loop over time."""
    times = np.arange(0, steps + 1, every) * dt
    arrays: dict[str, Array] = {}
    ended = np.full(state.batch, np.nan)
    names = [name for name, _ in loop.observe_kernel.interface.outputs]
    for k in range(steps + 1):
        t = k * dt
        if k % every == 0:
            seen = loop.observe_kernel(*state.arguments(t, k))
            found = dict(zip(names, seen if isinstance(seen, tuple) else (seen,), strict=True))
            _keep(arrays, k // every, len(times), state, {"q": state.q, "v": state.v} | found)
            if progress is not None:
                progress(k / steps if steps else 1.0)
        if k < steps:
            found = loop.step_kernel(*state.arguments(t, k), dt)
            state.q, state.v = found[:2]
            state.memory = found[2] if len(state.start) else state.memory
            _stop(state, ended, t + dt)
    _warn(ended)
    return Simulation(times, arrays, ended)


def _keep(
    arrays: dict[str, Array], at: int, count: int, state: State, found: dict[str, Array]
) -> None:
    """Write what was found into the arrays of results, whose time axis follows the batch."""
    axes = len(state.batch)
    for name, value in found.items():
        if name not in arrays:
            arrays[name] = np.empty((*state.batch, count, *value.shape[axes:]))
        np.moveaxis(arrays[name], axes, 0)[at] = value


def _stop(state: State, ended: Array, t: float) -> None:
    """Set environments that have left all bounds to NaN, and note when."""
    bad = ~(np.isfinite(state.q).all(axis=-1) & np.isfinite(state.v).all(axis=-1))
    if bad.any():
        state.q[bad], state.v[bad] = np.nan, np.nan
        ended[bad & np.isnan(ended)] = t


def _warn(ended: Array) -> None:
    """Say which environments diverged, and when."""
    which = np.argwhere(~np.isnan(ended))
    if which.size or (ended.ndim == 0 and not np.isnan(ended)):
        listed = [
            f"environment {i[0] if len(i) == 1 else i} at t = {ended[i]:.6g} s"
            if i
            else f"at t = {float(ended):.6g} s"
            for i in (tuple(int(x) for x in row) for row in which[:3])
        ]
        more = f" and {len(which) - 3} more" if len(which) > 3 else ""
        warnings.warn(
            f"the simulation diverged: {', '.join(listed)}{more}; its states are NaN from there. A "
            "smaller dt or another method may help",
            SimulationWarning,
            stacklevel=5,
        )
