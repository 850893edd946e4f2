"""Simulation with steps as long as a tolerance allows, by SciPy's solve_ivp, of one state."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.errors import KinetreeError, ShapeError
from kinetree.model.arguments import given_number
from kinetree.robot.memo import Memo
from kinetree.simulate.closed_loop import ClosedLoop, Controlled, LoopSettings, closed_loop
from kinetree.simulate.records import records
from kinetree.simulate.result import Simulation
from kinetree.simulate.start import InitialValues, Start
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

Event = Callable[[float, Array, Array], float]
"""A function of (t, q, v) whose zeros are found; its `terminal` and `direction` are SciPy's."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveSteps:
    """How long steps may be, and what is kept of them; see `Robot.simulate_adaptive`."""

    times: ArrayLike | None = None
    limits: Enforcement = FREE
    record: Sequence[Any] = ()
    events: Sequence[Event] = ()
    method: str = "DOP853"
    tolerance: float = 1e-10


def adaptive(
    robot: Robot,
    memo: Memo,
    controller: Controlled | None,
    values: InitialValues,
    settings: AdaptiveSteps,
    *,
    time: float,
) -> Simulation:
    """A simulation; see `Robot.simulate_adaptive`.

    Arguments:
        memo, values: as in `fixed.fixed`.
    """
    start = Start(robot, controller, values)
    _check(start, settings, time)
    wanted = records(robot, settings.record, controller)
    loop = closed_loop(
        robot,
        memo,
        LoopSettings(
            controller=controller,
            inputs=start.count,
            memory=len(start.memory),
            limits=settings.limits,
            records=wanted,
        ),
    )
    return _Integration(loop, start).run(settings, float(time))


def _check(start: Start, settings: AdaptiveSteps, time: float) -> None:
    """Refuse what cannot be integrated with steps of any length."""
    if start.batch:
        raise ShapeError(f"simulate_adaptive takes one state; a batch of {start.batch} was given")
    if not 0.0 < float(time) < math.inf:
        raise KinetreeError(f"time={time!r}: a number of seconds larger than zero is expected")
    if not given_number("tolerance", settings.tolerance) > 0.0:
        raise KinetreeError(
            f"tolerance={settings.tolerance!r}: a number larger than zero is expected"
        )
    if settings.limits.stops == "clamp":
        raise KinetreeError("clamped stops are made for fixed steps: take stops='spring' here")


class _Integration:
    """The differential equation of a closed loop, for SciPy: y is q, v and memory, one vector.

    Arguments:
        loop: the robot and its controller.
        start: where it starts.
    """

    def __init__(self, loop: ClosedLoop, start: Start) -> None:
        self.loop, self.start, self.robot = loop, start, loop.robot
        self.inputs = [start.p[0]] if start.count else []

    def split(self, y: Array) -> tuple[Array, Array, list[Array]]:
        """q, v and perhaps memory, from y (..., n)."""
        nq, n = self.robot.nq, self.robot.nq + self.robot.nv
        memory = [y[..., n:]] if len(self.start.memory) else []
        return y[..., :nq], y[..., nq:n], memory

    def rates(self, t: float, y: Array) -> Array:
        """The rate of y."""
        q, v, memory = self.split(y)
        return np.concatenate(self.loop.rates_kernel(t, q, v, *self.inputs, *memory))

    def event(self, event: Event) -> Callable[[float, Array], float]:
        """An event as a function of t and y, with the attributes that SciPy reads."""

        def of_state(t: float, y: Array) -> float:
            q, v, _ = self.split(y)
            return event(t, q, v)

        for name in ("terminal", "direction"):
            if hasattr(event, name):
                setattr(of_state, name, getattr(event, name))
        return of_state

    def run(self, settings: AdaptiveSteps, time: float) -> Simulation:
        """Integrate, and record."""
        from scipy.integrate import solve_ivp  # takes time to import

        start, times = self.start, settings.times
        solved = solve_ivp(
            self.rates,
            (0.0, time),
            np.concatenate([start.q[0], start.v[0], start.memory]),
            method=settings.method,
            t_eval=None if times is None else np.asarray(times, float),
            rtol=settings.tolerance,
            atol=settings.tolerance,
            dense_output=True,
            events=[self.event(event) for event in settings.events] or None,
        )
        if not solved.success:
            t = solved.t[-1]
            raise KinetreeError(f"the integration stopped at t = {t:.6g} s: {solved.message}")
        q, v, memory = self.split(solved.y.T)
        q = self.robot.normalize(q)
        recorded = self._observed(solved.t, q, v, memory)
        events = solved.t_events if settings.events else ()
        between = partial(self._state, solved.sol)
        return Simulation(solved.t, {"q": q, "v": v} | recorded, None, between, events)

    def _observed(self, t: Array, q: Array, v: Array, memory: list[Array]) -> dict[str, Array]:
        """The joint forces and what else is recorded, by name."""
        kernel = self.loop.observe_kernel
        seen = kernel(t, q, v, *self.inputs, *memory)
        names = [name for name, _ in kernel.interface.outputs]
        return dict(zip(names, seen if isinstance(seen, tuple) else (seen,), strict=True))

    def _state(self, solution: Callable[[ArrayLike], Array], t: ArrayLike) -> tuple[Array, Array]:
        """q and v at any times within the simulation, (..., nq) and (..., nv)."""
        q, v, _ = self.split(np.moveaxis(np.asarray(solution(t)), 0, -1))
        return self.robot.normalize(q), v
