"""Arrays of other packages: what a kernel does when it is called with tensors or symbols.

One file a package, imported when an array of that package comes for the first time. Each has

    call(kernel, arrays, out): the results of a kernel, as arrays of that package
    to_numpy(what, array): the same numbers in an array of NumPy, for what is no kernel; refuses
        arrays that have no numbers yet, and those that would lose a gradient
    from_numpy(array, like): an array of NumPy as one of that package, on the device of another;
        none where `to_numpy` refuses all

A kernel's method of the package's name (`Kernel.casadi`) gives what is more than a call. Functions
that are no kernels take these arrays by `through_numpy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from kinetree.errors import DtypeError, KinetreeError

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

KINDS = {
    "casadi_arrays": "a matrix of CasADi",
    "cupy_arrays": "an array of CuPy",
    "dask_arrays": "an array of dask",
    "jax_arrays": "an array of JAX",
    "sympy_arrays": "an expression of SymPy",
    "torch_arrays": "a tensor of PyTorch",
}
"""What messages call the arrays that each file knows."""


def foreign_name(arrays: Sequence[Any]) -> str:
    """The file here that knows these arrays; empty if they are for NumPy."""
    for array in arrays:
        module = foreign_name_of_type(type(array))
        if module:
            return module
    return ""


def foreign_name_of_type(kind: type) -> str:
    """The file here that knows arrays of a type, or empty."""
    for base in kind.__mro__:
        module = MODULES.get(base.__module__.partition(".")[0])
        if module is not None:
            return module
    return ""


def foreign_name_inside(given: Any) -> str:
    """The file here that knows an element of nested lists; empty if none does."""
    if not isinstance(given, (list, tuple)):
        return ""
    kinds = {type(x) for x in given}
    if found := next(filter(None, map(foreign_name_of_type, kinds)), ""):
        return found
    nested = any(issubclass(kind, (list, tuple)) for kind in kinds)
    return next(filter(None, map(foreign_name_inside, given)), "") if nested else ""


def gradient_module(arrays: Sequence[Any]) -> Any:
    """The file here that knows arrays one of which wants a gradient; None if none does."""
    for array in arrays:
        if foreign_name_of_type(type(array)) == "torch_arrays":
            module = foreign_module("torch_arrays")
            if module.wants_gradient(array):
                return module
    return None


def on_host(array: Any) -> Any:
    """The same numbers in an array of NumPy."""
    package = foreign_name((array,))
    return foreign_module(package).to_numpy("an array", array) if package else array


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


def no_numbers(what: str, package: str, hint: str) -> DtypeError:
    """The error for an array that has no numbers, given to a function that computes with NumPy.

    Arguments:
        what: the function and the argument.
        package: the file here that knows the array.
        hint: what to do instead.
    """
    return DtypeError(
        f"{what} is {KINDS[package]}, and {what.partition(':')[0]} computes with NumPy, which "
        f"needs numbers: {hint}"
    )
