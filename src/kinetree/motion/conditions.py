"""Equalities, inequalities and bounds of states, and their terms of an augmented Lagrangian.

Source and symbols: as in `control_costs`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import texts
from kinetree.scalar import Scalar, maximum, sqrt
from kinetree.scalar.structure import flat

if TYPE_CHECKING:
    from kinetree.robot import Robot

Cost = Callable[..., Any]
"""(t, q, v, tau, pose) over scalars, or of a final state (q, v, pose)."""
LIMITS = ("q", "v")


@dataclass(frozen=True, kw_only=True)
class Demands:
    """The conditions on a motion; the arguments of `Robot.optimal_control`."""

    equalities: Cost | None = None
    inequalities: Cost | None = None
    final_equalities: Cost | None = None
    final_inequalities: Cost | None = None
    bounded: Sequence[str] = ()


class Conditions:
    """Equalities and inequalities of one kind of state, by name: equalities come first.

    Arguments:
        robot: what moves.
        equal, below: functions whose values must be zero, and must not be positive.
        bounded: which of "q" and "v" must stay within the limits of the robot.
    """

    def __init__(
        self, robot: Robot, equal: Cost | None, below: Cost | None, bounded: Sequence[str]
    ) -> None:
        self.robot, self._equal, self._below = robot, equal, below
        self.bounds = _bounds(robot, bounded)
        self.names: list[str] = []
        self.equalities = 0

    @property
    def any(self) -> bool:
        """Whether there are any conditions."""
        return bool(self.bounds) or self._equal is not None or self._below is not None

    @property
    def functions(self) -> list[Cost]:
        """The functions that the user gave."""
        return [x for x in (self._equal, self._below) if x is not None]

    def rows(self, q: Any, v: Any, call: Callable[[Cost], Any]) -> list[Scalar]:
        """All rows over scalars.

        Arguments:
            q, v: the state.
            call: calls a function with its arguments.
        """
        equal = _named("equality", self._equal, call)
        below = _named("inequality", self._below, call)
        for name, kind, k, sign, limit in self.bounds:
            x = q[k] if kind == "q" else v[k]
            below.append((name, sign * (x - limit)))
        self.equalities, self.names = len(equal), [name for name, _ in (*equal, *below)]
        return [row for _, row in (*equal, *below)]

    def residuals(self, rows: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
        """Numbers whose squares the augmented Lagrangian adds to the cost, up to constants."""
        rho, share = y[len(rows)], sqrt(2.0 * y[len(rows)])
        pushed = [m + rho * c for c, m in zip(rows, y, strict=False)]
        equal = self.equalities
        return [x / share for x in (*pushed[:equal], *(maximum(x, 0.0) for x in pushed[equal:]))]

    def augmented(self, rows: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
        """The terms of the augmented Lagrangian besides the cost."""
        rho, total = y[len(rows)], 0.0
        for k, (c, m) in enumerate(zip(rows, y, strict=False)):
            if k < self.equalities:
                total = total + m * c + 0.5 * rho * c * c
            else:
                pushed = maximum(m + rho * c, 0.0)
                total = total + (pushed * pushed - m * m) / (2.0 * rho)
        return total


def _bounds(robot: Robot, kinds: Sequence[str]) -> list[tuple[str, str, int, float, float]]:
    """Name, "q" or "v", index, sign and limit of every finite bound."""
    limits, labels, found = robot.limits, robot.labels, []
    for kind in texts("bounded", kinds):
        if not among(kind, LIMITS):
            raise unknown("bounded quantity", kind, LIMITS, "optimal_control")
        speed = limits.velocity
        low, high = (limits.lower, limits.upper) if kind == "q" else (-speed, speed)
        for k, name in enumerate(labels.q if kind == "q" else labels.v):
            what = f"{'position' if kind == 'q' else 'velocity'} limit of {name!r}"
            sides = (("lower", -1.0, low[k]), ("upper", 1.0, high[k]))
            for side, sign, limit in sides:
                if np.isfinite(limit):
                    found.append((f"the {side} {what}", kind, k, sign, float(limit)))
    return found


def _named(kind: str, given: Cost | None, call: Callable[[Cost], Any]) -> list[tuple[str, Scalar]]:
    """The rows that a function returns, with their names."""
    if given is None:
        return []
    result = call(given)
    groups = result if isinstance(result, Mapping) else {kind: result}
    found = []
    for name, group in groups.items():
        rows = flat([group])
        several = len(rows) > 1 or not isinstance(result, Mapping)
        found += [(f"{name}[{k}]" if several else str(name), x) for k, x in enumerate(rows)]
    if not found:
        raise KinetreeError(f"the function of {kind} constraints returns nothing: numbers expected")
    return found
