"""What every back end is told of a loop over time, and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.graph.program import size
from kinetree.compiler.runtime.arrays import Shapes
from kinetree.errors import ShapeError


class Extent(NamedTuple):
    """How far a loop runs, and what it records.

    Attributes:
        systems, steps: how many.
        every: a record is made before each so many steps, beginning with the first.
        record: names of states, and of results that are not next states.
        backwards: whether series and records run from the last step to the first.
    """

    systems: int
    steps: int
    every: int
    record: tuple[str, ...]
    backwards: bool

    @property
    def times(self) -> int:
        """How many records there are."""
        return -(-self.steps // self.every)


class Rolled(NamedTuple):
    """What a loop over time gives.

    Attributes:
        final: the states at the end, by name, (systems, n).
        records: by name, (systems, times, n).
    """

    final: dict[str, np.ndarray]
    records: dict[str, np.ndarray]


@dataclass(frozen=True)
class LoopLayout:
    """Which arguments and results of a program a loop over time carries from step to step.

    Arguments:
        name: of the program, for messages.
        inputs, outputs: names and shapes. The first arguments are the states, the first results
            their next values in the same order. The last arguments are the series, which have a
            value for each step. Those between are constants.
        states: how many states there are.
        first_series: the place of the first series among the arguments.
    """

    name: str
    inputs: Shapes
    outputs: Shapes
    states: int
    first_series: int

    def check(self) -> None:
        """Refuse results that cannot be the next values of the states."""
        for (name, shape), (result, next_shape) in zip(
            self.inputs[: self.states], self.outputs[: self.states], strict=True
        ):
            if shape != next_shape:
                raise ShapeError(
                    f"{self.name}: {result} has shape {next_shape} and cannot be the next value "
                    f"of {name}, which has {shape}"
                )

    @cached_property
    def recordable(self) -> dict[str, tuple[int, ...]]:
        """The names and shapes of what can be recorded."""
        return dict(self.inputs[: self.states]) | dict(self.outputs[self.states :])

    def argument(self, xp: Any, k: int, x: Any, extent: Extent, dtype: Any) -> Any:
        """An argument as (systems, n) or, of a series, (systems, steps, n), n contiguous.

        Arguments:
            xp: NumPy or CuPy.
            k: its place.
            x: what was given.
            extent: how many systems and steps there are.
            dtype: of the loop's numbers.

        Returns:
            The array; a view if what was given serves all systems.
        """
        name, shape = self.inputs[k]
        systems, steps = extent.systems, extent.steps
        axes = (systems, steps) if k >= self.first_series else (systems,)
        core = (*axes[1:], size(shape))
        array = xp.ascontiguousarray(x, dtype)
        if array.shape == (systems, *core):
            return array
        try:
            return xp.broadcast_to(
                array.reshape(*array.shape[: array.ndim - len(shape)], size(shape)),
                (systems, *core),
            )
        except ValueError:
            raise ShapeError(
                f"{self.name}: {name} has shape {x.shape}; {(*axes, *shape)} is expected"
            ) from None

    def new_records(self, xp: Any, extent: Extent, dtype: Any) -> dict[str, Any]:
        """Arrays for records, not initialised.

        Arguments:
            xp: NumPy or CuPy.
            extent: how many there are, and of what.
            dtype: of the loop's numbers.

        Returns:
            The arrays by name, (systems, times, ...).
        """
        return {
            name: xp.empty((extent.systems, extent.times, *self.recordable[name]), dtype)
            for name in extent.record
        }

    def final(self, now: Sequence[Any], systems: int) -> dict[str, Any]:
        """The states by name.

        Arguments:
            now: the states, (systems, n) each.
            systems: how many.

        Returns:
            The same numbers with the shapes of the states, (systems, ...).
        """
        return {
            name: x.reshape(systems, *shape)
            for (name, shape), x in zip(self.inputs[: self.states], now, strict=True)
        }
