"""Loops over time of long programs on a GPU: the parts of one step are launched after another.

One launch for the whole loop would run code that is longer than the instruction cache. Here states
pass through the device's memory between steps. Series and records lie step by step while the loop
runs, so that each launch reads and writes whole rows.
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
    """One run of a loop: its arrays, and where each step finds them.

    Attributes:
        now: the states, (systems, n) each.
    """

    def __init__(
        self, layout: LoopLayout, kernel: GpuKernel, arguments: Sequence[Any], extent: Extent
    ) -> None:
        cp = cupy()
        self._layout, self._kernel, self._extent = layout, kernel, extent
        dtype, systems = kernel.dtype, extent.systems
        self._constants = [
            cp.ascontiguousarray(x, dtype)
            if x.shape == layout.inputs[k][1]
            else cp.ascontiguousarray(layout.argument(cp, k, x, extent, dtype))
            for k, x in enumerate(arguments)
            if layout.states <= k < layout.first_series
        ]
        spread = [layout.argument(cp, k, x, extent, dtype) for k, x in enumerate(arguments)]
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
        shared = [
            shape if x.ndim == len(shape) and x.shape == shape else (extent.systems, *shape)
            for x, (_, shape) in zip(
                self._constants, layout.inputs[layout.states : layout.first_series], strict=True
            )
        ]
        states, series = (
            [(extent.systems, *shape) for _, shape in side]
            for side in (layout.inputs[: layout.states], layout.inputs[layout.first_series :])
        )
        shapes = (*states, *shared, *series)
        plan = kernel.plan(("loop", shapes), lambda: (tuple(map(rows, shapes)), None))
        stream = current_stream()
        memory = workspace(layout.name, plan.workspace, stream) if plan.workspace else None
        at = memory.ptr if memory is not None else 0
        for step in range(extent.steps):
            self._record_states(step)
            inputs = [*self.now, *self._constants, *self._series_at(step)]
            results = [*self._next, *self._seen_at(step)]
            plan.run([x.data.ptr for x in (*inputs, *results)], at, stream)
            self.now, self._next = self._next, self.now

    def _record_states(self, step: int) -> None:
        names = [name for name, _ in self._layout.inputs[: self._layout.states]]
        if step % self._extent.every == 0:
            for name in self._records.keys() & set(names):
                self._records[name][self._record_index(step)] = self.now[names.index(name)]

    def _series_at(self, step: int) -> list[Any]:
        index = self._extent.steps - 1 - step if self._extent.backwards else step
        return [x[index] for x in self._series]

    def _seen_at(self, step: int) -> list[Any]:
        """Where results that are no next states go: into their records, if this step has one."""
        recorded = step % self._extent.every == 0
        names = [name for name, _ in self._layout.outputs[self._layout.states :]]
        return [
            self._records[name][self._record_index(step)]
            if recorded and name in self._records
            else unused
            for name, unused in zip(names, self._seen, strict=True)
        ]

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
