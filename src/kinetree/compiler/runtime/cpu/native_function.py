"""A kernel as a C function, for other compiled code to call."""

from __future__ import annotations

import ctypes
from math import prod
from typing import TYPE_CHECKING, Any

from kinetree._lazy import cached_property
from kinetree.errors import KinetreeError

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel

C_TYPES: dict[str, Any] = {"double": ctypes.c_double, "float": ctypes.c_float}


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
        native = kernel.compiled(kind).native
        if native is None:
            raise KinetreeError(
                f"{kernel.name} is interpreted, not compiled: there is no machine code to call"
            )
        self._kernel, self.kind, self._native = kernel, kind, native

    def __repr__(self) -> str:
        return f"<NativeFunction {self.signature}>"

    @cached_property
    def address(self) -> int:
        """The address of the function."""
        return int(self._native.entry.address)

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
        return _keeping(kind(self.address), self._native.entry)

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
        entry = self._native.flat_entry
        return LowLevelCallable(_keeping(kind(entry.address), entry))


def _keeping(function: Any, entry: Any) -> Any:
    """A ctypes function that keeps its machine code in memory."""
    function.keep = entry
    return function
