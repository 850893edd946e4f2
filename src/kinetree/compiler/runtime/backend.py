"""Back ends: what compiles a program for a kind of number and calls it.

The CPU's compiles to machine code. Without llvmlite the interpreter does the same on NumPy arrays,
much slower, and a warning says so once. KINETREE_BACKEND names one of them ("cpu", "interpreter").
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from kinetree.compiler.graph import Program
from kinetree.compiler.runtime.forks import forkable_lock
from kinetree.compiler.runtime.interface import Interface
from kinetree.errors import BackendWarning, among, unknown

COMPILING = forkable_lock()
"""Held while code is made or loaded: LLVM's context is not for several threads at once."""


class Compiled(Protocol):
    """A program compiled for one kind of number."""

    @property
    def gufunc(self) -> Any:
        """Called with arrays, any batch axes first, and with `out=`, as NumPy's gufuncs are."""

    @property
    def one(self) -> Callable[..., Any]:
        """Called with arrays of one state; returns NotImplemented for any others."""

    @property
    def longest(self) -> float:
        """How many states may be computed before signals must be handled."""


class Backend(Protocol):
    """Compiles programs."""

    def compile(self, interface: Interface, program: Callable[[], Program], kind: str) -> Compiled:
        """A program for one kind of number.

        Arguments:
            program: returns the program; called only if its compiled form is not in the cache.
            kind: "double" or "float".
        """


BACKENDS = ("cpu", "interpreter")


@cache
def backend() -> Backend:
    """The back end for NumPy's arrays."""
    wanted = os.environ.get("KINETREE_BACKEND", "cpu")
    if not among(wanted, BACKENDS):
        raise unknown("back end", wanted, BACKENDS, "KINETREE_BACKEND")
    reason = "KINETREE_BACKEND=interpreter"
    if wanted == "cpu":
        try:
            from kinetree.compiler.runtime.cpu.machine_code import Cpu  # takes time to import

            return Cpu()
        except (ImportError, OSError) as e:
            reason = _why_no_compiler(e)
    warnings.warn(
        f"{reason}: kernels are interpreted with NumPy, hundreds of times slower than machine code",
        BackendWarning,
        stacklevel=2,
    )
    from kinetree.compiler.runtime.interpreter import Interpreter

    return Interpreter()


@cache
def compiles() -> bool:
    """Whether there is a compiler for machine code."""
    from kinetree.compiler.runtime.interpreter import Interpreter

    return not isinstance(backend(), Interpreter)


def _why_no_compiler(error: ImportError | OSError) -> str:
    """Why llvmlite cannot be used; any other failed import is raised again."""
    if isinstance(error, OSError):
        return f"llvmlite's library cannot be loaded ({error})"
    if (error.name or "").partition(".")[0] != "llvmlite":
        raise error
    return "llvmlite is not installed (pip install llvmlite brings the compiler)"
