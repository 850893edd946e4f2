"""dask: a kernel runs chunk by chunk, when the results are asked for.

Chunks of the batch axes are dask's own; the axes of one state are one chunk each. Workers make a
kernel from its description, once in each process, and find its machine code in the cache on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._optional import optional
from kinetree.compiler.runtime.arrays import (
    DTYPES,
    batch_shape,
    check_count,
    check_dtype,
    plain_array,
    refuse_masked,
)
from kinetree.compiler.runtime.foreign import no_numbers, refuse_out

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel

da = optional("dask.array", "a kernel of dask's arrays")


def call(kernel: Kernel, arrays: Sequence[Any], out: Any) -> Any:
    """The results of a kernel as dask's arrays, still to be computed."""
    refuse_out(kernel, out, "dask")
    check_count(kernel.name, kernel.interface.inputs, arrays)
    inputs, outputs = kernel.interface.inputs, kernel.interface.outputs
    operands = [
        _checked(f"{kernel.name}: {name}", x) for (name, _), x in zip(inputs, arrays, strict=True)
    ]
    single = all(x.dtype == np.float32 for x in operands)
    dtype = DTYPES["float" if single else "double"]
    if not any(np.isnan(n) for x in operands for n in x.shape):  # lengths that dask does not know
        batch_shape(kernel.name, inputs, operands)
    pairs = list(zip(operands, (shape for _, shape in inputs), strict=True))
    batch = tuple(f"b{k}" for k in range(max(x.ndim - len(shape) for x, shape in pairs)))
    taken = []
    for k, (x, shape) in enumerate(pairs):
        axes = tuple(f"x{k}_{i}" for i in range(len(shape)))
        first = x.ndim - len(shape)
        taken += [_whole(x, first), (*batch[len(batch) - first :], *axes)]
    run = partial(run_kernel, kernel)
    if len(outputs) == 1:
        return _blockwise(run, batch, outputs[0][1], taken, dtype)
    # chunks of several results are tuples, of which each result takes its own
    together = _blockwise(run, batch, (), taken, np.dtype(object))
    return tuple(
        _blockwise(partial(_item, k), batch, shape, [together, batch], dtype)
        for k, (_, shape) in enumerate(outputs)
    )


def _checked(what: str, given: Any) -> Any:
    """An argument whose chunks every worker will take."""
    if not isinstance(given, da.Array):
        return plain_array(what, given)
    refuse_masked(what, given._meta)
    check_dtype(what, given.dtype)
    return given


def _whole(x: Any, first: int) -> Any:
    """An array whose axes from one on are in one chunk."""
    if not isinstance(x, da.Array):
        return x
    return x.rechunk(dict.fromkeys(range(first, x.ndim), -1))


def _blockwise(
    function: Any, batch: tuple[str, ...], shape: Sequence[int], taken: Sequence[Any], dtype: Any
) -> Any:
    """A function of chunks that gives chunks with the axes of the batch and those of a shape."""
    new = {f"y{k}": n for k, n in enumerate(shape)}
    axes = (*batch, *new)
    return da.blockwise(
        function,
        axes,
        *taken,
        new_axes=new,
        dtype=dtype,
        meta=np.empty((0,) * len(axes), dtype),
        concatenate=False,  # which would copy each chunk
    )


def run_kernel(kernel: Kernel, *chunks: Any) -> Any:
    """The results for a chunk; dask names its tasks after this function."""
    return kernel.call(tuple(map(_only, chunks)))


def _only(chunk: Any) -> Any:
    """The chunk in dask's nested lists of one chunk for each axis of a state."""
    while isinstance(chunk, list):
        (chunk,) = chunk
    return chunk


def _item(k: int, results: tuple[Any, ...]) -> Any:
    return results[k]


def to_numpy(what: str, array: Any) -> Any:
    """Refuse an array that is still to be computed."""
    raise no_numbers(what, "dask_arrays", "give what its compute() returns, or map over its blocks")
