"""The CPU as a back end: machine code generated, kept in the cache, loaded, bound to Python."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kinetree.emit.llvm import Target, declarations, emit_body, shared_declarations
from kinetree.graph import Program
from kinetree.graph.lower import Lowered, Style, lower
from kinetree.graph.program import size
from kinetree.native.layout import MAX_AXES, Field
from kinetree.runtime import cache as disk
from kinetree.runtime.arrays import DTYPES
from kinetree.runtime.binding import make_function, make_gufunc
from kinetree.runtime.host import Loaded, host
from kinetree.runtime.interface import Interface
from kinetree.runtime.support import support

OPERATIONS = 3e8
"""Operations between two looks at signals: 0.01 s with 512-bit vectors, 0.1 s at the slowest."""
_BLOCK_COST = 16384  # operations of a tile's lanes that make a block worth handing to a thread
_BLOCK_TILES = 4  # at least, because a tile is written while the next is computed


class Counts(NamedTuple):
    """The number of steps of a kernel's bodies, and their memory, in elements (of a tile: vectors).

    late: the number of steps of the wide body before the first that stores results; all steps, if
        results are double-buffered.
    """

    wide_steps: int
    wide_scratch: int
    one_steps: int
    one_scratch: int
    results: int
    tiles: int
    late: int


_COUNTS = "<7q"


class Cpu:
    """The back end."""

    def compile(
        self, interface: Interface, program: Callable[[], Program], kind: str
    ) -> MachineCode:
        shared = support(kind)
        machine_code, counts = code(interface, program, kind)
        loaded = host().load(machine_code)
        description = _describe(interface, kind, loaded, counts)
        gufunc = make_gufunc(
            shared.address(f"kinetree_loop_{kind}"),
            description,
            kind,
            len(interface.inputs),
            len(interface.outputs),
            interface.signature,
            interface.name,
            keep=loaded,
        )
        call = shared.address(f"kinetree_call_{kind}")
        one = make_function(call, description, interface.name, keep=loaded)
        return MachineCode(gufunc, one, OPERATIONS / (interface.cost + 1))


class MachineCode(NamedTuple):
    """A program as machine code; see `kinetree.runtime.backend.Compiled`."""

    gufunc: Any
    one: Any
    longest: float


def code(interface: Interface, program: Callable[[], Program], kind: str) -> tuple[bytes, Counts]:
    """The object code of a kernel's bodies for a type, and their counts."""
    name = disk.key("code", interface.digest, kind, host().fingerprint)
    kept = disk.load(name)
    if kept is None:
        machine_code, counts = _generate(program(), kind)
        kept = struct.pack(_COUNTS, *counts) + machine_code
        disk.save(name, kept)
    head = struct.calcsize(_COUNTS)
    return kept[head:], Counts(*struct.unpack(_COUNTS, kept[:head]))


def source(program: Program, kind: str) -> str:
    """The LLVM IR of a program's bodies, for one state and for a tile of them, on this processor.

    Arguments:
        kind: "double" or "float".
    """
    target = host().target(kind)
    wide, one = (lower(program, style(target, lanes)) for lanes in (target.lanes, 1))
    return _text(wide, one, target)


def _text(wide: Lowered, one: Lowered, target: Target) -> str:
    head = host().attributes + shared_declarations(target)
    for lanes in (1, target.lanes):
        head += declarations(target, lanes)
    return head + emit_body(wide, "wide", target, target.lanes) + emit_body(one, "one", target, 1)


def _generate(program: Program, kind: str) -> tuple[bytes, Counts]:
    h = host()
    target = h.target(kind)
    wide = lower(program, style(target, target.lanes))
    one = lower(program, style(target, 1))
    text = _text(wide, one, target)
    steps = len(wide.steps)
    late = steps if wide.late is None else wide.late
    return h.compile(text), Counts(
        wide_steps=steps,
        wide_scratch=wide.scratch,
        one_steps=len(one.steps),
        one_scratch=one.scratch,
        results=wide.results,
        tiles=2 if wide.late is None else 1,
        late=max(late, 1),
    )


CHUNK = 400
KEEP = 32


def style(target: Target, lanes: int) -> Style:
    """How programs are lowered for this processor."""
    return Style(
        target.type,
        fused=True,
        routines=True,
        chunk=CHUNK,
        keep=KEEP,
        whole=target.lanes // lanes,
        defer=lanes > 1,
    )


def _describe(interface: Interface, kind: str, loaded: Loaded, counts: Counts) -> bytes:
    """The description that the driver reads: 64-bit integers."""
    shapes = [shape for _, shape in interface.inputs + interface.outputs]
    sizes = [size(shape) for shape in shapes]
    inputs = len(interface.inputs)
    lanes = host().target(kind).lanes
    head = {
        Field.WIDE: loaded.data_address("wide_steps"),
        Field.WIDE_CONSTANTS: loaded.address("wide_constants"),
        Field.INDEX: loaded.data_address("wide_index"),
        Field.ONE: loaded.data_address("one_steps"),
        Field.ONE_CONSTANTS: loaded.address("one_constants"),
        Field.INPUTS: inputs,
        Field.OPERANDS: len(sizes),
        Field.WIDE_SCRATCH: counts.wide_scratch,
        Field.ONE_SCRATCH: counts.one_scratch,
        Field.RESULTS: counts.results,
        Field.TILES: counts.tiles,
        Field.WIDE_STEPS: counts.wide_steps,
        Field.LATE: counts.late,
        Field.ONE_STEPS: counts.one_steps,
        Field.INPUT_ELEMENTS: sum(sizes[:inputs]),
        Field.ELEMENTS: sum(sizes),
        Field.LARGEST: max(sizes),
        Field.BLOCK: lanes * max(_BLOCK_TILES, _BLOCK_COST // (interface.cost + 1)),
        Field.ARRAY_TYPE: id(np.ndarray),
        Field.DTYPE: id(DTYPES[kind]),
        Field.NOT_IMPLEMENTED: id(NotImplemented),
    }
    numbers = [head[field] for field in sorted(head)]
    for shape, count in zip(shapes, sizes, strict=True):
        numbers += [count, len(shape), *(1,) * (MAX_AXES - len(shape)), *shape]
    return struct.pack(f"={len(numbers)}q", *numbers)
