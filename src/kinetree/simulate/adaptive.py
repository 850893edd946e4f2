"""Simulation with steps as long as a tolerance allows, by SciPy's solve_ivp, of one state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.steps import Enforcement
from kinetree.errors import KinetreeError, ShapeError, among, unknown
from kinetree.kinds import instance, members
from kinetree.robot.checks import finite_array, number
from kinetree.simulate.closed_loop import Controlled, closed_loop
from kinetree.simulate.records import records
from kinetree.simulate.result import Simulation
from kinetree.simulate.start import Start
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

LONGEST = 1e9
"""Seconds, thirty years: beyond, steps of time are lost by rounding."""
METHODS = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
"""Those of `solve_ivp`."""
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
        raise ShapeError(
            f"simulate_adaptive takes one state; q0 and v0 (and p) make a batch of {state.batch}"
        )
    duration = number("time", time, above=0.0)
    if duration > LONGEST:
        raise KinetreeError(f"time must be at most {LONGEST:g} s, got {time!r:.200}")
    tolerance = number("tolerance", tolerance, above=0.0)
    if not among(method, METHODS):
        raise unknown("method", method, METHODS, "simulate_adaptive")
    seen = None if times is None else _times(times, duration)
    events = members("events", events, Callable, "a list of functions (t, q, v)")
    if instance("limits", limits, Enforcement, "a kinetree.Enforcement").stops == "clamp":
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
        (0.0, duration),
        np.concatenate([state.q[0], state.v[0], state.memory]),
        method=method,
        t_eval=seen,
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
    observed = loop.observe_kernel(found.t, q, v, *inputs, *memory)
    names = [name for name, _ in loop.observe_kernel.interface.outputs]
    arrays = dict(zip(names, observed if isinstance(observed, tuple) else (observed,), strict=True))
    return Simulation(
        found.t, {"q": q, "v": v} | arrays, None, solution, found.t_events if events else ()
    )


def _times(given: ArrayLike, duration: float) -> Array:
    """The times at which a motion is given."""
    times = finite_array("times", given, None)
    inside = times.ndim == 1 and times.size > 0 and (np.diff(times) > 0.0).all()
    if not inside or times[0] < 0.0 or times[-1] > duration:
        raise ShapeError(
            f"times must be increasing numbers of seconds from 0 to time={duration:g}, (n,), got "
            f"{given!r:.200}"
        )
    return times


def _event(event: Event, split: Callable[[Array], Any]) -> Callable[[float, Array], float]:
    def of_state(t: float, y: Array) -> float:
        q, v, _ = split(y)
        return event(t, q, v)

    for name in ("terminal", "direction"):
        if hasattr(event, name):
            setattr(of_state, name, getattr(event, name))
    return of_state
