"""CuPy: a kernel on the GPU where its arguments are, on the caller's current stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kinetree._optional import optional
from kinetree.compiler.runtime.arrays import DTYPES, check_count, check_dtype, kind_of_numbers
from kinetree.compiler.runtime.backend import backend, device_of
from kinetree.compiler.runtime.gpu.launch import check_device, current_device

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel

cupy = optional("cupy", "a kernel of arrays on a GPU")
KINDS = {dtype: kind for kind, dtype in DTYPES.items()}
"""The kinds of numbers by dtype."""


def call(kernel: Kernel, arrays: Sequence[Any], out: Any) -> Any:
    """The results of a kernel as CuPy arrays; float32 if all arguments are, else float64."""
    results = out if isinstance(out, (tuple, list)) else () if out is None else (out,)
    device = current_device()
    kind = _kind((*arrays, *results), device)
    if kind and len(arrays) == len(kernel.interface.inputs):
        return kernel.compiled_on(f"cuda:{device}", kind)(arrays, out)
    return _checked_call(kernel, arrays, out, results)


def _kind(arrays: Sequence[Any], device: int) -> str:
    """The kind of number of CuPy's arrays of one dtype on a device; empty if they are not that."""
    dtype: Any = arrays[0].dtype if arrays and type(arrays[0]) is cupy.ndarray else None
    for x in arrays:
        if type(x) is not cupy.ndarray or x.dtype is not dtype or x.data.device_id != device:
            return ""
    return KINDS.get(dtype, "")


def _checked_call(kernel: Kernel, arrays: Sequence[Any], out: Any, results: Sequence[Any]) -> Any:
    """A call with arrays of any kind: an error, or what they are converted to."""
    inputs = kernel.interface.inputs
    check_count(kernel.name, inputs, arrays)
    device = device_of(next(x for x in arrays if isinstance(x, cupy.ndarray)))
    on, names = backend(device), [name for name, _ in inputs]
    given = [on.array(f"{kernel.name}: {name}", x) for name, x in zip(names, arrays, strict=True)]
    known = [("out", x) for x in results if isinstance(x, cupy.ndarray)]
    check_device(kernel.name, [*zip(names, given, strict=True), *known])
    return kernel.compiled_on(device, kind_of_numbers(given))(given, out)


def to_numpy(what: str, array: Any) -> Any:
    """The same numbers on the host."""
    numbers = cupy.asnumpy(array)
    check_dtype(what, numbers.dtype)
    return numbers


def from_numpy(array: Any, like: Any) -> Any:
    """An array of NumPy on the device of another array."""
    with like.device:
        return cupy.asarray(array)
