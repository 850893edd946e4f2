"""Loops over time on a GPU: the whole loop is one launch, and states stay on the chip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda import style
from kinetree.compiler.emit.cuda_loop import emit_cuda_loop, loop_shape
from kinetree.compiler.emit.cuda_units import unit_count
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.program import size
from kinetree.compiler.runtime.arrays import DTYPES
from kinetree.compiler.runtime.gpu.launch import (
    Function,
    Launch,
    check_device,
    compiled,
    cupy,
    current_stream,
    room,
)
from kinetree.compiler.runtime.loop_layout import Extent, LoopLayout, Rolled


class GpuTimeLoop:
    """A program in a loop over time, compiled for the current device.

    Arguments:
        layout: its arguments and results.
        program: one step.
        kind: "double" or "float".
    """

    def __init__(self, layout: LoopLayout, program: Program, kind: str) -> None:
        self._layout, self._dtype = layout, DTYPES[kind]
        self._series = len(layout.inputs) - layout.first_series
        self._lowered = lower(program, style(kind, program.guarded))
        self._shape = loop_shape(self._lowered, self._series)
        self._functions: dict[tuple[tuple[str, ...], tuple[int, ...], bool], Function] = {}

    def __call__(self, arguments: Sequence[Any], extent: Extent, out: Mapping[str, Any]) -> Rolled:
        """See `runtime.backend.CompiledLoop`. Records are written to new arrays, then copied."""
        cp, layout = cupy(), self._layout
        check_device(layout.name, zip((name for name, _ in layout.inputs), arguments, strict=True))
        constants = range(layout.states, layout.first_series)
        shared = tuple(k for k in constants if arguments[k].shape == layout.inputs[k][1])
        arrays = [
            cp.asarray(x, self._dtype).ravel()
            if k in shared
            else cp.ascontiguousarray(layout.argument(cp, k, x, extent, self._dtype))
            for k, x in enumerate(arguments)
        ]
        with room(layout.name, self._bytes(extent)):
            records = layout.new_records(cp, extent, self._dtype)
            now = [cp.empty_like(x) for x in arrays[: layout.states]]
        if extent.systems:
            counts = (extent.systems, extent.steps, extent.every)
            blocks = -(-extent.systems // self._shape.threads)
            function = self._function(extent.record, shared, extent.backwards)
            addresses = [x.data.ptr for x in (*arrays, *now, *records.values())]
            values = [*addresses, *counts]
            Launch(function, blocks, len(values)).set(values).on(current_stream())
        for name in records.keys() & out.keys():
            out[name][...] = records[name]
            records[name] = out[name]
        return Rolled(layout.final(now, extent.systems), records)

    def _bytes(self, extent: Extent) -> int:
        """The memory of records."""
        of_one = sum(size(self._layout.recordable[name]) for name in extent.record)
        return extent.systems * extent.times * of_one * self._dtype.itemsize

    def _function(
        self, record: tuple[str, ...], shared: tuple[int, ...], backwards: bool
    ) -> Function:
        """The kernel for these records, where some constants have one row for all systems."""
        key = (record, shared, backwards)
        if key not in self._functions:
            name = identifier(self._layout.name)
            states = self._layout.states
            text = emit_cuda_loop(self._lowered, name, states, self._series, *key)
            self._functions[key] = compiled(name, text, self._shape, unit_count(self._lowered))
        return self._functions[key]
