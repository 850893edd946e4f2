"""Loops over time on a GPU: the whole loop is one launch, and states stay on the chip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda import style
from kinetree.compiler.emit.cuda_loop import emit_cuda_loop, loop_shape
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.runtime.gpu.device_kernel import compiled, cupy, launch
from kinetree.compiler.runtime.kernel import Kernel


class GpuTimeLoop:
    """A kernel in a loop over time, compiled for the current device and one kind of number.

    Arguments:
        kernel: one step, as in `TimeLoop`.
        states, series: how many arguments are states, and how many of the last ones series.
        kind: "double" or "float".
    """

    def __init__(self, kernel: Kernel, states: int, series: int, kind: str) -> None:
        self.kernel, self.states, self.series = kernel, states, series
        self.lowered = lower(kernel.program, style(kind))
        self.shape = loop_shape(self.lowered, series)
        self._functions: dict[Any, Any] = {}

    def __call__(
        self,
        arrays: Sequence[Any],
        shared: tuple[int, ...],
        systems: int,
        steps: int,
        every: int,
        records: dict[str, Any],
    ) -> list[Any]:
        """Run systems through time; returns the final states, (systems, n).

        Arguments:
            arrays: the arguments, (systems, n), of series (systems, steps, n), in C order.
            shared: the constants of which there is one row for all systems.
            every: record before each so many steps.
            records: arrays for records, (systems, times, n), in C order, by name.
        """
        cp = cupy()
        final = [cp.empty_like(x) for x in arrays[: self.states]]
        key = (tuple(records), shared)
        if key not in self._functions:
            self._functions[key] = self._compiled(*key)
        if systems:
            numbers = (cp.int64(systems), cp.int64(steps), cp.int64(every))
            given = (*arrays, *final, *records.values(), *numbers)
            blocks = -(-systems // self.shape.threads)
            launch(self.kernel.name, self._functions[key], blocks, self.shape, given)
        return final

    def _compiled(self, record: tuple[str, ...], shared: tuple[int, ...]) -> Any:
        name = identifier(self.kernel.name)
        text = emit_cuda_loop(self.lowered, name, self.states, self.series, record, shared)
        return compiled(name, text, self.shape)
