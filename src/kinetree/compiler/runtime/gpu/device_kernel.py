"""NVIDIA GPUs as a back end: CUDA text, compiled by NVRTC and launched through CuPy.

Arguments and results stay on the device. Launches go to the caller's current stream; nothing
waits for them. CuPy keeps compiled code on disk, by its text and the device's architecture.

A multiprocessor reads its instructions from a cache of 128 KiB. Code that is longer runs at a
fraction of the speed, because its warps wait for instructions most of the time. Long programs are
therefore split into parts, each a launch of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from math import prod
from typing import Any, NamedTuple

from kinetree._lazy import cached_property
from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda import emit_cuda, style
from kinetree.compiler.emit.cuda_layout import WARP, Layout, Rows, launch_shape
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.parts import Part, Parts, Segment, split
from kinetree.compiler.graph.program import size
from kinetree.compiler.runtime.arrays import batch_shape, check_count, check_dtype, plain_array
from kinetree.compiler.runtime.gpu.device_loop import GpuTimeLoop
from kinetree.compiler.runtime.gpu.launch import compiled, cupy, launch
from kinetree.compiler.runtime.interface import Interface
from kinetree.compiler.runtime.loop_layout import LoopLayout
from kinetree.errors import DtypeError, ShapeError

BLOCKS = 16
"""Blocks of 128 threads that a multiprocessor is given at most: beyond, each takes several
stretches of states."""
LIMIT = {"float": 8_000, "double": 4_500}
"""Operations of a part at most. In double precision values need twice the registers, and longer
code keeps more of them in memory."""
STRETCH = 1 << 18
"""States that pass through all parts before the next ones begin, where parts hand values on."""


class Gpu:
    """The back end: NVIDIA's GPUs, on CuPy's current device."""

    compiles = True
    simulates_in_single = True

    @property
    def xp(self) -> Any:
        return cupy()

    def compile(self, interface: Interface, program: Callable[[], Program], kind: str) -> GpuKernel:
        return GpuKernel(interface, program(), kind)

    def array(self, what: str, given: Any) -> Any:
        cp = cupy()
        array = given if isinstance(given, cp.ndarray) else cp.asarray(plain_array(what, given))
        check_dtype(what, array.dtype)
        return array

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return cupy().empty(shape, dtype)

    def on_host(self, array: Any) -> Any:
        return cupy().asnumpy(array)


class Given(NamedTuple):
    """What a call is given.

    shared: the arguments that are the same for all states.
    columns, result_columns: the arguments, and the results, of which all states' first elements
        come first, then all their second ones: transposed views of arrays of columns.
    """

    shared: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    result_columns: tuple[int, ...] = ()


ROWS = Given()


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
        self.lengths = [size(i.shape) for i in whole.inputs], [size(o.shape) for o in whole.outputs]
        self.shape = launch_shape(self.lowered, self.layout(Given()))
        self._functions: dict[Any, Any] = {}

    def layout(self, given: Given) -> Layout:
        """How its arguments and results lie in memory."""
        sides = (
            (self.inputs, self.lengths[0], given.columns),
            (
                self.outputs,
                self.lengths[1],
                given.result_columns,
            ),
        )
        return Layout(*(tuple(_layout(s, n, c) for s in segments) for segments, n, c in sides))

    def function(self, given: Given) -> Any:
        """CuPy's kernel for arrays of this kind."""
        own = tuple(k for k, s in enumerate(self.inputs) if s.array in given.shared)
        key = (own, self.layout(given))
        if key not in self._functions:
            name = identifier(self.name)
            text = emit_cuda(self.lowered, name, *key)
            self._functions[key] = compiled(name, text, self.shape)
        return self._functions[key]

    def text(self) -> str:
        """CUDA C++ for arrays of rows."""
        return emit_cuda(self.lowered, identifier(self.name), (), self.layout(ROWS))


def source(program: Program, kind: str) -> str:
    """CUDA C++ of a program for arrays of rows: one text for each part, as NVRTC compiles them.

    A comment before each says how it is launched.

    Arguments:
        kind: "double" or "float".
    """
    parts = [GpuPart(part, program, kind) for part in split(program, LIMIT[kind]).parts]
    return "\n".join(f"{_launching(part, program)}\n{part.text()}" for part in parts)


def _launching(part: GpuPart, program: Program) -> str:
    """What a part's pointers are, and what a launch of it needs, as a comment."""
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
    """An array and where a segment of it starts; arrays between parts come behind the others."""
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


