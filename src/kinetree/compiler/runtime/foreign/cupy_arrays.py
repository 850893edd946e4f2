"""CuPy: a kernel on the GPU where its arguments are, on the caller's current stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree._optional import optional
from kinetree.compiler.runtime.arrays import check_dtype, plain_array
from kinetree.compiler.runtime.foreign import check_count
from kinetree.compiler.runtime.gpu.device_kernel import GpuKernel
from kinetree.compiler.runtime.kernel import Kernel

cupy = optional("cupy", "a kernel of arrays on a GPU")


def call(kernel: Kernel, arrays: Sequence[Any], out: Any) -> Any:
    """The results of a kernel as CuPy arrays; float32 if all arguments are, else float64."""
    check_count(kernel, arrays)
    given = []
    for (name, _), x in zip(kernel.interface.inputs, arrays, strict=True):
        what = f"{kernel.name}: {name}"
        array = x if isinstance(x, cupy.ndarray) else cupy.asarray(plain_array(what, x))
        check_dtype(what, array.dtype)
        given.append(array)
    kind = "float" if all(x.dtype == cupy.float32 for x in given) else "double"
    key = ("cupy", kind, cupy.cuda.Device().id)
    if key not in kernel.foreign:
        kernel.foreign[key] = GpuKernel(kernel.interface, kernel.program, kind)
    return kernel.foreign[key](given, out)
