"""Simulation with steps as long as a tolerance allows, by SciPy's solve_ivp, of one state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.constraints import NO_STABILIZATION, Baumgarte, Projection
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.errors import KinetreeError, ShapeError, among, unknown
from kinetree.kinds import instance, members
from kinetree.robot.checks import finite_array, number
from kinetree.simulate.closed_loop import (
    ClosedLoop,
    ClosedLoops,
    ControlLaw,
    LoopSettings,
    closed_loop,
)
from kinetree.simulate.external import simulated_loads
from kinetree.simulate.records import records
from kinetree.simulate.result import Simulation
from kinetree.simulate.start import InitialValues, Start
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

LONGEST = 1e9
"""Seconds, thirty years: beyond this, rounding swallows the time steps."""
METHODS = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
"""The methods of `solve_ivp`."""
Event = Callable[[float, Array, Array], float]
"""A function of (t, q, v) whose zeros are found; its `terminal` and `direction` are SciPy's."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveSteps:
    """How long steps may be, and what is kept of them; see `Robot.simulate_adaptive`."""

    times: ArrayLike | None = None
    enforcement: Enforcement = FREE
    stabilization: Baumgarte = NO_STABILIZATION
    contact: ContactSolver | bool | None = SOLVER
    record: Sequence[Any] = ()
    events: Sequence[Event] = ()
    method: str = "DOP853"
    tolerance: float = 1e-10


def adaptive(
    robot: Robot,
    loops: ClosedLoops,
    controller: ControlLaw | None,
    values: InitialValues,
    settings: AdaptiveSteps,
    *,
    time: float,
) -> Simulation:
    """A simulation; see `Robot.simulate_adaptive`.

    Arguments:
        loops, values: as in `fixed.fixed`.
    """
    loads = simulated_loads(robot.model, values.external)
    start = Start(robot, controller, values)
    if start.batch:
        raise ShapeError(
            f"simulate_adaptive takes one state; q0 and v0 (and p) make a batch of {start.batch}"
        )
    duration = _duration(time)
    settings = _checked(settings, duration)
    loop = closed_loop(
        robot,
        loops,
        LoopSettings(
            controller=controller,
            p_length=start.count,
            memory=len(start.memory),
            enforcement=settings.enforcement,
            stabilization=settings.stabilization,
            contact=settings.contact,
            records=records(robot, settings.record, controller),
            loads=loads,
        ),
    )
    return _Integration(loop, start).run(settings, duration)


def _checked(settings: AdaptiveSteps, duration: float) -> AdaptiveSteps:
    """The settings, checked for a simulation of this duration, s."""
    if not among(settings.method, METHODS):
        raise unknown("method", settings.method, METHODS, "simulate_adaptive")
    stops = instance(
        "enforcement", settings.enforcement, Enforcement, "a kinetree.Enforcement"
    ).stops
    if stops == "clamp":
        raise KinetreeError("stops='clamp' needs fixed steps: use stops='spring' here")
    if isinstance(settings.stabilization, Projection):
        raise KinetreeError(
            f"stabilization={settings.stabilization!r} needs fixed steps: use "
            "kinetree.Baumgarte(rate=...) here"
        )
    return replace(
        settings,
        tolerance=number("tolerance", settings.tolerance, above=0.0),
        times=None if settings.times is None else _times(settings.times, duration),
        events=members("events", settings.events, Callable, "a list of functions (t, q, v)"),
    )


def _duration(time: Any) -> float:
    """How long a simulation lasts, s."""
    duration = number("time", time, above=0.0)
    if duration > LONGEST:
        raise KinetreeError(f"time must be at most {LONGEST:g} s, got {time!r:.200}")
    return duration


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


class _Integration:
    """The differential equation of a closed loop, for SciPy: y is q, v and memory, one vector.

    Arguments:
        loop: the robot and its controller.
        start: where it starts.
    """

    def __init__(self, loop: ClosedLoop, start: Start) -> None:
        self.loop, self.start, self.robot = loop, start, loop.robot
        self._p = [start.p[0]] if start.count else []

    def split(self, y: Array) -> tuple[Array, Array, list[Array]]:
        """q, v and perhaps memory, from y (..., n)."""
        nq, n = self.robot.nq, self.robot.nq + self.robot.nv
        memory = [y[..., n:]] if len(self.start.memory) else []
        return y[..., :nq], y[..., nq:n], memory

    def rates(self, t: float, y: Array) -> Array:
        """The rate of y."""
        q, v, memory = self.split(y)
        return np.concatenate(self.loop.rates_kernel(t, q, v, *self._p, *memory))

    def event(self, event: Event) -> Callable[[float, Array], float]:
        """An event as a function of t and y, with the attributes that SciPy reads."""

        def of_state(t: float, y: Array) -> float:
            q, v, _ = self.split(y)
            return event(t, q, v)

        for name in ("terminal", "direction"):
            if hasattr(event, name):
                setattr(of_state, name, getattr(event, name))
        return of_state

    def run(self, settings: AdaptiveSteps, duration: float) -> Simulation:
        """Integrate, and record."""
        from scipy.integrate import solve_ivp  # takes time to import

        start = self.start
        solved = solve_ivp(
            self.rates,
            (0.0, duration),
            np.concatenate([start.q[0], start.v[0], start.memory]),
            method=settings.method,
            t_eval=settings.times,
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
        seen = kernel(t, q, v, *self._p, *memory)
        names = [name for name, _ in kernel.interface.outputs]
        return dict(zip(names, seen if isinstance(seen, tuple) else (seen,), strict=True))

    @through_numpy
    def _state(self, solution: Callable[[ArrayLike], Array], t: ArrayLike) -> tuple[Array, Array]:
        """q and v at any times within the simulation, (..., nq) and (..., nv)."""
        q, v, _ = self.split(np.moveaxis(np.asarray(solution(t)), 0, -1))
        return self.robot.normalize(q), v
