"""Kernels: a program compiled for the host, called like a NumPy function."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from kinetree._lazy import cached_property
from kinetree.compiler.graph import Program, verify
from kinetree.compiler.graph.differentiate import Chart, jacobian, jvp, vjp
from kinetree.compiler.graph.program import selected, shaped, values
from kinetree.compiler.graph.tangent import tangent
from kinetree.compiler.native.layout import MAX_AXES
from kinetree.compiler.runtime import cache as disk
from kinetree.compiler.runtime.arrays import (
    DTYPES,
    Shapes,
    batch_shape,
    kind_of_dtype,
    kind_of_plain,
    plain_arrays,
    plain_results,
)
from kinetree.compiler.runtime.backend import COMPILING, Backend, Compiled, backend
from kinetree.compiler.runtime.cpu.pieces import in_pieces
from kinetree.compiler.runtime.foreign import foreign_module, foreign_name
from kinetree.compiler.runtime.interface import Description, Interface
from kinetree.compiler.runtime.memory import LARGE
from kinetree.compiler.runtime.patience import patience
from kinetree.errors import MissingExtraError, ShapeError, UnknownNameError, among, unknown
from kinetree.kinds import texts

if TYPE_CHECKING:
    from kinetree.compiler.runtime.c_code import CCode
    from kinetree.compiler.runtime.cpu.native_function import NativeFunction

TARGETS = ("c", "llvm")
"""The languages in which `Kernel.source` gives a kernel."""
SMALL = 10_000
"""Elements of arguments that no small call exceeds."""


class Kernel:
    """A program as machine code. Calling it broadcasts over batch axes, in float64 or float32.

    Arguments:
        request: a text that identifies what `build` returns. It is looked up in the cache first, so
            that a program known from an earlier run is not even traced. None: not cached.
        build: makes the program.
        charts: of arguments that are points of a manifold, the directions they can move in.
        guard: called with the first argument before each call; raises where there is no answer.
        origin: a function and its arguments that make this kernel again, for pickling; by default
            it is made from its program.
        on: the back end; by default that for NumPy's arrays.
        describe: says what the kernel computes, for readers of exported code.
    """

    def __init__(
        self,
        request: str | None,
        build: Callable[[], Program],
        charts: Mapping[str, Chart] | None = None,
        guard: Callable[[Any], None] | None = None,
        origin: tuple[Callable[..., Kernel], tuple[Any, ...]] | None = None,
        on: Backend | None = None,
        describe: Callable[[], Description] | None = None,
    ) -> None:
        self._request, self._build, self._charts = request, build, dict(charts or {})
        self._guard, self._origin, self._backend = guard, origin, on
        self._describe = describe
        self._derived: dict[tuple[str, ...], Kernel] = {}
        self.foreign: dict[Any, Any] = {}  # what other packages' arrays have made of this kernel
        name = None if request is None else disk.key("interface", request)
        kept = None if name is None else disk.load(name)
        if kept is None:
            self.interface = Interface.of(self.program)
            if name is not None:
                disk.save(name, self.interface.dump())
        else:
            self.interface = Interface.parse(kept)
        self.name = self.interface.name
        for result, shape in self.interface.outputs:
            if len(shape) > MAX_AXES:
                raise ShapeError(
                    f"{self.name}: {result} would have {len(shape)} axes; at most {MAX_AXES} fit"
                )
        self.__doc__ = f"{self.name}: {self.interface.signature}"
        if "torch" in sys.modules:  # torch.compile must find it imported
            foreign_module("torch_arrays")
        self._compiled = _ByKind(self)
        self._ones: list[Any] = []  # the functions for one state that are compiled

    def __repr__(self) -> str:
        i = self.interface
        method = f" by {i.method}" if i.method else ""
        shapes = f"{_listed(i.inputs)} -> {_listed(i.outputs)}"
        return f"<Kernel {self.name}{method}: {shapes}, {sum(i.operations.values())} operations>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._origin or (_from_program, (self.program, self._charts))

    def __dask_tokenize__(self) -> tuple[str, str]:
        return "kinetree", self.interface.digest

    @cached_property
    def program(self) -> Program:
        """The program, traced at the first access."""
        parts = (self._request or "").split("|")  # model, parameters, quantity, ..., if it has them
        with patience(parts[2] if len(parts) > 2 else "a program"):
            return verify(self._build())

    @property
    def guarded(self) -> bool:
        """Whether calls raise at states that have no answer."""
        return self._guard is not None

    @property
    def operations(self) -> dict[str, int]:
        """How often each operation is executed for one state."""
        return dict(self.interface.operations)

    @property
    def method(self) -> str:
        """The name of the algorithm; empty if the quantity has only one."""
        return self.interface.method

    def on_scalars(self, *arguments: Sequence[Any]) -> list[Any]:
        """The results on any scalars, for use within a function that is traced itself.

        Arguments:
            arguments: the elements of each argument, in a list.

        Returns:
            For each result, its elements in nested lists.
        """
        found = values(self.program, arguments)
        return [shaped([found[n] for n in o.nodes], o.shape) for o in self.program.outputs]

    # derivatives

    def jvp(self) -> Kernel:
        """The kernel of results and their rates (forward mode).

        It also takes the rates of all arguments. Those of a configuration are velocities, of length
        nv: along q (+) dq.

        Returns:
            A kernel of (arguments, rates) that returns (results, rates).
        """
        return self._derivative("jvp", (), lambda: jvp(self.program, self._charts))

    def vjp(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of gradients of a weighted sum of results (reverse mode).

        Arguments:
            wrt: the names of arguments, all by default.

        Returns:
            A kernel of (arguments, weights of results) that returns a gradient for each name.
            Gradients with respect to a configuration have length nv.
        """
        names = self._arguments(wrt)
        return self._derivative("vjp", names, lambda: vjp(self.program, self._charts, names))

    def tangent(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of the results' rates alone.

        A configuration is taken as plain numbers: its rate has length nq.

        Arguments:
            wrt: the names of the arguments that change, all by default.

        Returns:
            A kernel of (arguments, rates of those in `wrt`) that returns the rates of the results.
        """
        names = self._arguments(wrt)
        return self._derivative("tangent", names, lambda: tangent(self.program, names))

    def ambient(self) -> Kernel:
        """The same kernel, but its derivatives take configurations as plain numbers, of length nq.

        Returns:
            A kernel with the same arguments and results.
        """
        if not self._charts:
            return self
        if ("ambient",) not in self._derived:
            self._derived["ambient",] = Kernel(
                self._request,
                lambda: self.program,
                {},
                self._guard,
                (_derived, (self, "ambient", ())),
                describe=self._describe,
            )
        return self._derived["ambient",]

    def jacobian(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of the derivatives of each result with respect to each argument.

        Arguments:
            wrt: as in `vjp`.

        Returns:
            A kernel of the same arguments. Each result has one more axis at its end, the
            argument's.
        """
        names = self._arguments(wrt)
        build = partial(jacobian, wrt=names)
        return self._derivative("jacobian", names, lambda: build(self.program, self._charts))

    def hessian(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of second derivatives: the `jacobian` of the `jacobian`.

        Arguments:
            wrt: as in `vjp`.

        Returns:
            A kernel of the same arguments. Each result has two more axes at its end.
        """
        return self.jacobian(wrt).jacobian(wrt)

    def selected(self, places: Mapping[str, Sequence[int]]) -> Kernel:
        """The kernel of some entries of the first result; nothing else is computed.

        Arguments:
            places: maps the name of each new result, a vector, to the places of its entries in the
                first result, in C order.

        Returns:
            A kernel of the same arguments.
        """
        chosen = {name: tuple(map(int, at)) for name, at in places.items()}
        key = ("selected", repr(chosen))
        if key not in self._derived:
            request = None if self._request is None else f"{self._request}|{key}"
            origin = (_selected, (self, chosen))
            self._derived[key] = Kernel(
                request, lambda: self._chosen(chosen), self._charts, self._guard, origin
            )
        return self._derived[key]

    def _chosen(self, places: Mapping[str, Sequence[int]]) -> Program:
        nodes = self.program.outputs[0].nodes
        return selected(self.program, {name: [nodes[k] for k in at] for name, at in places.items()})

    @cached_property
    def sparsity(self) -> dict[str, np.ndarray]:
        """For each result, which entries can be other than zero."""
        nodes = self.program.nodes
        return {
            output.name: np.array(
                [nodes[n].op != "const" or nodes[n].value != 0.0 for n in output.nodes]
            ).reshape(output.shape)
            for output in self.program.outputs
        }

    def _derivative(
        self, what: str, names: tuple[str, ...], build: Callable[[], Program]
    ) -> Kernel:
        if not any(prod(shape) for _, shape in self.interface.inputs):
            raise ShapeError(f"{self.name} takes no number: there is nothing to differentiate by")
        key = (what, *names)
        if key not in self._derived:
            chart = "" if self._charts else "|ambient"
            request = None if self._request is None else f"{self._request}{chart}|{key}"
            origin = (_derived, (self, what, names))
            self._derived[key] = Kernel(
                request,
                build,
                self._charts,
                self._guard,
                origin,
                describe=partial(self._describe_derivative, what),
            )
        return self._derived[key]

    def _arguments(self, wrt: str | Sequence[str] | None) -> tuple[str, ...]:
        valid = [name for name, _ in self.interface.inputs]
        if wrt is None:
            return tuple(valid)
        names = (wrt,) if isinstance(wrt, str) else texts("wrt", wrt)
        if not names:
            raise UnknownNameError(f"{self.name}: wrt names no argument; valid are {valid}")
        for name in names:
            if not among(name, valid):
                raise unknown("argument", name, valid, self.name)
        return names

    # source

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
            target: "c" for the source file of `c_code()`; "llvm" for LLVM IR, as it is compiled for
                this processor: one body for a single state and one for a vector of states.
            dtype: of all its numbers, float64 or float32.

        Returns:
            The source.
        """
        if not among(target, TARGETS):
            raise unknown("target", target, TARGETS, "Kernel.source")
        if target == "c":
            return self.c_code(dtype).source
        try:
            from kinetree.compiler.runtime.cpu.machine_code import source  # takes time to import
        except ImportError as e:
            if (e.name or "").partition(".")[0] != "llvmlite":
                raise
            raise MissingExtraError(
                "LLVM IR is printed for this processor, which llvmlite must name: "
                "pip install llvmlite"
            ) from None
        return source(self.program, kind_of_dtype(dtype))

    def _described(self) -> Description:
        return Description(f"{self.name}.", {}) if self._describe is None else self._describe()

    def _describe_derivative(self, what: str) -> Description:
        """What a derivative of this kernel computes, and what its operands hold."""
        summary, notes = self._described()
        inputs, outputs = (
            [name for name, _ in x] for x in (self.interface.inputs, self.interface.outputs)
        )
        if what == "jvp":
            added = {f"d{name}": f"rate of {name}" for name in (*inputs, *outputs)}
            return Description(f"With its rate: {summary}", added | dict(notes))
        along = "its last axis along {0} (+) delta if {0} is a configuration"
        added = {f"weights_{name}": f"weights of {name}" for name in outputs}
        added |= {f"d{name}": f"gradient by {name}; {along.format(name)}" for name in inputs}
        added |= {
            f"d{result}_d{name}": f"derivative of {result} by {name}; {along.format(name)}"
            for result in outputs
            for name in inputs
        }
        kept = {name: notes[name] for name in inputs if name in notes}
        words = "Gradient of a weighted sum" if what == "vjp" else "Derivatives"
        return Description(f"{words}: {summary}", added | kept)

    def compile(self, dtype: Any = np.float64) -> Kernel:
        """Compile now, for one state and for batches, instead of at the first call.

        Arguments:
            dtype: float64 or float32.

        Returns:
            This kernel.
        """
        compiled = self._compiled[kind_of_dtype(dtype)]
        _ = compiled.one, compiled.gufunc
        return self

    def compiled(self, kind: str) -> Compiled:
        """The compiled program for one kind of number; it is compiled on first use.

        Arguments:
            kind: "double" or "float".

        Returns:
            The functions for one state and for batches.
        """
        return self._compiled[kind]

    @cached_property
    def gufunc(self) -> Any:
        """The float64 gufunc."""
        return self._compiled["double"].gufunc

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

    def bind(self, *arrays: Any, out: Any = None) -> Callable[[], Any]:
        """A function without arguments that computes on fixed arrays, for control loops.

        Each call reads what is in the arrays at that moment and overwrites the results. Nothing is
        checked: neither shapes, which are fixed, nor states at which there is no answer.

        Arguments:
            arrays: as in a call; NumPy's arrays, all float64 or all float32. Those of one state
                must be in C order.
            out: an array, or a tuple of them, to write into; new ones if None.

        Returns:
            The function. It returns `out`, the same object at every call.
        """
        from kinetree.compiler.runtime.cpu.native_function import bind  # not needed but here

        return bind(self, arrays, out)

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

        return NativeFunction(self, kind_of_dtype(dtype))

    @property
    def address(self) -> int:
        """The address of `native()`, valid as long as this kernel lives."""
        return self.native().address

    @property
    def signature(self) -> str:
        """The C declaration of `native()`."""
        return self.native().signature

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

    def unguarded(self, given: tuple[Any, ...], out: Any = None) -> Any:
        """The same as `call`, but states that have no answer are not refused.

        Arguments are checked, and converted to plain arrays.

        Arguments:
            given: the arguments, in order; they are checked and converted to plain arrays.
            out: arrays to write the results into.

        Returns:
            The result, or a tuple of several.
        """
        kind = kind_of_plain(given)
        if kind is None and (other := foreign_name(given)):
            return foreign_module(other).call(self, given, out)
        if out is None and kind and kind not in self._compiled:
            self._compiled[kind]  # from now on there is a function for one state
            return self.call(given)
        if out is None and kind and sum(array.size for array in given) < self._small:
            with contextlib.suppress(ValueError, TypeError):  # what is wrong is found out below
                return _arrays(self._compiled[kind].gufunc(*given))
        interface = self.interface
        arrays = plain_arrays(self.name, interface.inputs, given)
        batch = batch_shape(self.name, interface.inputs, arrays)
        kind = kind_of_plain(arrays) or "double"
        compiled = self._compiled[kind]
        results = None
        if out is not None:
            results = plain_results(self.name, interface.outputs, out, batch)
        elif prod(batch) == 1 and (result := compiled.one(*arrays)) is not NotImplemented:
            return result
        inputs, outputs = ([s for _, s in x] for x in (interface.inputs, interface.outputs))
        result = in_pieces(compiled, DTYPES[kind], (inputs, outputs), batch, arrays, results)
        return _arrays(result) if out is None else out


class _ByKind(dict[str, Compiled]):
    """A kernel's program compiled for each kind of number, "double" or "float"; on demand."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        self._kernel = kernel

    def __missing__(self, kind: str) -> Compiled:
        kernel = self._kernel
        with COMPILING:
            if kind not in self:  # another thread may have made it meanwhile
                compiler = kernel._backend or backend()
                made = compiler.compile(kernel.interface, lambda: kernel.program, kind)
                kernel._ones.append(_FirstState(kernel, made))
                self[kind] = made
            return self[kind]


class _FirstState:
    """Stands for the function for one state until there is one to call it with."""

    def __init__(self, kernel: Kernel, compiled: Compiled) -> None:
        self._kernel, self._compiled = kernel, compiled

    def __call__(self, *arrays: Any) -> Any:
        shapes = [shape for _, shape in self._kernel.interface.inputs]
        if len(arrays) != len(shapes) or not all(map(_is_one_state, arrays, shapes)):
            return NotImplemented
        one = self._compiled.one
        ones = self._kernel._ones
        ones[:] = [one if x is self else x for x in ones]
        return one(*arrays)


def _is_one_state(x: Any, core: tuple[int, ...]) -> bool:
    """Whether an array holds one state: axes in front have length one."""
    shape = getattr(x, "shape", None)
    return shape is not None and shape == (1,) * (len(shape) - len(core)) + core


def _arrays(results: Any) -> Any:
    """NumPy's results, its scalars as arrays without axes."""
    if isinstance(results, np.ndarray):
        return results
    return tuple(map(np.asarray, results)) if isinstance(results, tuple) else np.asarray(results)


def _from_program(program: Program, charts: Mapping[str, Chart]) -> Kernel:
    return Kernel(None, lambda: program, charts)


def _selected(kernel: Kernel, places: Mapping[str, Sequence[int]]) -> Kernel:
    return kernel.selected(places)


def _derived(kernel: Kernel, what: str, names: tuple[str, ...]) -> Kernel:
    return getattr(kernel, what)(names) if names else getattr(kernel, what)()


def _listed(operands: Shapes) -> str:
    """Names with shapes, such as q (7), v (7)."""
    return ", ".join(f"{name} ({', '.join(map(str, shape))})" for name, shape in operands)
