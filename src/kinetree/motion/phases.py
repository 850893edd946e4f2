"""Phases of a motion: which constraints act when.

A schedule is given before the motion is computed: feet stand in given intervals of time. A step
belongs to the phase in which it starts. A constraint that acts in a step but not in the one before
touches down there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import texts
from kinetree.motion.arrays import Array
from kinetree.robot.checks import number

Phases = Sequence["Phase"] | Callable[[float], Iterable[str]]
"""A list of phases, or a function from the time to names of active constraints."""
ROUNDING = 1e-6
"""In steps: the tolerance with which ends of phases are rounded to starts of steps."""


@dataclass(frozen=True)
class Phase:
    """A time in which some constraints of a robot act.

    Arguments:
        until: its end, s; it starts at the end of the phase before it.
        active: the names of the constraints that act.
    """

    until: float
    active: tuple[str, ...] = ()


class Schedule:
    """Which constraints act in each step.

    Arguments:
        names: of the constraints of the robot.
        phases: as in `Phases`; None if all act all the time.
        dt: the length of a step, s.
    """

    def __init__(self, names: Sequence[str], phases: Phases | None, dt: float) -> None:
        self.names, self.dt = tuple(names), dt
        self._at: Callable[[float], Iterable[str]] | None = None
        self.phases: tuple[Phase, ...] = ()
        if callable(phases):
            self._at = phases
        elif phases is not None:
            self.phases = self._checked(phases)

    def _checked(self, phases: Any) -> tuple[Phase, ...]:
        if not isinstance(phases, Sequence) or not all(isinstance(x, Phase) for x in phases):
            raise KinetreeError(
                "phases: a list of kinetree.Phase, or a function from the time to names of "
                f"constraints, is expected, got {phases!r:.200}"
            )
        if not phases:
            raise KinetreeError("phases: at least one kinetree.Phase is expected")
        before, found = 0.0, []
        for phase in phases:
            until = phase.until if phase.until == np.inf else number("until", phase.until)
            if not until > before:
                raise KinetreeError(
                    f"phases: each must end after the one before it; one ends at {until:g} s and "
                    f"the one before at {before:g} s"
                )
            active = texts(f"active, until {until:g} s", phase.active)
            self._check_names(active, until)
            found.append(Phase(until, active))
            before = until
        return tuple(found)

    def _check_names(self, active: Iterable[str], t: float) -> None:
        for name in active:
            if not among(name, self.names):
                raise unknown("constraint", name, self.names, f"the robot, in the phase at {t:g} s")

    def active(self, times: Array) -> Array:
        """1 for each constraint that acts in a step, and 0 for the others.

        Arguments:
            times: when steps start, s, (steps,).

        Returns:
            (steps, constraints).
        """
        sets = [self._acting(float(t)) for t in times]
        return np.array([[float(name in some) for name in self.names] for some in sets])

    def _acting(self, t: float) -> frozenset[str]:
        if self._at is not None:
            found = texts(f"phases at {t:g} s", self._at(t))
            self._check_names(found, t)
            return frozenset(found)
        if not self.phases:
            return frozenset(self.names)
        for phase in self.phases:
            if t < phase.until - ROUNDING * self.dt:
                return frozenset(phase.active)
        raise KinetreeError(
            f"phases: the last one ends at {self.phases[-1].until:g} s, and a step starts at "
            f"{t:g} s; let it last until then, or until=math.inf"
        )
