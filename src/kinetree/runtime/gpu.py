"""NVIDIA GPUs as a back end: CUDA text, compiled by NVRTC and launched through CuPy.

Arguments and results stay on the device. A launch goes to the caller's current stream; nothing
waits for it. CuPy keeps compiled code on disk, by its text and the device's architecture.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from kinetree.emit.c import identifier
from kinetree.emit.cuda import emit_cuda, launch_shape, style
from kinetree.errors import KinetreeError, ShapeError
from kinetree.graph import Program
from kinetree.graph.lower import lower
from kinetree.runtime.arrays import batch_shape
from kinetree.runtime.foreign import needed
from kinetree.runtime.interface import Interface

BLOCKS = 16
"""Blocks a multiprocessor is given at most: beyond, they take several stretches of states."""
OPTIONS = ("--std=c++14", "--fmad=true")


def cupy() -> Any:
    """The package, if it is there."""
    return needed("cupy", "a kernel of arrays on a GPU")


class GpuKernel:
    """A program compiled for the current device, for one kind of number.

    Arguments:
        interface: names and shapes.
        program: what it computes.
        kind: "double" or "float".
    """

    def __init__(self, interface: Interface, program: Program, kind: str) -> None:
        self.interface, self.kind = interface, kind
        self.lowered = lower(program, style(kind))
        self.shape = launch_shape(self.lowered)
        self._functions: dict[tuple[int, ...], Any] = {}

    def function(self, shared: tuple[int, ...] = ()) -> Any:
        """CuPy's kernel.

        Arguments:
            shared: the arguments that are the same for all states.
        """
        if shared not in self._functions:
            self._functions[shared] = self._compiled(shared)
        return self._functions[shared]

    def _compiled(self, shared: tuple[int, ...]) -> Any:
        name = identifier(self.interface.name)
        text = emit_cuda(self.lowered, name, shared)
        try:
            module = cupy().RawModule(code=text, options=OPTIONS, backend="nvrtc")
            found = module.get_function(name)
        except Exception as e:
            raise KinetreeError(f"{self.interface.name}: no code for this GPU: {e}") from e
        if self.shape.shared > 48 * 1024:
            found.max_dynamic_shared_size_bytes = self.shape.shared
        return found

    def __call__(self, arrays: Sequence[Any], out: Any = None) -> Any:
        """The results for one state or any batch, on the device.

        Arguments:
            arrays: CuPy arrays of this kind, batch axes first.
            out: an array or a tuple of them, of the results' shapes, in C order.
        """
        cp, interface = cupy(), self.interface
        dtype = cp.float32 if self.kind == "float" else cp.float64
        batch = batch_shape(interface.name, interface.inputs, arrays)
        states = prod(batch)
        rows = [
            _rows(cp, x, shape, batch, dtype)
            for x, (_, shape) in zip(arrays, interface.inputs, strict=True)
        ]
        results = self._results(cp, batch, dtype, out)
        if states:
            self._launch(cp, rows, results, states, dtype)
        if out is not None:
            return out
        return results[0] if len(results) == 1 else tuple(results)

    def _results(self, cp: Any, batch: tuple[int, ...], dtype: Any, out: Any) -> list[Any]:
        shapes = [(*batch, *shape) for _, shape in self.interface.outputs]
        if out is None:
            return [cp.empty(shape, dtype) for shape in shapes]
        given = list(out) if isinstance(out, (tuple, list)) else [out]
        for (name, _), x, shape in zip(self.interface.outputs, given, shapes, strict=True):
            if x.shape != shape or x.dtype != dtype or not x.flags.c_contiguous:
                raise ShapeError(
                    f"{self.interface.name}: out for {name} must be a {dtype.__name__} array of "
                    f"shape {shape} in C order"
                )
        return given

    def _launch(
        self,
        cp: Any,
        rows: Sequence[tuple[Any, bool]],
        results: Sequence[Any],
        states: int,
        dtype: Any,
    ) -> None:
        threads = self.shape.threads
        processors = cp.cuda.Device().attributes["MultiProcessorCount"]
        blocks = min(-(-states // threads), processors * BLOCKS * (128 // threads))
        scratch = cp.empty(max(1, blocks * self.shape.scratch), dtype)
        shared = tuple(k for k, (_, once) in enumerate(rows) if once)
        arguments = (*(x for x, _ in rows), *results, scratch, cp.int64(states))
        try:
            self.function(shared)((blocks,), (threads,), arguments, shared_mem=self.shape.shared)
        except cp.cuda.driver.CUDADriverError as e:
            raise KinetreeError(f"{self.interface.name}: the launch failed: {e}") from e


def _rows(
    cp: Any, array: Any, shape: tuple[int, ...], batch: tuple[int, ...], dtype: Any
) -> tuple[Any, bool]:
    """An argument as rows, one behind the other, and whether it is one row for all states."""
    array = cp.asarray(array, dtype)
    if array.shape == shape:
        return cp.ascontiguousarray(array), bool(batch)
    whole = cp.broadcast_to(array, (*batch, *shape))
    return cp.ascontiguousarray(whole), False
