"""Back ends: what compiles a program for a kind of number, and calls it.

The kind of array chooses the back end, here and nowhere else: `device_of` says where an array is,
`backend` who computes there. CuPy's arrays are for NVIDIA's GPUs. All others are for the host,
where programs become machine code. Without llvmlite the interpreter does the same, much slower, and
a warning says so once. KINETREE_BACKEND names one of the two ("cpu", "interpreter").
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

from kinetree.compiler.graph import Program
from kinetree.compiler.runtime.forks import forkable_lock
from kinetree.compiler.runtime.interface import Interface
from kinetree.compiler.runtime.loop_layout import Extent, LoopLayout, Rolled
from kinetree.errors import BackendWarning, among, unknown

COMPILING = forkable_lock()
"""Held while code is made or loaded: LLVM's context is not for several threads at once."""
HOST = "cpu"
"""The device of NumPy's arrays."""


class CompiledLoop(Protocol):
    """A program compiled in a loop over time, for one kind of number."""

    def __call__(self, arguments: Sequence[Any], extent: Extent, out: Mapping[str, Any]) -> Rolled:
        """Run systems through time.

        Arguments:
            arguments: those of the program, on the back end's device: (systems, n), or (n,) where
                it is the same for all; of series, (systems, steps, n) or (steps, n).
            extent: how many systems and steps, and what is recorded.
            out: arrays to record into, by name; new ones for all others.

        Returns:
            The states at the end, and what was recorded.
        """


class Compiled(Protocol):
    """A program compiled for one kind of number."""

    def __call__(self, arrays: Sequence[Any], out: Any = None) -> Any:
        """The results for one state or any batch.

        Arguments:
            arrays: the arguments, arrays on the back end's device, batch axes first. Their shapes
                are checked.
            out: an array or a tuple of them, checked too; new ones by default.

        Returns:
            An array, or a tuple of them if there are several results.
        """

    def prepare(self) -> None:
        """Compile now what calls need, instead of at the first of them."""

    def bind(self, arrays: Sequence[Any], out: Any = None) -> Callable[[], Any]:
        """A function without arguments that computes on fixed arrays.

        Arguments:
            arrays: arrays on the back end's device, of this kind of number.
            out: an array or a tuple of them to write into; new ones by default.

        Returns:
            The function, which returns `out`.
        """

    def loop(self, layout: LoopLayout) -> CompiledLoop:
        """The program in a loop over time.

        Arguments:
            layout: which arguments and results are carried from step to step.

        Returns:
            What runs it.
        """


class Backend(Protocol):
    """Compiles programs, and has arrays where they run."""

    @property
    def compiles(self) -> bool:
        """Whether programs become code of the processor that they run on."""

    @property
    def simulates_in_single(self) -> bool:
        """Whether simulations from states in single precision stay in it."""

    @property
    def xp(self) -> Any:
        """The module of its arrays' functions: NumPy, or CuPy, which has the same names."""

    def compile(self, interface: Interface, program: Callable[[], Program], kind: str) -> Compiled:
        """A program for one kind of number.

        Arguments:
            program: returns the program; called only if its compiled form is not in the cache.
            kind: "double" or "float".
        """

    def array(self, what: str, given: Any) -> Any:
        """What a user gives, as an array on this device; an error if it holds no real numbers.

        Arguments:
            what: its name, for messages.
        """

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array that is not initialised."""

    def on_host(self, array: Any) -> Any:
        """The same numbers in an array of NumPy."""


def device_of(array: Any) -> str:
    """Where an array is: "cuda:0" and so on for CuPy's, "cpu" for all others.

    CuPy's kernels run on its current device, which can read arrays of its peers.
    """
    if type(array).__module__.partition(".")[0] != "cupy":
        return HOST
    return f"cuda:{sys.modules['cupy'].cuda.Device().id}"


@cache
def backend(device: str = HOST) -> Backend:
    """The back end for arrays on a device."""
    if device == HOST:
        return _host_backend()
    from kinetree.compiler.runtime.gpu.device_kernel import Gpu  # not needed but here

    return Gpu()


BACKENDS = ("cpu", "interpreter")


def _host_backend() -> Backend:
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


def _why_no_compiler(error: ImportError | OSError) -> str:
    """Why llvmlite cannot be used; any other failed import is raised again."""
    if isinstance(error, OSError):
        return f"llvmlite's library cannot be loaded ({error})"
    if (error.name or "").partition(".")[0] != "llvmlite":
        raise error
    return "llvmlite is not installed (pip install llvmlite brings the compiler)"
