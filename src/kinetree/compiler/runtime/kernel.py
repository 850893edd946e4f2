"""Kernels: a program compiled for the host, called like a NumPy function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray

from kinetree._lazy import cached_property
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.differentiate import TangentMap
from kinetree.compiler.graph.evaluate import values
from kinetree.compiler.graph.program import shaped
from kinetree.compiler.runtime.arrays import (
    Shapes,
    kind_of_dtype,
    kind_of_numbers,
    kind_of_plain,
    plain_arrays,
)
from kinetree.compiler.runtime.backend import COMPILING, Backend
from kinetree.compiler.runtime.deriving import Deriving
from kinetree.compiler.runtime.exporting import Exporting
from kinetree.compiler.runtime.foreign import foreign_module, foreign_name
from kinetree.compiler.runtime.inlining import has_traced, inlined
from kinetree.compiler.runtime.interface import Description
from kinetree.compiler.runtime.program_key import ProgramKey

Form = TypeVar("Form")


class Kernel(Deriving, Exporting):
    """A program as machine code. Calling it broadcasts over batch axes, in float64 or float32.

    Arguments:
        request: identifies what `build` returns. It is looked up in the cache first, so that a
            program known from an earlier run is not even traced. None: not cached.
        build: makes the program.
        charts: of arguments that are points of a manifold, the directions they can move in.
        guard: called with the first argument before each call; raises where there is no answer.
        origin: a function and its arguments that make this kernel again, for pickling; by default
            it is made from its program.
        on: the back end for NumPy's arrays; by default the one of this process.
        describe: says what the kernel computes, for readers of exported code.
    """

    def __init__(
        self,
        request: ProgramKey | None,
        build: Callable[[], Program],
        charts: Mapping[str, TangentMap] | None = None,
        guard: Callable[[Any], None] | None = None,
        origin: tuple[Callable[..., Kernel], tuple[Any, ...]] | None = None,
        on: Backend | None = None,
        describe: Callable[[], Description] | None = None,
    ) -> None:
        super().__init__(request, build, on, describe)
        self._charts, self._guard, self._origin = dict(charts or {}), guard, origin
        self._derived = {}
        self._forms: dict[str, Any] = {}  # this kernel in other packages, by their names
        self.torch_operator = _torch_operator(self)
        self._ones: list[Callable[..., Any]] = []  # the compiled functions for one state
        self._kinds_of_ones: set[str] = set()
        self.__doc__ = f"{self.name}: {self.interface.signature}"
        if "torch" in sys.modules:  # torch.compile must find it imported
            foreign_module("torch_arrays")

    def __repr__(self) -> str:
        i = self.interface
        method = f" by {i.method}" if i.method else ""
        shapes = f"{_listed(i.inputs)} -> {_listed(i.outputs)}"
        return f"<Kernel {self.name}{method}: {shapes}, {sum(i.operations.values())} operations>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._origin or (_from_program, (self.program, self._charts))

    def __dask_tokenize__(self) -> tuple[str, str]:
        return "kinetree", self.interface.digest

    @property
    def guarded(self) -> bool:
        """Whether calls raise at states that have no answer."""
        return self._guard is not None

    @cached_property
    def gufunc(self) -> Any:
        """The float64 gufunc."""
        return self.compiled("double").gufunc

    def on_scalars(self, *arguments: Sequence[Any]) -> list[Any]:
        """The results on any scalars, for use within a function that is traced itself.

        Arguments:
            arguments: the elements of each argument, in a list.

        Returns:
            For each result, its elements in nested lists.
        """
        computed = values(self.program, arguments)
        return [shaped([computed[n] for n in o.nodes], o.shape) for o in self.program.outputs]

    def in_package(self, package: str, make: Callable[[Kernel], Form]) -> Form:
        """This kernel as another package has it, made on first use.

        Arguments:
            package: its name.
            make: makes it from this kernel.

        Returns:
            What was made.
        """
        if package not in self._forms:
            self._forms[package] = make(self)
        form: Form = self._forms[package]
        return form

    def compile(self, dtype: Any = np.float64) -> Kernel:
        """Compile now, for one state and for batches, instead of at the first call.

        Arguments:
            dtype: float64 or float32.

        Returns:
            This kernel.
        """
        self.compiled(kind_of_dtype(dtype)).prepare()
        return self

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The results for one state or any batch; `runtime.arrays` says what is accepted.

        Arguments:
            arrays: one per argument, its last axes those of one state, the others broadcast.
            out: an array, or a tuple of them, to write into.

        Returns:
            An array, or a tuple of them if there are several results.
        """
        return self.call(arrays, out)

    def call(self, arrays: tuple[Any, ...], out: Any = None) -> Any:
        """The same as calling the kernel, with the arguments in a tuple.

        Arguments:
            arrays: the arguments, in order.
            out: arrays to write the results into.

        Returns:
            The result, or a tuple of several.
        """
        if self._guard is not None and arrays and not foreign_name(arrays):
            self._guard(arrays[0])
        if (
            not arrays or type(arrays[0]) is not ndarray
        ):  # torch.compile cannot follow what is below
            return self.unguarded(arrays, out)
        if out is None:
            for one in self._ones:
                result = one(*arrays)
                if result is not NotImplemented:
                    return result
        elif type(out) is ndarray and out.flags.writeable:
            for one in self._ones:
                result = one(*arrays)
                if getattr(result, "shape", None) == out.shape and result.dtype == out.dtype:
                    out[...] = result  # one state
                    return out
        return self.unguarded(arrays, out)

    def streamed(self, *arrays: Any, stretch: int = 1 << 18) -> Any:
        """The results for arrays of NumPy, computed on a GPU: CuPy's current device.

        Stretches of states are copied there and back while others are computed, so that arrays may
        be larger than the device's memory.

        Arguments:
            arrays: as in a call.
            stretch: states that are copied and computed at a time.

        Returns:
            An array of NumPy, or a tuple of them if there are several results.
        """
        from kinetree.compiler.runtime.gpu.streaming import streamed  # not needed but here

        if self._guard is not None and arrays:
            self._guard(arrays[0])
        return streamed(self, arrays, stretch)

    def unguarded(self, given: tuple[Any, ...], out: Any = None) -> Any:
        """The same as `call`, but states that have no answer are not refused.

        Arguments are checked, and converted to plain arrays.

        Arguments:
            given: the arguments, in order.
            out: arrays to write the results into.

        Returns:
            The result, or a tuple of several.
        """
        kind, arrays = kind_of_plain(given), given
        if kind is None:
            if other := foreign_name(given):
                return foreign_module(other).call(self, given, out)
            if has_traced(given):
                return inlined(self, given, out)
            arrays = tuple(plain_arrays(self.name, self.interface.inputs, given))
            kind = kind_of_numbers(arrays)
        if out is None and kind not in self._kinds_of_ones and self._is_one_state(arrays):
            result = self._one(kind)(*arrays)
            if result is not NotImplemented:
                return result
        return self.compiled(kind)(arrays, out)

    def _one(self, kind: str) -> Callable[..., Any]:
        """The function for one state, compiled now; from now on `call` tries it first."""
        one = self.compiled(kind).one
        with COMPILING:
            if kind not in self._kinds_of_ones:  # another thread may have added it meanwhile
                self._kinds_of_ones.add(kind)
                self._ones.append(one)
        return one

    def _is_one_state(self, arrays: Sequence[ndarray]) -> bool:
        """Whether arrays hold one state: axes in front have length one."""
        inputs = self.interface.inputs
        return len(arrays) == len(inputs) and all(
            x.shape == (1,) * (x.ndim - len(core)) + core
            for x, (_, core) in zip(arrays, inputs, strict=True)
        )


def _torch_operator(kernel: Kernel) -> Callable[[], str]:
    """A function that gives the name of a kernel's operator in PyTorch, which registers it.

    `torch.compile` calls it while it compiles, and takes the name as a constant.
    """

    def name() -> str:
        found: str = foreign_module("torch_arrays").registered(kernel)
        return found

    name._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return name


def _from_program(program: Program, charts: Mapping[str, TangentMap]) -> Kernel:
    return Kernel(None, lambda: program, charts)


def _listed(operands: Shapes) -> str:
    """Names with shapes, such as q (7), v (7)."""
    return ", ".join(f"{name} ({', '.join(map(str, shape))})" for name, shape in operands)
