"""NVIDIA GPUs as a back end: CUDA text, compiled by NVRTC and launched through CuPy.

Arguments and results stay on the device. Launches go to the caller's current stream; nothing
waits for them. CuPy keeps compiled code on disk, by its text and the device's architecture.

A multiprocessor reads its instructions from a cache of 128 KiB. Code that is longer runs at a
fraction of the speed, because its warps wait for instructions most of the time. Long programs are
therefore split into parts, each a launch of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import prod
from typing import Any, NamedTuple

from kinetree._optional import optional
from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda import emit_cuda, style
from kinetree.compiler.emit.cuda_layout import WARP, Layout, Rows, Shape, launch_shape
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.parts import Part, Segment, split
from kinetree.compiler.graph.program import size
from kinetree.compiler.runtime.arrays import batch_shape
from kinetree.compiler.runtime.interface import Interface
from kinetree.errors import KinetreeError, ShapeError

BLOCKS = 16
"""Blocks of 128 threads that a multiprocessor is given at most: beyond, each takes several
stretches of states."""
LIMIT = {"float": 8_000, "double": 4_500}
"""Operations of a part at most. In double precision values need twice the registers, and longer
code keeps more of them in memory."""
STRETCH = 1 << 18
"""States that pass through all parts before the next ones begin, where parts hand values on."""
OPTIONS = ("--std=c++14", "--fmad=true")


def cupy() -> Any:
    """The package, if it is there."""
    return optional("cupy", "a kernel of arrays on a GPU")


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


def compiled(name: str, text: str, shape: Shape) -> Any:
    """CuPy's kernel of a text."""
    try:
        module = cupy().RawModule(code=text, options=OPTIONS, backend="nvrtc")
        found = module.get_function(name)
    except Exception as e:
        raise KinetreeError(f"{name}: no code for this GPU: {e}") from e
    if shape.shared > 48 * 1024:
        found.max_dynamic_shared_size_bytes = shape.shared
    return found


def launch(name: str, function: Any, blocks: int, shape: Shape, arguments: Sequence[Any]) -> None:
    """Put a kernel on the current stream."""
    try:
        function((blocks,), (shape.threads,), tuple(arguments), shared_mem=shape.shared)
    except cupy().cuda.driver.CUDADriverError as e:
        raise KinetreeError(f"{name}: the launch failed: {e}") from e


def _layout(segment: Segment, lengths: Sequence[int], columns: Collection[int]) -> Rows:
    """A segment of an array of rows or columns; arrays between parts are in tiles."""
    if segment.array >= len(lengths):
        return Rows(tiled=True)
    if segment.array in columns:
        return Rows(columns=True)
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
        self._ready: set[Given] = set()

    def compile(self, given: Given = ROWS) -> None:
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
        dtype = cp.float32 if self.kind == "float" else cp.float64
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
            self.compile(given)
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
