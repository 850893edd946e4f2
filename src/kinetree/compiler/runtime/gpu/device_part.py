"""A program in parts for a GPU: each is one CUDA kernel, and one launch.

A multiprocessor's instruction cache has 128 KiB. Longer code runs at a fraction of the speed,
because warps stall on instruction fetches most of the time. So long programs are split into parts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda import emit_cuda, style
from kinetree.compiler.emit.cuda_layout import Layout, Rows, launch_shape
from kinetree.compiler.emit.cuda_units import unit_count
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.parts import ProgramPart, Segment, split
from kinetree.compiler.graph.program import size
from kinetree.compiler.runtime.gpu.launch import Function, compiled

LIMIT = {"float": 8_000, "double": 4_500}
"""The most operations of a part. In double precision values need twice the registers, and longer
code spills more of them."""
LOOP_LIMIT = {"float": 4_000, "double": 4_500}
"""The most operations of a step in a loop over time that is one launch. For more, the parts of each
step are launched separately."""


class Given(NamedTuple):
    """The layouts of a call's arrays.

    shared: the arguments that are the same for all states.
    columns, result_columns: the arguments, and the results, that are stored column by column: all
        states' first elements, then all second ones (transposed views).
    """

    shared: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    result_columns: tuple[int, ...] = ()


ROWS = Given()


class GpuPart:
    """One launch.

    Arguments:
        part: the part of the program.
        whole: the program.
        kind: "double" or "float".
    """

    def __init__(self, part: ProgramPart, whole: Program, kind: str) -> None:
        self.inputs, self.outputs = part.inputs, part.outputs
        self.name = part.program.name
        self.lowered = lower(part.program, style(kind, part.program.guarded))
        self.lengths = [size(i.shape) for i in whole.inputs], [size(o.shape) for o in whole.outputs]
        self.shape = launch_shape(self.lowered, self.layout(Given()))
        self._functions: dict[tuple[tuple[int, ...], Layout], Function] = {}

    def layout(self, given: Given) -> Layout:
        """The memory layouts of its arguments and results."""
        sides = (
            (self.inputs, self.lengths[0], given.columns),
            (self.outputs, self.lengths[1], given.result_columns),
        )
        return Layout(*(tuple(_layout(s, n, c) for s in segments) for segments, n, c in sides))

    def function(self, given: Given) -> Function:
        """The kernel for arrays of this kind, on the current device."""
        own = tuple(k for k, s in enumerate(self.inputs) if s.array in given.shared)
        key = (own, self.layout(given))
        if key not in self._functions:
            name = identifier(self.name)
            text = emit_cuda(self.lowered, name, *key)
            self._functions[key] = compiled(name, text, self.shape, unit_count(self.lowered))
        return self._functions[key]

    def text(self) -> str:
        """CUDA C++ for arrays of rows."""
        return emit_cuda(self.lowered, identifier(self.name), (), self.layout(ROWS))


def source(program: Program, kind: str) -> str:
    """CUDA C++ of a program for arrays of rows: one text for each part, as NVRTC compiles them.

    A comment before each has its launch configuration.

    Arguments:
        kind: "double" or "float".
    """
    parts = [GpuPart(part, program, kind) for part in split(program, LIMIT[kind]).parts]
    return "\n".join(f"{_launching(part, program)}\n{part.text()}" for part in parts)


def _launching(part: GpuPart, program: Program) -> str:
    """A part's pointers and its launch configuration, as a comment."""
    pointers = [
        f"{letter}{k} = {_pointer(segment, [x.name for x in operands])}"
        for letter, operands, segments in (
            ("in", program.inputs, part.inputs),
            ("out", program.outputs, part.outputs),
        )
        for k, segment in enumerate(segments)
    ]
    shape = part.shape
    return (
        f"// {identifier(part.name)}: {', '.join(pointers)}\n"
        f"// {shape.threads} threads a block, {shape.shared} bytes of dynamic shared memory, "
        f"{shape.scratch} elements of scratch a block"
    )


def _pointer(segment: Segment, names: Sequence[str]) -> str:
    """An array plus the offset of a segment; arrays between parts come last."""
    behind = segment.array - len(names)
    if behind >= 0:
        return f"between{behind}"
    return f"{names[segment.array]} + {segment.start}" if segment.start else names[segment.array]


def _layout(segment: Segment, lengths: Sequence[int], columns: Collection[int]) -> Rows:
    """A segment of an array of rows or columns; arrays between parts are in tiles."""
    if segment.array >= len(lengths):
        return Rows(tiled=True)
    if segment.array in columns:
        return Rows(columns=True)
    return Rows(stride=lengths[segment.array])
