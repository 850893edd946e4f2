"""Programs on NumPy's arrays: what machine code and the interpreter have in common."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, Protocol

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.arrays import (
    DTYPES,
    batch_shape,
    kind_of_plain,
    plain_array,
    plain_arrays,
    plain_results,
)
from kinetree.compiler.runtime.backend import CompiledLoop
from kinetree.compiler.runtime.interface import Interface
from kinetree.compiler.runtime.loop_layout import LoopLayout
from kinetree.compiler.runtime.memory import LARGE, empty
from kinetree.compiler.runtime.pieces import in_pieces
from kinetree.errors import DtypeError, ShapeError

SMALL = 10_000
"""Elements of arguments that no small call exceeds."""


class Entry(Protocol):
    """A C function, which lives as long as this object."""

    @property
    def address(self) -> int:
        """Where it is."""


class Native(Protocol):
    """The functions of a program that other compiled code calls."""

    @property
    def entry(self) -> Entry:
        """Takes pointers to arguments, then to results."""

    @property
    def flat_entry(self) -> Entry:
        """The same for all arguments in one array and a result of one number, which it returns."""

    @property
    def xla_handler(self) -> Entry:
        """What XLA calls with a batch."""


class NumpyArrays:
    """NumPy's arrays, as back ends have them."""

    simulates_in_single = False

    @property
    def xp(self) -> Any:
        return np

    def array(self, what: str, given: Any) -> np.ndarray:
        return plain_array(what, given)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        return empty(shape, np.dtype(dtype))

    def on_host(self, array: np.ndarray) -> np.ndarray:
        return array


class HostProgram(ABC):
    """A program for one kind of number, on NumPy's arrays: what its back end compiled.

    Arguments:
        interface: names and shapes.
        kind: "double" or "float".
        longest: how many states may be computed before signals must be handled.
    """

    def __init__(self, interface: Interface, kind: str, longest: float) -> None:
        self.interface, self.kind, self.longest = interface, kind, longest

    @property
    @abstractmethod
    def gufunc(self) -> Any:
        """Called with arrays, any batch axes first, and with `out=`, as NumPy's gufuncs are."""

    @property
    @abstractmethod
    def one(self) -> Callable[..., Any]:
        """Called with arrays of one state; returns NotImplemented for any others."""

    @property
    @abstractmethod
    def native(self) -> Native | None:
        """Functions for other compiled code; None where the program is no machine code."""

    @abstractmethod
    def loop(self, layout: LoopLayout) -> CompiledLoop:
        """The program in a loop over time.

        Arguments:
            layout: which arguments and results are carried from step to step.

        Returns:
            What runs it.
        """

    def prepare(self) -> None:
        """Compile now what calls need, instead of at the first of them."""
        _ = self.one, self.gufunc

    @cached_property
    def _small(self) -> int:
        """Elements of arguments below which a call takes no notable time, nor its results memory.

        Calls with fewer are not checked before they are made, even if they broadcast.
        """
        taken, given = (
            sum(prod(shape) for _, shape in x)
            for x in (self.interface.inputs, self.interface.outputs)
        )
        return min(SMALL, LARGE // DTYPES["double"].itemsize * taken // max(given, 1))

    def __call__(self, arrays: Sequence[np.ndarray], out: Any = None) -> Any:
        """The results for any batch.

        Arguments:
            arrays: the arguments, plain arrays of float64 or float32; their shapes are checked.
            out: an array or a tuple of them to write into, checked too; new ones if None.

        Returns:
            An array, or a tuple of them if there are several results.
        """
        interface = self.interface
        if out is None and len(arrays) == len(interface.inputs):
            elements = 0
            for array in arrays:
                elements += array.size
            if elements < self._small:
                with contextlib.suppress(ValueError, TypeError):  # what is wrong is found out below
                    return _arrays(self.gufunc(*arrays))
        given = plain_arrays(interface.name, interface.inputs, arrays)
        batch = batch_shape(interface.name, interface.inputs, given)
        results = None
        if out is not None:
            results = plain_results(interface.name, interface.outputs, out, batch)
        inputs, outputs = ([s for _, s in x] for x in (interface.inputs, interface.outputs))
        longest, dtype = self.longest, DTYPES[self.kind]
        result = in_pieces(self.gufunc, longest, dtype, (inputs, outputs), batch, given, results)
        return _arrays(result) if out is None else out

    def bind(self, arrays: Sequence[Any], out: Any = None) -> Callable[[], Any]:
        """A function without arguments that computes on fixed arrays.

        Arguments:
            arrays: plain arrays of this kind of number.
            out: an array or a tuple of them to write into; new ones if None.

        Returns:
            The function, which returns `out`.
        """
        interface, dtype = self.interface, DTYPES[self.kind]
        if kind_of_plain(arrays) != self.kind or any(x.dtype is not dtype for x in arrays):
            raise DtypeError(
                f"{interface.name}: bind takes NumPy's arrays, all float64 or all float32; "
                "anything else would have to be copied at every call"
            )
        given = plain_arrays(interface.name, interface.inputs, arrays)
        batch = batch_shape(interface.name, interface.inputs, given)
        answer = self._new_results(batch) if out is None else out
        results = plain_results(interface.name, interface.outputs, answer, batch)
        self._refuse_aliases(given, results)
        if batch:
            return partial(_run, self.gufunc, given, results, answer)
        return self._bind_one(given, results, answer)

    def _bind_one(
        self, arrays: Sequence[np.ndarray], results: tuple[np.ndarray, ...], answer: Any
    ) -> Callable[[], Any]:
        """A function without arguments that computes one state into results."""
        return partial(_run, self.gufunc, arrays, results, answer)

    def _new_results(self, batch: tuple[int, ...]) -> Any:
        dtype = DTYPES[self.kind]
        made = tuple(np.zeros(batch + shape, dtype) for _, shape in self.interface.outputs)
        return made if len(made) > 1 else made[0]

    def _refuse_aliases(self, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        name, dtype = self.interface.name, DTYPES[self.kind]
        for (output, _), result in zip(self.interface.outputs, results, strict=True):
            if result.dtype is not dtype:
                raise DtypeError(
                    f"{name}: out for {output} has dtype {result.dtype}; {dtype} is expected, as "
                    "for the arguments"
                )
            others = (*arrays, *(x for x in results if x is not result))
            if any(np.may_share_memory(result, x) for x in others):
                raise ShapeError(
                    f"{name}: out for {output} shares memory with another array; bind needs one of "
                    "its own"
                )


def _run(gufunc: Any, arrays: Sequence[Any], results: Any, answer: Any) -> Any:
    gufunc(*arrays, out=results)
    return answer


def _arrays(results: Any) -> Any:
    """NumPy's results, its scalars as arrays without axes."""
    if isinstance(results, np.ndarray):
        return results
    return tuple(map(np.asarray, results)) if isinstance(results, tuple) else np.asarray(results)
