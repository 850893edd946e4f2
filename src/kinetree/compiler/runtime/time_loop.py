"""Programs in a loop over time: what one step gives is what the next one takes.

Every back end has such a loop of its own: machine code that takes each tile of systems through time
before the next one (`cpu.machine_loop`), one launch on a GPU (`gpu.device_loop`), or a loop of
Python (`interpreter`). The arrays choose among them, as they do for single calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.runtime.arrays import kind_of_numbers
from kinetree.compiler.runtime.backend import CompiledLoop, device_of
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.loop_layout import Extent, LoopLayout, Rolled
from kinetree.errors import among, unknown


class TimeLoop:
    """A kernel in a loop over time.

    Arguments:
        kernel: one step. Its first arguments are the states, its first results their next values in
            the same order. Its last arguments are the series.
        states: how many states there are.
        series: how many arguments have a value for each step.
    """

    def __init__(self, kernel: Kernel, states: int, series: int = 0) -> None:
        self.kernel = kernel
        inputs, outputs = kernel.interface.inputs, kernel.interface.outputs
        self.layout = LoopLayout(kernel.name, inputs, outputs, states, len(inputs) - series)
        self.layout.check()
        self._compiled: dict[tuple[str, str], CompiledLoop] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        layout = self.layout
        return (TimeLoop, (self.kernel, layout.states, len(layout.inputs) - layout.first_series))

    def __call__(
        self,
        arguments: Sequence[np.ndarray],
        systems: int,
        steps: int,
        every: int = 1,
        record: Sequence[str] = (),
        out: Mapping[str, np.ndarray] | None = None,
        backwards: bool = False,
    ) -> Rolled:
        """Run systems through time.

        Arguments:
            arguments: those of the kernel, (systems, n), or (n,) where it is the same for all; of
                series, (systems, steps, n) or (steps, n).
            systems, steps: how many.
            every: record before each so many steps, beginning with the first.
            record: names of states, and of results that are not next states.
            out: arrays for records, by name; the elements of one time lie side by side. New ones by
                default.
            backwards: whether series and records run from the last step to the first.
        """
        for name in record:
            if not among(name, self.layout.recordable):
                raise unknown("record", name, self.layout.recordable, self.kernel.name)
        loop = self._loop(device_of(arguments[0]), kind_of_numbers(arguments))
        extent = Extent(systems, steps, every, tuple(record), backwards)
        return loop(arguments, extent, out or {})

    def _loop(self, device: str, kind: str) -> CompiledLoop:
        key = device, kind
        if key not in self._compiled:
            self._compiled[key] = self.kernel.compiled_on(device, kind).loop(self.layout)
        return self._compiled[key]
