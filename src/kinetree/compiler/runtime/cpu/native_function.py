"""A kernel without checks: bound to fixed arrays, or as a C function for other compiled code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.arrays import (
    DTYPES,
    batch_shape,
    kind_of_plain,
    plain_arrays,
    plain_results,
)
from kinetree.errors import DtypeError, KinetreeError, ShapeError

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel

C_TYPES: dict[str, Any] = {"double": ctypes.c_double, "float": ctypes.c_float}


def bind(kernel: Kernel, given: Sequence[Any], out: Any) -> Callable[[], Any]:
    """See `Kernel.bind`."""
    interface = kernel.interface
    kind = kind_of_plain(given)
    if kind is None or any(array.dtype is not DTYPES[kind] for array in given):
        raise DtypeError(
            f"{kernel.name}: bind takes NumPy's arrays, all float64 or all float32; anything else "
            "would have to be copied at every call"
        )
    arrays = plain_arrays(kernel.name, interface.inputs, given)
    batch = batch_shape(kernel.name, interface.inputs, arrays)
    answer = _new_results(kernel, batch, kind) if out is None else out
    results = plain_results(kernel.name, interface.outputs, answer, batch)
    _refuse_aliases(kernel, arrays, results, kind)
    compiled = kernel.compiled(kind)
    if batch or not hasattr(compiled, "bind"):
        return partial(_run, compiled.gufunc, arrays, results, answer)
    for array in (*arrays, *results):
        if not array.flags.c_contiguous or not array.flags.aligned:
            raise ShapeError(
                f"{kernel.name}: bind takes arrays in C order; one has strides {array.strides}"
            )
    return compiled.bind((*arrays, *results), answer, kernel.name)


def _run(gufunc: Any, arrays: Sequence[Any], results: Any, answer: Any) -> Any:
    gufunc(*arrays, out=results)
    return answer


def _new_results(kernel: Kernel, batch: tuple[int, ...], kind: str) -> Any:
    made = tuple(np.zeros(batch + shape, DTYPES[kind]) for _, shape in kernel.interface.outputs)
    return made if len(made) > 1 else made[0]


def _refuse_aliases(
    kernel: Kernel, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], kind: str
) -> None:
    for (name, _), result in zip(kernel.interface.outputs, results, strict=True):
        if result.dtype is not DTYPES[kind]:
            raise DtypeError(
                f"{kernel.name}: out for {name} has dtype {result.dtype}; {DTYPES[kind]} is "
                "expected, as for the arguments"
            )
        others = (*arrays, *(x for x in results if x is not result))
        if any(np.may_share_memory(result, x) for x in others):
            raise ShapeError(
                f"{kernel.name}: out for {name} shares memory with another array; bind needs one "
                "of its own"
            )


class NativeFunction:
    """The machine code of a kernel for one state, as a C function.

    It takes a pointer to each argument and then to each result, in C order, and returns 0, or 1 if
    there was no memory. It checks nothing, needs no interpreter lock and may be called by several
    threads at once. It lives as long as this object.

    Arguments:
        kernel: what is called.
        kind: "double" or "float".
    """

    def __init__(self, kernel: Kernel, kind: str) -> None:
        self._kernel, self.kind = kernel, kind
        self._compiled: Any = kernel.compiled(kind)
        if not hasattr(self._compiled, "entry"):
            raise KinetreeError(
                f"{kernel.name} is interpreted, not compiled: there is no machine code to call"
            )

    def __repr__(self) -> str:
        return f"<NativeFunction {self.signature}>"

    @cached_property
    def address(self) -> int:
        """The address of the function."""
        return int(self._compiled.entry.address)

    @property
    def signature(self) -> str:
        """Its declaration in C."""
        interface = self._kernel.interface
        taken = [f"const {self.kind} *{name}" for name, _ in interface.inputs]
        given = [f"{self.kind} *{name}" for name, _ in interface.outputs]
        return f"int {self._kernel.name.replace('.', '_')}({', '.join(taken + given)})"

    @cached_property
    def ctypes(self) -> Any:
        """The function for ctypes and for Numba: its arguments are addresses (`x.ctypes`)."""
        interface = self._kernel.interface
        count = len(interface.inputs) + len(interface.outputs)
        kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * count)
        return _keeping(kind(self.address), self._compiled.entry)

    def low_level_callable(self) -> Any:
        """The function as SciPy's integrators take it: `double f(int n, double *x)`.

        The arguments lie in x one after another, such as q and then v. The kernel must have a
        single number as its result, as energies do.

        Returns:
            A `scipy.LowLevelCallable`.
        """
        from scipy import LowLevelCallable  # takes time to import

        outputs = self._kernel.interface.outputs
        if len(outputs) != 1 or prod(outputs[0][1]) != 1:
            raise KinetreeError(
                f"{self._kernel.name} gives {[shape for _, shape in outputs]}; SciPy's callbacks "
                "return one number, such as potential_energy"
            )
        number = C_TYPES[self.kind]
        kind = ctypes.CFUNCTYPE(number, ctypes.c_int, ctypes.POINTER(number))
        entry = self._compiled.flat_entry
        return LowLevelCallable(_keeping(kind(entry.address), entry))


def _keeping(function: Any, entry: Any) -> Any:
    """A ctypes function that keeps its machine code in memory."""
    function.keep = entry
    return function
