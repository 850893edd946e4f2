"""What a rollout is made for, and its starts, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.errors import KinetreeError, ShapeError
from kinetree.kinds import mapping
from kinetree.simulate.closed_loop import ClosedLoop
from kinetree.simulate.start import InitialValues, Start, check_names
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


class RolloutCore:
    """A robot under a controller for some steps.

    Arguments:
        robot: what moves.
        loop: the robot, its controller, its step, and what is recorded.
        steps, dt, every: the number of steps, their length in s, and the number of steps between
            records.
        series: whether the controller's inputs have a value for each step.
        external: the external loads that are numbers, where a call gives none.
    """

    def __init__(
        self,
        robot: Robot,
        loop: ClosedLoop,
        steps: int,
        dt: float,
        every: int,
        series: bool,
        external: Mapping[Any, ArrayLike] | None = None,
    ) -> None:
        self.robot, self.loop, self.series = robot, loop, series
        self._external = dict(external or {})
        self.steps, self.dt, self.every = steps, dt, every

    def _start(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        p: ArrayLike | None,
        parameters: Any,
        external: Any = None,
    ) -> Start:
        numbers = mapping("parameters", parameters, "arrays by parameters of the model")
        other = {} if external is None else external
        check_names("external", other, list(self._external))
        loads = self._external | other
        values = InitialValues(
            q0=q0, v0=v0, p=p, series=self.series, parameters=numbers, external=loads
        )
        start = Start(self.robot, self.loop.controller, values, self.steps)
        self._check_counts(start, tuple(numbers))
        return start

    def _check_counts(self, start: Start, parameters: tuple[Any, ...]) -> None:
        """Refuse inputs and parameters that the rollout was not compiled for."""
        loads = self.loop.load_numbers
        expected = (self.loop.lengths.get("p") or 0) - loads
        if start.count - loads != expected:
            raise ShapeError(f"p has {start.count - loads} numbers; this rollout takes {expected}")
        if parameters != self.loop.parameters:
            wanted = ", ".join(map(repr, self.loop.parameters)) or "none"
            raise KinetreeError(
                f"parameters are {', '.join(map(repr, parameters)) or 'none'}; this rollout "
                f"takes {wanted}"
            )

    def _time_loop(self, make: Callable[..., TimeLoop], *settings: bool) -> TimeLoop:
        """A loop over time, which other rollouts of the closed loop share."""
        return self.loop.time_loops.recall((make, settings), lambda: make(self.loop, *settings))