class GpuKernel:
    """A program compiled for the current device; see `runtime.backend.Compiled`.

    Arguments:
        interface: names and shapes.
        program: what it computes.
        kind: "double" or "float".
    """

    def __init__(self, interface: Interface, program: Program, kind: str) -> None:
        self.interface, self.kind, self._program = interface, kind, program
        self._ready: set[Given] = set()

    @cached_property
    def _split(self) -> Parts:
        return split(self._program, LIMIT[self.kind])

    @cached_property
    def parts(self) -> list[GpuPart]:
        """The launches of a call, in order."""
        return [GpuPart(part, self._program, self.kind) for part in self._split.parts]

    @property
    def between(self) -> tuple[int, ...]:
        """The lengths of the rows that parts hand on."""
        return self._split.between

    def loop(self, layout: LoopLayout) -> GpuTimeLoop:
        """The program in a loop over time, as one launch."""
        return GpuTimeLoop(layout, self._program, self.kind)

    def bind(self, arrays: Sequence[Any], out: Any = None) -> Callable[[], Any]:
        """A function that launches on fixed arrays, on the stream that is current at each call."""
        interface, cp = self.interface, cupy()
        check_count(interface.name, interface.inputs, arrays)
        dtype = self._dtype(cp)
        if not all(isinstance(x, cp.ndarray) and x.dtype == dtype for x in arrays):
            raise DtypeError(
                f"{interface.name}: bind takes CuPy's arrays, all float64 or all float32; anything "
                "else would have to be copied at every call"
            )
        batch = batch_shape(interface.name, interface.inputs, arrays)
        results = self._results(cp, batch, dtype, out)
        answer = out if out is not None else results[0] if len(results) == 1 else tuple(results)
        return partial(self, arrays, answer)

    def _dtype(self, cp: Any) -> Any:
        return cp.float32 if self.kind == "float" else cp.float64

    def prepare(self, given: Given = ROWS) -> None:
        """Compile all parts, side by side, for arrays of this kind."""
        device = cupy().cuda.Device()

        def compile_one(part: GpuPart) -> None:
            with device:
                part.function(given)

        if len(self.parts) == 1:
            self.parts[0].function(given)
        else:
            with ThreadPoolExecutor() as pool:
                list(pool.map(compile_one, self.parts))
        self._ready.add(given)

    def __call__(self, arrays: Sequence[Any], out: Any = None) -> Any:
        """The results for one state or any batch, on the device.

        Arguments:
            arrays: CuPy arrays of this kind, batch axes first. Transposed views of arrays of
                columns, (n, states), are read where they are.
            out: an array or a tuple of them, of the results' shapes, in C order; for one batch
                axis and results that are vectors, also transposed views of columns.
        """
        cp, interface = cupy(), self.interface
        dtype = self._dtype(cp)
        batch = batch_shape(interface.name, interface.inputs, arrays)
        found = [
            self._argument(cp, x, shape, batch, dtype)
            for x, (_, shape) in zip(arrays, interface.inputs, strict=True)
        ]
        results = self._results(cp, batch, dtype, out)
        kinds = [kind for _, kind in found]
        given = Given(
            tuple(k for k, kind in enumerate(kinds) if kind == "shared"),
            tuple(k for k, kind in enumerate(kinds) if kind == "columns"),
            tuple(k for k, x in enumerate(results) if self._columns(x)),
        )
        if states := prod(batch):
            flat = [(x.T if self._columns(x) else x).ravel() for x in results]
            self._launches(cp, given, [x for x, _ in found], flat, states, dtype)
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
            ordered = x.flags.c_contiguous or self._columns(x)
            if x.shape != shape or x.dtype != dtype or not ordered:
                raise ShapeError(
                    f"{self.interface.name}: out for {name} must be a {dtype.__name__} array of "
                    f"shape {shape} in C order"
                )
        return given

    def _columns(self, array: Any) -> bool:
        """Whether an array is a transposed view of columns, which can be used where it is."""
        flags = array.flags
        return (
            array.ndim == 2 and flags.f_contiguous and not flags.c_contiguous and not self.between
        )

    def _argument(
        self, cp: Any, array: Any, shape: tuple[int, ...], batch: tuple[int, ...], dtype: Any
    ) -> tuple[Any, str]:
        """An argument's elements as they lie in memory, and how that is."""
        array = cp.asarray(array, dtype)
        if array.shape == shape and batch:
            return cp.ascontiguousarray(array).ravel(), "shared"
        whole = array if array.shape == shape else cp.broadcast_to(array, (*batch, *shape))
        if self._columns(whole):
            return whole.T.ravel(), "columns"
        return cp.ascontiguousarray(whole).ravel(), "rows"

    def _launches(
        self,
        cp: Any,
        given: Given,
        inputs: Sequence[Any],
        results: Sequence[Any],
        states: int,
        dtype: Any,
    ) -> None:
        """All parts, for a stretch of states after the other."""
        if given not in self._ready:
            self.prepare(given)
        stretch = min(states, STRETCH) if self.between else states
        tiles = -(-stretch // WARP) * WARP
        between = [cp.empty(tiles * length, dtype) for length in self.between]
        for begin in range(0, states, stretch):
            count = min(stretch, states - begin)
            for part in self.parts:
                layout = part.layout(given)
                arrays = [
                    _at(
                        s, [*inputs, *between], rows, 0 if s.array in given.shared else begin, count
                    )
                    for s, rows in zip(part.inputs, layout.inputs, strict=True)
                ]
                arrays += [
                    _at(s, [*results, *between], rows, begin, count)
                    for s, rows in zip(part.outputs, layout.outputs, strict=True)
                ]
                self._launch(cp, part, given, arrays, count, dtype)

    def _launch(
        self,
        cp: Any,
        part: GpuPart,
        given: Given,
        arrays: Sequence[Any],
        states: int,
        dtype: Any,
    ) -> None:
        threads = part.shape.threads
        blocks = min(-(-states // threads), _processors() * BLOCKS * (128 // threads))
        scratch = cp.empty(blocks * part.shape.scratch, dtype) if part.shape.scratch else 0
        arguments = (*arrays, scratch, cp.int64(states))
        launch(part.name, part.function(given), blocks, part.shape, arguments)


def _processors() -> int:
    """The multiprocessors of the current device; asking it anew takes longer than a launch."""
    return _processors_of(cupy().cuda.runtime.getDevice())


@cache
def _processors_of(device: int) -> int:
    return int(cupy().cuda.Device(device).attributes["MultiProcessorCount"])


def _at(segment: Segment, arrays: Sequence[Any], rows: Rows, begin: int, states: int) -> Any:
    """Where a segment starts for the first state of a stretch."""
    start = 0 if rows.tiled else segment.start + begin * (rows.stride or 0)
    if rows.columns:
        start = segment.start * states
    return arrays[segment.array][start:] if start else arrays[segment.array]
