"""Loops over time on a GPU: the whole loop is one launch, and states stay on the chip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda import style
from kinetree.compiler.emit.cuda_loop import emit_cuda_loop, loop_shape
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.runtime.arrays import DTYPES
from kinetree.compiler.runtime.gpu.launch import compiled, cupy, launch
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
        self._lowered = lower(program, style(kind))
        self._shape = loop_shape(self._lowered, self._series)
        self._functions: dict[tuple[tuple[str, ...], tuple[int, ...], bool], Any] = {}

    def __call__(self, arguments: Sequence[Any], extent: Extent, out: Mapping[str, Any]) -> Rolled:
        """See `runtime.backend.CompiledLoop`. Records are new arrays and then copied."""
        cp, layout = cupy(), self._layout
        constants = range(layout.states, layout.first_series)
        shared = tuple(k for k in constants if arguments[k].shape == layout.inputs[k][1])
        arrays = [
            cp.asarray(x, self._dtype).ravel()
            if k in shared
            else cp.ascontiguousarray(layout.argument(cp, k, x, extent, self._dtype))
            for k, x in enumerate(arguments)
        ]
        records = layout.new_records(cp, extent, self._dtype)
        now = [cp.empty_like(x) for x in arrays[: layout.states]]
        if extent.systems:
            counts = (extent.systems, extent.steps, extent.every)
            numbers = tuple(map(cp.int64, counts))
            given = (*arrays, *now, *records.values(), *numbers)
            blocks = -(-extent.systems // self._shape.threads)
            function = self._function(extent.record, shared, extent.backwards)
            launch(layout.name, function, blocks, self._shape, given)
        for name in records.keys() & out.keys():
            out[name][...] = records[name]
            records[name] = out[name]
        return Rolled(layout.final(now, extent.systems), records)

    def _function(self, record: tuple[str, ...], shared: tuple[int, ...], backwards: bool) -> Any:
        """CuPy's kernel for these records, where some constants have one row for all systems."""
        key = (record, shared, backwards)
        if key not in self._functions:
            name = identifier(self._layout.name)
            states = self._layout.states
            text = emit_cuda_loop(self._lowered, name, states, self._series, *key)
            self._functions[key] = compiled(name, text, self._shape)
        return self._functions[key]
