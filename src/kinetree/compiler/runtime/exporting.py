"""Kernels for use elsewhere: their text in other languages, C functions, fixed arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from kinetree.compiler.graph import Program
from kinetree.compiler.runtime.arrays import kind_of_dtype, kind_of_numbers
from kinetree.compiler.runtime.backend import device_of
from kinetree.compiler.runtime.foreign import foreign_module
from kinetree.compiler.runtime.lazy_program import LazyProgram
from kinetree.errors import MissingExtraError, among, unknown

if TYPE_CHECKING:
    from kinetree.compiler.runtime.c_code import CCode
    from kinetree.compiler.runtime.cpu.native_function import NativeFunction
    from kinetree.compiler.runtime.gpu.cuda_code import CudaCode
    from kinetree.compiler.runtime.kernel import Kernel

TARGETS = ("c", "cuda", "llvm")
"""The languages in which `Kernel.source` gives a kernel."""


class Exporting(LazyProgram):
    """What a kernel hands to other tools."""

    def c_code(self, dtype: Any = "float64", name: str = "") -> CCode:
        """The kernel as a function in C99: its header, source, self-test and CMake file.

        The function allocates nothing, has no globals and needs nothing but `math.h`.

        Arguments:
            dtype: of all its numbers, float64 (double) or float32 (float).
            name: of the function and its files, a C identifier; by default the quantity's.

        Returns:
            The code: `save(folder)` writes its files, `build(folder)` compiles a shared library
            and gives its function, to be called with arrays.
        """
        from kinetree.compiler.runtime.c_code import c_code  # not needed but here

        return c_code(self.program, name, kind_of_dtype(dtype), self._described())

    def cuda_code(self, dtype: Any = "float64", name: str = "") -> CudaCode:
        """The kernel as CUDA C++ for arrays of states on a GPU, with a test and a CMake file.

        `nvcc` builds it. Neither Python nor CuPy is needed to run it.

        Arguments:
            dtype: of all its numbers, float64 (double) or float32 (float).
            name: of the function and its files, a C identifier; by default the quantity's.

        Returns:
            The code: `save(folder)` writes its files.
        """
        from kinetree.compiler.runtime.gpu.cuda_code import cuda_code  # not needed but here

        return cuda_code(self.program, name, kind_of_dtype(dtype), self._described())

    def casadi(
        self, name: str = "", compiled: bool = False, folder: Any = None, hessian: bool = True
    ) -> Any:
        """The kernel as a `casadi.Function` with named arguments and results.

        Arguments:
            name: of the function; by default the quantity's.
            compiled: False for a function of SX, whose operations CasADi sees and differentiates;
                True for an external function: C code with its Jacobian, gradient and Hessian,
                compiled by the C compiler of this machine.
            folder: where to keep the C source and its library; a temporary folder by default.
            hessian: whether to compile second derivatives, too.

        Returns:
            A `casadi.Function`.
        """
        casadi = foreign_module("casadi_arrays")  # needs the extra
        if compiled:
            return casadi.external_function(self, name, folder, hessian)
        return casadi.sx_function(self, name)

    def source(self, target: str, dtype: Any = "float64") -> str:
        """The text of the kernel in the language of a target.

        Arguments:
            target: "c" for the source file of `c_code()`; "cuda" for CUDA C++, as it is compiled
                for GPUs: one kernel, or for a long program one for each part, launched in turn
                (`inverse_dynamics_0`, ...); "llvm" for LLVM IR, as it is compiled for this
                processor: one body for a single state and one for a vector of states.
            dtype: of all its numbers, float64 or float32.

        Returns:
            The source. No target needs a GPU, nor a C compiler.
        """
        if not among(target, TARGETS):
            raise unknown("target", target, TARGETS, "Kernel.source")
        kind = kind_of_dtype(dtype)
        if target == "c":
            return self.c_code(dtype).source
        if target == "llvm":
            return _llvm(self.program, kind)
        from kinetree.compiler.runtime.gpu.device_part import source  # not needed but here

        return source(self.program, kind)

    def bind(self, *arrays: Any, out: Any = None) -> Callable[[], Any]:
        """A function without arguments that computes on fixed arrays, for control loops.

        Each call reads what is in the arrays at that moment and overwrites the results. Nothing is
        checked: neither shapes, which are fixed, nor states at which there is no answer.

        Arguments:
            arrays: as in a call; NumPy's or CuPy's arrays, all float64 or all float32. NumPy's of
                one state must be in C order.
            out: an array, or a tuple of them, to write into; new ones if None.

        Returns:
            The function. It returns `out`, the same object at every call.
        """
        device = device_of(arrays[0] if arrays else None)
        return self.compiled_on(device, kind_of_numbers(arrays)).bind(arrays, out)

    def native(self, dtype: Any = "float64") -> NativeFunction:
        """The machine code for one state as a C function, for other compiled code to call.

        Arguments:
            dtype: of all its numbers, float64 or float32.

        Returns:
            The function, with its address; it lives as long as this object.
        """
        from kinetree.compiler.runtime.cpu.native_function import (
            NativeFunction,  # not needed but here
        )

        return NativeFunction(cast("Kernel", self), kind_of_dtype(dtype))

    @property
    def address(self) -> int:
        """The address of `native()`, valid as long as this kernel lives."""
        return self.native().address

    @property
    def signature(self) -> str:
        """The C declaration of `native()`."""
        return self.native().signature


def _llvm(program: Program, kind: str) -> str:
    try:
        from kinetree.compiler.runtime.cpu.bodies import source  # takes time to import
    except ImportError as e:
        if (e.name or "").partition(".")[0] != "llvmlite":
            raise
        raise MissingExtraError(
            "LLVM IR is printed for this processor, which llvmlite must name: pip install llvmlite"
        ) from None
    return source(program, kind)
