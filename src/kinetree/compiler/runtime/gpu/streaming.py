"""Streams arrays of the host through a GPU: stretch by stretch, with copies overlapping kernels.

Two stretches are in flight at a time, each on its own stream: while one is computed, the other is
copied. Copies go through pinned memory, which the device reads and writes by DMA.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from kinetree.compiler.runtime.arrays import Shapes, batch_shape, kind_of_numbers, plain_arrays
from kinetree.compiler.runtime.gpu.launch import cupy, current_device, room
from kinetree.compiler.runtime.lazy_program import LazyProgram
from kinetree.errors import KinetreeError


def streamed(kernel: LazyProgram, given: Sequence[Any], stretch: int) -> Any:
    """The results of a kernel for arrays of NumPy, computed on the current GPU.

    Arguments:
        given: the arguments, (..., *shape) each.
        stretch: states that are copied and computed at a time.

    Returns:
        The result, or a tuple of several, arrays of NumPy.
    """
    interface = kernel.interface
    if stretch < 1:
        raise KinetreeError(f"stretch={stretch!r}: a positive number of states is expected")
    arrays = plain_arrays(interface.name, interface.inputs, given)
    batch = batch_shape(interface.name, interface.inputs, arrays)
    kind, states = kind_of_numbers(arrays), prod(batch)
    compiled: Any = kernel.compiled_on(f"cuda:{current_device()}", kind)
    flat = [
        np.broadcast_to(x, (*batch, *shape)).reshape(states, *shape)
        for x, (_, shape) in zip(arrays, interface.inputs, strict=True)
    ]
    results = [np.empty((states, *shape), compiled.dtype) for _, shape in interface.outputs]
    rows = min(stretch, max(states, 1))
    lanes = [_Lane(interface.name, compiled, interface.inputs, interface.outputs, rows)]
    if states > rows:
        lanes.append(_Lane(interface.name, compiled, interface.inputs, interface.outputs, rows))
    for k, begin in enumerate(range(0, states, rows)):
        span = slice(begin, min(begin + rows, states))
        lanes[k % len(lanes)].start([x[span] for x in flat], [y[span] for y in results])
    for lane in lanes:
        lane.finish()
    shaped = [y.reshape(*batch, *y.shape[1:]) for y in results]
    return shaped[0] if len(shaped) == 1 else tuple(shaped)


class _Lane:
    """A stream, and memory for a stretch of states on both sides.

    Arguments:
        name: of the kernel, for messages.
        compiled: the kernel, compiled for the device.
        inputs, outputs: names and shapes.
        rows: the most states of a stretch.
    """

    def __init__(
        self, name: str, compiled: Any, inputs: Shapes, outputs: Shapes, rows: int
    ) -> None:
        cp, self._compiled, dtype = cupy(), compiled, compiled.dtype
        shapes = [[(rows, *shape) for _, shape in side] for side in (inputs, outputs)]
        count = sum(prod(shape) for side in shapes for shape in side) * dtype.itemsize
        with room(name, count):
            self._device = [[cp.empty(shape, dtype) for shape in side] for side in shapes]
        self._host = [[_pinned(cp, shape, dtype) for shape in side] for side in shapes]
        self._stream = cp.cuda.Stream(non_blocking=True)
        self._results: list[np.ndarray] = []

    def start(self, arguments: Sequence[np.ndarray], results: list[np.ndarray]) -> None:
        """Copy arguments to the device, compute, and copy back; the last stretch is finished first.

        Arguments:
            arguments: of this stretch.
            results: arrays that receive its results when it is finished.
        """
        self.finish()
        count = len(arguments[0]) if arguments else len(results[0])
        with self._stream:
            for x, host, device in zip(arguments, self._host[0], self._device[0], strict=True):
                host[:count] = x
                device[:count].set(host[:count], stream=self._stream)
            out = tuple(y[:count] for y in self._device[1])
            self._compiled([x[:count] for x in self._device[0]], out)
            for device, host in zip(out, self._host[1], strict=True):
                device.get(stream=self._stream, out=host[:count], blocking=False)
        self._results = results

    def finish(self) -> None:
        """Wait for the stretch in flight, and copy its results out."""
        if self._results:
            self._stream.synchronize()
            for host, y in zip(self._host[1], self._results, strict=True):
                y[...] = host[: len(y)]
        self._results = []


def _pinned(cp: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of NumPy in memory that the device can reach."""
    memory = cp.cuda.alloc_pinned_memory(max(prod(shape), 1) * dtype.itemsize)
    return np.frombuffer(memory, dtype, prod(shape)).reshape(shape)
