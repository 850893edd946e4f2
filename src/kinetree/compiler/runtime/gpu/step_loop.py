"""Loops over time of long programs on a GPU: the parts of each step are launched in turn.

One launch for the whole loop would run code longer than the instruction cache. Here states pass
through the device's memory between steps. During the loop, series and records are stored step by
step, so that each launch reads and writes whole rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kinetree.compiler.graph.program import size
from kinetree.compiler.runtime.gpu.launch import (
    check_device,
    cupy,
    current_stream,
    room,
    workspace,
)
from kinetree.compiler.runtime.gpu.plan import rows
from kinetree.compiler.runtime.loop_layout import Extent, LoopLayout, Rolled

if TYPE_CHECKING:
    from kinetree.compiler.runtime.gpu.device_kernel import GpuKernel


class GpuStepLoop:
    """A program in a loop over time, as launches of its parts for each step.

    Arguments:
        layout: its arguments and results.
        kernel: one step.
    """

    def __init__(self, layout: LoopLayout, kernel: GpuKernel) -> None:
        self._layout, self._kernel = layout, kernel

    def __call__(self, arguments: Sequence[Any], extent: Extent, out: Mapping[str, Any]) -> Rolled:
        """See `runtime.backend.CompiledLoop`."""
        layout, kernel = self._layout, self._kernel
        check_device(layout.name, zip((name for name, _ in layout.inputs), arguments, strict=True))
        with room(layout.name, self._bytes(extent)):
            run = _Run(layout, kernel, arguments, extent)
            if extent.systems:
                run.steps()
            records = run.records_by_system()
        for name in records.keys() & out.keys():
            out[name][...] = records[name]
            records[name] = out[name]
        return Rolled(layout.final(run.now, extent.systems), records)

    def _bytes(self, extent: Extent) -> int:
        """The memory of records, while they are reordered."""
        of_one = sum(size(self._layout.recordable[name]) for name in extent.record)
        return 2 * extent.systems * extent.times * of_one * self._kernel.dtype.itemsize


class _Run:
    """One run of a loop: its arrays, and their addresses at each step.

    Attributes:
        now: the states, (systems, n) each.
    """

    def __init__(
        self, layout: LoopLayout, kernel: GpuKernel, arguments: Sequence[Any], extent: Extent
    ) -> None:
        cp = cupy()
        self._layout, self._kernel, self._extent = layout, kernel, extent
        dtype, systems = kernel.dtype, extent.systems
        constants = range(layout.states, layout.first_series)
        self._shared = [k for k in constants if arguments[k].shape == layout.inputs[k][1]]
        spread = [layout.argument(cp, k, x, extent, dtype) for k, x in enumerate(arguments)]
        self._constants = [
            cp.ascontiguousarray(arguments[k] if k in self._shared else spread[k], dtype)
            for k in constants
        ]
        self._series = [
            cp.ascontiguousarray(x.swapaxes(0, 1)) for x in spread[layout.first_series :]
        ]
        self.now = [cp.array(x) for x in spread[: layout.states]]
        self._next = [cp.empty_like(x) for x in self.now]
        self._seen = [
            cp.empty((systems, size(shape)), dtype) for _, shape in layout.outputs[layout.states :]
        ]
        self._records = {
            name: cp.empty((extent.times, systems, size(layout.recordable[name])), dtype)
            for name in extent.record
        }

    def steps(self) -> None:
        """Launch all steps."""
        layout, extent, kernel = self._layout, self._extent, self._kernel
        shapes = tuple(
            shape if k in self._shared else (extent.systems, *shape)
            for k, (_, shape) in enumerate(layout.inputs)
        )
        plan = kernel.plan(("loop", shapes), lambda: (tuple(map(rows, shapes)), None))
        stream = current_stream()
        memory = workspace(layout.name, plan.workspace, stream) if plan.workspace else None
        at = memory.ptr if memory is not None else 0
        now, after, constants, series, seen = (
            [x.data.ptr for x in arrays]
            for arrays in (self.now, self._next, self._constants, self._series, self._seen)
        )
        for step in range(extent.steps):
            self._record_states(step)
            of_step = self._addresses_of_step(step, series, seen)
            plan.run([*now, *constants, *of_step[0], *after, *of_step[1]], at, stream)
            self.now, self._next, now, after = self._next, self.now, after, now

    def _record_states(self, step: int) -> None:
        names = [name for name, _ in self._layout.inputs[: self._layout.states]]
        if step % self._extent.every == 0:
            for name in self._records.keys() & set(names):
                self._records[name][self._record_index(step)] = self.now[names.index(name)]

    def _addresses_of_step(
        self, step: int, series: Sequence[int], seen: Sequence[int]
    ) -> tuple[list[int], list[int]]:
        """The addresses of a step's values of series, and of its results that are not next states.

        Arguments:
            series, seen: the addresses of the series, and of results that are not recorded.
        """
        extent = self._extent
        index = extent.steps - 1 - step if extent.backwards else step
        values = [
            first + index * x.strides[0] for first, x in zip(series, self._series, strict=True)
        ]
        recorded = self._records if step % extent.every == 0 else {}
        names = [name for name, _ in self._layout.outputs[self._layout.states :]]
        results = [
            recorded[name].data.ptr + self._record_index(step) * recorded[name].strides[0]
            if name in recorded
            else unused
            for name, unused in zip(names, seen, strict=True)
        ]
        return values, results

    def _record_index(self, step: int) -> int:
        index = step // self._extent.every
        return self._extent.times - 1 - index if self._extent.backwards else index

    def records_by_system(self) -> dict[str, Any]:
        """The records by name, (systems, times, ...)."""
        extent = self._extent
        return {
            name: cupy()
            .ascontiguousarray(x.swapaxes(0, 1))
            .reshape(extent.systems, extent.times, *self._layout.recordable[name])
            for name, x in self._records.items()
        }
