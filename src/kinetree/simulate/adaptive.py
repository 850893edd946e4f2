"""Simulation with steps as long as a tolerance allows, by SciPy's solve_ivp, of one state."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.steps import Enforcement
from kinetree.errors import KinetreeError, ShapeError
from kinetree.model.arguments import given_number
from kinetree.simulate.closed_loop import Controlled, closed_loop
from kinetree.simulate.records import records
from kinetree.simulate.result import Simulation
from kinetree.simulate.start import Start
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

Event = Callable[[float, Array, Array], float]
"""A function of (t, q, v) whose zeros are found; its `terminal` and `direction` are SciPy's."""


def adaptive(
    robot: Robot,
    known: dict[Any, Any],
    q0: ArrayLike,
    v0: ArrayLike,
    controller: Controlled | None,
    time: float,
    times: ArrayLike | None,
    limits: Enforcement,
    record: Sequence[Any],
    p: ArrayLike | None,
    events: Sequence[Event],
    method: str,
    tolerance: float,
) -> Simulation:
    """A simulation; see `Robot.simulate_adaptive`."""
    state = Start(robot, q0, v0, controller, p, None, {}, 0)
    if state.batch:
        raise ShapeError(f"simulate_adaptive takes one state; a batch of {state.batch} was given")
    if not 0.0 < float(time) < math.inf:
        raise KinetreeError(f"time={time!r}: a number of seconds larger than zero is expected")
    if not given_number("tolerance", tolerance) > 0.0:
        raise KinetreeError(f"tolerance={tolerance!r}: a number larger than zero is expected")
    if limits.stops == "clamp":
        raise KinetreeError("clamped stops are made for fixed steps: take stops='spring' here")
    wanted, nq, nv = records(robot, record, controller), robot.nq, robot.nv
    loop = closed_loop(
        robot, known, controller, state.count, len(state.memory), "auto", limits, wanted
    )
    inputs = [state.p[0]] if state.count else []

    def split(y: Array) -> tuple[Array, Array, list[Array]]:
        return y[:nq], y[nq : nq + nv], [y[nq + nv :]] if len(state.memory) else []

    def rates(t: float, y: Array) -> Array:
        q, v, memory = split(y)
        return np.concatenate(loop.rates_kernel(t, q, v, *inputs, *memory))

    from scipy.integrate import solve_ivp  # takes time to import

    found = solve_ivp(
        rates,
        (0.0, float(time)),
        np.concatenate([state.q[0], state.v[0], state.memory]),
        method=method,
        t_eval=None if times is None else np.asarray(times, float),
        rtol=tolerance,
        atol=tolerance,
        dense_output=True,
        events=[_event(event, split) for event in events] or None,
    )
    if not found.success:
        raise KinetreeError(f"the integration stopped at t = {found.t[-1]:.6g} s: {found.message}")

    def solution(t: ArrayLike) -> tuple[Array, Array]:
        """q and v at any times within the simulation, (..., nq) and (..., nv)."""
        y = np.moveaxis(np.asarray(found.sol(t)), 0, -1)
        return robot.normalize(y[..., :nq]), y[..., nq : nq + nv]

    y = found.y.T
    q, v = robot.normalize(y[:, :nq]), y[:, nq : nq + nv]
    memory = [y[:, nq + nv :]] if len(state.memory) else []
    seen = loop.observe_kernel(found.t, q, v, *inputs, *memory)
    names = [name for name, _ in loop.observe_kernel.interface.outputs]
    arrays = dict(zip(names, seen if isinstance(seen, tuple) else (seen,), strict=True))
    return Simulation(
        found.t, {"q": q, "v": v} | arrays, None, solution, found.t_events if events else ()
    )


def _event(event: Event, split: Callable[[Array], Any]) -> Callable[[float, Array], float]:
    def of_state(t: float, y: Array) -> float:
        q, v, _ = split(y)
        return event(t, q, v)

    for name in ("terminal", "direction"):
        if hasattr(event, name):
            setattr(of_state, name, getattr(event, name))
    return of_state
