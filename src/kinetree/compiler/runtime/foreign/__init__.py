"""Arrays of other packages: what a kernel does when it is called with tensors or symbols.

One file a package, imported when an array of that package comes for the first time. Each has

    call(kernel, arrays, out): the results of a kernel, as arrays of that package

A kernel's method of the package's name (`Kernel.casadi`) gives what is more than a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from kinetree.errors import KinetreeError, ShapeError

MODULES = {
    "casadi": "casadi_arrays",
    "cupy": "cupy_arrays",
    "dask": "dask_arrays",
    "jax": "jax_arrays",
    "jaxlib": "jax_arrays",
    "sympy": "sympy_arrays",
    "torch": "torch_arrays",
}
"""The package that defines a type of array -> the file here that knows it."""


def foreign_name(arrays: Sequence[Any]) -> str:
    """The file here that knows these arrays; empty if they are for NumPy."""
    for array in arrays:
        for kind in type(array).__mro__:
            module = MODULES.get(kind.__module__.partition(".")[0])
            if module is not None:
                return module
    return ""


def array_module(array: Any) -> Any:
    """CuPy for its arrays, else NumPy: the functions of both have the same names."""
    name = "cupy" if type(array).__module__.partition(".")[0] == "cupy" else "numpy"
    return import_module(name)


def on_host(array: Any) -> Any:
    """The same numbers in an array of NumPy."""
    module = array_module(array)
    return module.asnumpy(array) if module.__name__ == "cupy" else array


def foreign_module(name: str) -> Any:
    """A file of this folder; MissingExtraError if its package is not installed."""
    if name not in IMPORTED:  # torch.compile can look into a dictionary, not into an import
        IMPORTED[name] = import_module(f"{__name__}.{name}")
    return IMPORTED[name]


IMPORTED: dict[str, Any] = {}
"""Files of this folder that were imported, by name."""


def refuse_out(kernel: Any, out: Any, package: str) -> None:
    """Refuse `out=` where results cannot be written into."""
    if out is not None:
        raise KinetreeError(
            f"{kernel.name}: out= is for NumPy's arrays; with {package} use what is returned"
        )


def check_count(kernel: Any, arrays: Sequence[Any]) -> None:
    """Refuse another number of arguments than a kernel has."""
    inputs = kernel.interface.inputs
    if len(arrays) != len(inputs):
        names = ", ".join(name for name, _ in inputs)
        raise ShapeError(f"{kernel.name} takes {names}: {len(arrays)} arrays were given")
