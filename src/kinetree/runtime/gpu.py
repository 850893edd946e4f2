"""NVIDIA GPUs as a back end: CUDA text, compiled by NVRTC and launched through CuPy.

Arguments and results stay on the device. Launches go to the caller's current stream; nothing
waits for them. CuPy keeps compiled code on disk, by its text and the device's architecture.

A multiprocessor reads its instructions from a cache of 128 KiB. Code that is longer runs at a
fraction of the speed, because its warps wait for instructions most of the time. Long programs are
therefore split into parts, each a launch of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import prod
from typing import Any

from kinetree.emit.c import identifier
from kinetree.emit.cuda import WARP, Layout, Rows, emit_cuda, launch_shape, style
from kinetree.errors import KinetreeError, ShapeError
from kinetree.graph import Program
from kinetree.graph.lower import lower
from kinetree.graph.parts import Part, Segment, split
from kinetree.graph.program import size
from kinetree.runtime.arrays import batch_shape
from kinetree.runtime.foreign import needed
from kinetree.runtime.interface import Interface

BLOCKS = 16
"""Blocks of 128 threads that a multiprocessor is given at most: beyond, each takes several
stretches of states."""
LIMIT = {"float": 9_500, "double": 5_000}
"""Operations of a part at most. In double precision values need twice the registers, and longer
code keeps more of them in memory."""
STRETCH = 1 << 18
"""States that pass through all parts before the next ones begin, where parts hand values on."""
OPTIONS = ("--std=c++14", "--fmad=true")


def cupy() -> Any:
    """The package, if it is there."""
    return needed("cupy", "a kernel of arrays on a GPU")


class GpuPart:
    """One launch.

    Arguments:
        part: what it computes.
        whole: the program that it is a part of.
        kind: "double" or "float".
    """

    def __init__(self, part: Part, whole: Program, kind: str) -> None:
        self.inputs, self.outputs = part.inputs, part.outputs
        self.name = part.program.name
        self.lowered = lower(part.program, style(kind))
        self.layout = Layout(
            tuple(_layout(s, [size(i.shape) for i in whole.inputs]) for s in part.inputs),
            tuple(_layout(s, [size(o.shape) for o in whole.outputs]) for s in part.outputs),
        )
        self.shape = launch_shape(self.lowered, self.layout)
        self._functions: dict[tuple[int, ...], Any] = {}

    def function(self, shared: Sequence[int] = ()) -> Any:
        """CuPy's kernel.

        Arguments:
            shared: the arguments of the whole program that are the same for all states.
        """
        own = tuple(k for k, segment in enumerate(self.inputs) if segment.array in shared)
        if own not in self._functions:
            self._functions[own] = self._compiled(own)
        return self._functions[own]

    def _compiled(self, shared: tuple[int, ...]) -> Any:
        name = identifier(self.name)
        text = emit_cuda(self.lowered, name, shared, self.layout)
        try:
            module = cupy().RawModule(code=text, options=OPTIONS, backend="nvrtc")
            found = module.get_function(name)
        except Exception as e:
            raise KinetreeError(f"{self.name}: no code for this GPU: {e}") from e
        if self.shape.shared > 48 * 1024:
            found.max_dynamic_shared_size_bytes = self.shape.shared
        return found


def _layout(segment: Segment, lengths: Sequence[int]) -> Rows:
    """A segment of an array of rows; arrays between parts are in tiles."""
    if segment.array >= len(lengths):
        return Rows(tiled=True)
    return Rows(stride=lengths[segment.array])


class GpuKernel:
    """A program compiled for the current device, for one kind of number.

    Arguments:
        interface: names and shapes.
        program: what it computes.
        kind: "double" or "float".
    """

    def __init__(self, interface: Interface, program: Program, kind: str) -> None:
        self.interface, self.kind = interface, kind
        parts = split(program, LIMIT[kind])
        self.parts = [GpuPart(part, program, kind) for part in parts.parts]
        self.between = parts.between
        self._ready: set[tuple[int, ...]] = set()

    def compile(self, shared: tuple[int, ...] = ()) -> None:
        """Compile all parts, side by side.

        Arguments:
            shared: the arguments that are the same for all states.
        """
        device = cupy().cuda.Device()

        def compiled(part: GpuPart) -> None:
            with device:
                part.function(shared)

        if len(self.parts) == 1:
            self.parts[0].function(shared)
        else:
            with ThreadPoolExecutor() as pool:
                list(pool.map(compiled, self.parts))
        self._ready.add(shared)

    def __call__(self, arrays: Sequence[Any], out: Any = None) -> Any:
        """The results for one state or any batch, on the device.

        Arguments:
            arrays: CuPy arrays of this kind, batch axes first.
            out: an array or a tuple of them, of the results' shapes, in C order.
        """
        cp, interface = cupy(), self.interface
        dtype = cp.float32 if self.kind == "float" else cp.float64
        batch = batch_shape(interface.name, interface.inputs, arrays)
        rows = [
            _rows(cp, x, shape, batch, dtype)
            for x, (_, shape) in zip(arrays, interface.inputs, strict=True)
        ]
        results = self._results(cp, batch, dtype, out)
        if states := prod(batch):
            self._launches(cp, rows, [x.ravel() for x in results], states, dtype)
        if out is not None:
            return out
        return results[0] if len(results) == 1 else tuple(results)

    def _results(self, cp: Any, batch: tuple[int, ...], dtype: Any, out: Any) -> list[Any]:
        shapes = [(*batch, *shape) for _, shape in self.interface.outputs]
        if out is None:
            return [cp.empty(shape, dtype) for shape in shapes]
        given = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(given) != len(shapes):
            raise ShapeError(
                f"{self.interface.name}: out has {len(given)} arrays; {len(shapes)} expected"
            )
        for (name, _), x, shape in zip(self.interface.outputs, given, shapes, strict=True):
            if x.shape != shape or x.dtype != dtype or not x.flags.c_contiguous:
                raise ShapeError(
                    f"{self.interface.name}: out for {name} must be a {dtype.__name__} array of "
                    f"shape {shape} in C order"
                )
        return given

    def _launches(
        self,
        cp: Any,
        rows: Sequence[tuple[Any, bool]],
        results: Sequence[Any],
        states: int,
        dtype: Any,
    ) -> None:
        """All parts, for a stretch of states after the other."""
        shared = tuple(k for k, (_, once) in enumerate(rows) if once)
        if shared not in self._ready:
            self.compile(shared)
        stretch = min(states, STRETCH) if self.between else states
        tiles = -(-stretch // WARP) * WARP
        between = [cp.empty(tiles * length, dtype) for length in self.between]
        inputs = [x for x, _ in rows]
        for begin in range(0, states, stretch):
            count = min(stretch, states - begin)
            for part in self.parts:
                given = [
                    _at(s, [*inputs, *between], rows_, 0 if s.array in shared else begin)
                    for s, rows_ in zip(part.inputs, part.layout.inputs, strict=True)
                ]
                found = [
                    _at(s, [*results, *between], rows_, begin)
                    for s, rows_ in zip(part.outputs, part.layout.outputs, strict=True)
                ]
                self._launch(cp, part, shared, [*given, *found], count, dtype)

    def _launch(
        self,
        cp: Any,
        part: GpuPart,
        shared: tuple[int, ...],
        arrays: Sequence[Any],
        states: int,
        dtype: Any,
    ) -> None:
        threads = part.shape.threads
        blocks = min(-(-states // threads), _processors() * BLOCKS * (128 // threads))
        scratch = cp.empty(blocks * part.shape.scratch, dtype) if part.shape.scratch else 0
        arguments = (*arrays, scratch, cp.int64(states))
        try:
            function = part.function(shared)
            function((blocks,), (threads,), arguments, shared_mem=part.shape.shared)
        except cp.cuda.driver.CUDADriverError as e:
            raise KinetreeError(f"{part.name}: the launch failed: {e}") from e


def _processors() -> int:
    """The multiprocessors of the current device; asking it anew takes longer than a launch."""
    return _processors_of(cupy().cuda.runtime.getDevice())


@cache
def _processors_of(device: int) -> int:
    return int(cupy().cuda.Device(device).attributes["MultiProcessorCount"])


def _at(segment: Segment, arrays: Sequence[Any], rows: Rows, begin: int) -> Any:
    """Where a segment starts for the first state of a stretch."""
    start = 0 if rows.tiled else segment.start + begin * (rows.stride or 0)
    return arrays[segment.array][start:] if start else arrays[segment.array]


def _rows(
    cp: Any, array: Any, shape: tuple[int, ...], batch: tuple[int, ...], dtype: Any
) -> tuple[Any, bool]:
    """An argument's elements in C order, and whether they are one row for all states."""
    array = cp.asarray(array, dtype)
    once = array.shape == shape and bool(batch)
    whole = array if array.shape == shape else cp.broadcast_to(array, (*batch, *shape))
    return cp.ascontiguousarray(whole).ravel(), once
