"""dask: a kernel runs chunk by chunk, when the results are asked for.

Chunks of the batch axes are dask's own; the axes of one state are one chunk each. Workers make a
kernel from its description, once in each process, and find its machine code in the cache on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.runtime.arrays import DTYPES, batch_shape
from kinetree.runtime.foreign import check_count, needed, refuse_out

if TYPE_CHECKING:
    from kinetree.runtime.kernel import Kernel

da = needed("dask.array", "a kernel of dask's arrays")


def call(kernel: Kernel, arrays: Sequence[Any], out: Any) -> Any:
    """The results of a kernel as dask's arrays, still to be computed."""
    refuse_out(kernel, out, "dask")
    check_count(kernel, arrays)
    interface = kernel.interface
    single = all(getattr(x, "dtype", None) == np.float32 for x in arrays)
    dtype = DTYPES["float" if single else "double"]
    operands = [x if isinstance(x, da.Array) else np.asarray(x, dtype) for x in arrays]
    if not any(np.isnan(n) for x in operands for n in x.shape):  # lengths that dask does not know
        batch_shape(kernel.name, interface.inputs, operands)
    taken = ",".join(_axes(shape) for _, shape in interface.inputs)
    given = [_axes(shape) for _, shape in interface.outputs]
    several = len(given) > 1
    shapes = [shape for _, shape in (*interface.inputs, *interface.outputs)]
    return da.apply_gufunc(
        partial(run_kernel, kernel),
        f"{taken}->{','.join(given)}",
        *operands,
        output_dtypes=[dtype] * len(given) if several else dtype,
        output_sizes={f"n{n}": n for shape in shapes for n in shape},
        allow_rechunk=True,
    )


def run_kernel(kernel: Kernel, *chunks: np.ndarray) -> Any:
    """The results for a chunk; dask names its tasks after this function."""
    return kernel.call(chunks)


def _axes(shape: tuple[int, ...]) -> str:
    """The axes of one state's operand, named by their lengths."""
    return f"({','.join(f'n{n}' for n in shape)})"
