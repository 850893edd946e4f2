"""NVIDIA GPUs as a back end: CUDA text, compiled by NVRTC and launched through CuPy.

Arguments and results stay on the device. Launches go to the caller's current stream,
asynchronously. CuPy caches compiled code on disk, by its text and the device's architecture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import prod
from typing import Any, cast

from kinetree._lazy import cached_property
from kinetree.compiler.emit.cuda_layout import ITEM_BYTES
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.parts import SplitProgram, split
from kinetree.compiler.runtime.arrays import (
    DTYPES,
    batch_shape,
    check_count,
    check_dtype,
    plain_array,
)
from kinetree.compiler.runtime.backend import CompiledLoop
from kinetree.compiler.runtime.gpu import device_part
from kinetree.compiler.runtime.gpu.device_loop import GpuTimeLoop
from kinetree.compiler.runtime.gpu.device_part import ROWS, Given, GpuPart
from kinetree.compiler.runtime.gpu.launch import (
    adopted,
    cupy,
    current_device,
    current_stream,
    room,
    workspace,
)
from kinetree.compiler.runtime.gpu.plan import Plan, Planned, View, rows
from kinetree.compiler.runtime.gpu.step_loop import GpuStepLoop
from kinetree.compiler.runtime.gpu.xla_frame import Buffer
from kinetree.compiler.runtime.interface import Interface
from kinetree.compiler.runtime.lazy_program import LazyProgram
from kinetree.compiler.runtime.loop_layout import LoopLayout
from kinetree.errors import DtypeError, ShapeError

PLANS = 256
"""The most plans that a kernel keeps; then it discards all."""

Views = tuple[View, ...]


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


class GpuKernel:
    """A program compiled for the current device; see `runtime.backend.Compiled`.

    Arguments:
        interface: names and shapes.
        program: to compile.
        kind: "double" or "float".
        limit: the most operations of a part, by kind; by default those for a single call.
    """

    def __init__(
        self,
        interface: Interface,
        program: Program,
        kind: str,
        limit: Mapping[str, int] | None = None,
    ) -> None:
        self.interface, self.kind, self._program = interface, kind, program
        self._limit = (device_part.LIMIT if limit is None else limit)[kind]
        self.dtype = DTYPES[kind]
        self._ready: set[Given] = set()
        self._plans: dict[Any, Plan] = {}

    @cached_property
    def _split(self) -> SplitProgram:
        return split(self._program, self._limit)

    @cached_property
    def parts(self) -> list[GpuPart]:
        """The launches of a call, in order."""
        return [GpuPart(part, self._program, self.kind) for part in self._split.parts]

    @property
    def between(self) -> tuple[int, ...]:
        """The lengths of the rows passed between parts."""
        return self._split.between

    def loop(self, layout: LoopLayout) -> CompiledLoop:
        """The program in a loop over time: as one launch, or step by step if it is long."""
        step = GpuKernel(self.interface, self._program, self.kind, device_part.LOOP_LIMIT)
        if len(step._split.parts) > 1:
            return GpuStepLoop(layout, step)
        return GpuTimeLoop(layout, self._program, self.kind)

    def prepare(self, given: Given = ROWS) -> None:
        """Compile all parts in parallel, for arrays of this kind."""
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

    # plans

    def plan(self, key: Any, views: Callable[[], tuple[Views, Views | None]]) -> Plan:
        """The plan of a call, kept for the next one.

        Arguments:
            key: the shapes and strides of all arrays, in any form.
            views: gives the memory layouts of arguments and results; None for new results in C
                order.

        Returns:
            The plan.
        """
        found = self._plans.get(key)
        if found is None:
            if len(self._plans) >= PLANS:
                self._plans.clear()
            found = self._plans[key] = self._new_plan(*views())
        return found

    def _new_plan(self, arguments: Views, results: Views | None) -> Plan:
        interface = self.interface
        batch = batch_shape(interface.name, interface.inputs, arguments)
        shared, columns, copied = [], [], []
        for k, (view, (_, shape)) in enumerate(zip(arguments, interface.inputs, strict=True)):
            if view.shape == shape and batch and view.in_rows:
                shared.append(k)
            elif view.shape == (*batch, *shape) and view.in_columns and not self.between:
                columns.append(k)
            elif view.shape != (*batch, *shape) or not view.in_rows:
                copied.append(k)
        checked = self._checked(results, batch)
        given = Given(tuple(shared), tuple(columns), checked)
        if given not in self._ready:
            self.prepare(given)
        item = ITEM_BYTES[self.kind]
        planned = Planned(self.parts, self.between, given, batch, tuple(copied), item)
        return planned.plan(len(interface.inputs), len(interface.outputs))

    def _checked(self, results: Views | None, batch: tuple[int, ...]) -> tuple[int, ...]:
        """The results that are in columns; an error for those that cannot be written in place."""
        if results is None:
            return ()
        columns = []
        for k, (view, (name, shape)) in enumerate(
            zip(results, self.interface.outputs, strict=True)
        ):
            if view.in_columns and not self.between:
                columns.append(k)
            if view.shape != (*batch, *shape) or not (view.in_rows or k in columns):
                raise ShapeError(
                    f"{self.interface.name}: out for {name} must be a {self.dtype} array of "
                    f"shape {(*batch, *shape)} in C order"
                )
        return tuple(columns)

    # calls with CuPy's arrays

    def __call__(self, arrays: Sequence[Any], out: Any = None) -> Any:
        """The results for one state or any batch, on the device.

        Arguments:
            arrays: CuPy arrays of this kind, batch axes first. Transposed views of arrays of
                columns, (n, states), are read in place.
            out: an array or a tuple of them, of the results' shapes, in C order; for one batch
                axis and results that are vectors, also transposed views of columns.
        """
        if not all(map(self._is_own, arrays)):
            arrays = [x.astype(self.dtype, copy=False) for x in arrays]
        results = None if out is None else self._given_results(out)
        plan = self._plan_of(arrays, results)
        if results is None:
            results = self._new_results(plan.batch)
        if plan.launches:
            stream = current_stream()
            if plan.copied:
                arrays = self._in_place(plan, arrays)
            addresses = [x.data.ptr for x in (*arrays, *results)]
            if plan.workspace:
                memory = workspace(self.interface.name, plan.workspace, stream)
                plan.run(addresses, memory.ptr, stream)
            else:
                plan.run(addresses, 0, stream)
        if out is not None:
            return out
        return results[0] if len(results) == 1 else tuple(results)

    def bind(self, arrays: Sequence[Any], out: Any = None) -> Callable[[], Any]:
        """A function that launches on fixed arrays, on the stream that is current at each call."""
        interface, cp = self.interface, cupy()
        check_count(interface.name, interface.inputs, arrays)
        if not all(isinstance(x, cp.ndarray) and x.dtype == self.dtype for x in arrays):
            raise DtypeError(
                f"{interface.name}: bind takes CuPy's arrays, all float64 or all float32; anything "
                "else would have to be copied at every call"
            )
        given = None if out is None else self._given_results(out)
        plan = self._new_plan(*_views(arrays, given))
        results = self._new_results(plan.batch) if given is None else given
        answer = out if out is not None else results[0] if len(results) == 1 else tuple(results)
        if plan.copied:
            return partial(self, arrays, answer)
        memory = (
            workspace(interface.name, plan.workspace, current_stream()) if plan.workspace else None
        )
        launches = plan.prepared(
            [x.data.ptr for x in (*arrays, *results)], memory.ptr if memory is not None else 0
        )

        def bound(kept: Any = (arrays, results, memory)) -> Any:
            stream = current_stream()
            for launch in launches:
                launch.on(stream)
            return answer

        return bound

    def _is_own(self, array: Any) -> bool:
        """Whether an array has this kind of number."""
        return array.dtype is self.dtype

    def _plan_of(self, arrays: Sequence[Any], results: Sequence[Any] | None) -> Plan:
        key = (
            tuple([(x.shape, x.strides) for x in arrays]),
            None if results is None else tuple([(x.shape, x.strides) for x in results]),
        )
        return self.plan(key, lambda: _views(arrays, results))

    def _given_results(self, out: Any) -> Sequence[Any]:
        given, outputs = out if isinstance(out, (tuple, list)) else (out,), self.interface.outputs
        if len(given) != len(outputs):
            raise ShapeError(
                f"{self.interface.name}: out has {len(given)} arrays; {len(outputs)} expected"
            )
        for (name, _), x in zip(outputs, given, strict=True):
            if getattr(x, "dtype", None) != self.dtype or not hasattr(x, "data"):
                raise ShapeError(
                    f"{self.interface.name}: out for {name} must be a {self.dtype} array on the GPU"
                )
        return given

    def _new_results(self, batch: tuple[int, ...]) -> list[Any]:
        cp, shapes = cupy(), [(*batch, *shape) for _, shape in self.interface.outputs]
        with room(self.interface.name, sum(map(prod, shapes)) * ITEM_BYTES[self.kind]):
            return [cp.empty(shape, self.dtype) for shape in shapes]

    def _in_place(self, plan: Plan, given: Sequence[Any]) -> list[Any]:
        """The arguments, with copies of those that launches cannot read in place."""
        arrays = list(given)
        for k in plan.copied:
            cp, shape = cupy(), self.interface.inputs[k][1]
            whole = (*plan.batch, *shape)
            with room(self.interface.name, prod(whole) * ITEM_BYTES[self.kind]):
                arrays[k] = cp.ascontiguousarray(cp.broadcast_to(arrays[k], whole))
        return arrays


def _views(
    arrays: Sequence[Any], results: Sequence[Any] | None
) -> tuple[tuple[View, ...], tuple[View, ...] | None]:
    """The memory layouts of CuPy's arrays, whose strides are in bytes."""
    return tuple(map(_view, arrays)), None if results is None else tuple(map(_view, results))


def _view(array: Any) -> View:
    return View(array.shape, tuple(step // array.itemsize for step in array.strides))


def launch_buffers(
    kernel: LazyProgram,
    kind: str,
    arguments: Sequence[Buffer],
    results: Sequence[Buffer],
    stream: int,
) -> None:
    """Launch a kernel on XLA's buffers, on the current device.

    Arguments:
        kernel: to launch.
        kind: "double" or "float".
        arguments, results: buffers with one batch axis; that of an argument has length one if it
            serves all states.
        stream: of the launches.
    """
    device = current_device()
    compiled = cast(GpuKernel, kernel.compiled_on(f"cuda:{device}", kind))
    n = results[0].shape[0]
    shapes = tuple(x.shape if x.shape[0] == n else x.shape[1:] for x in arguments)
    plan = compiled.plan((shapes, n), lambda: (tuple(map(rows, shapes)), None))
    if not plan.launches:
        return
    addresses = [x.address for x in (*arguments, *results)]
    if not plan.workspace:
        plan.run(addresses, 0, stream)
        return
    with adopted(stream, device):
        memory = workspace(kernel.name, plan.workspace, stream)
        plan.run(addresses, memory.ptr, stream)
