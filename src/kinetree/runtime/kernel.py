"""Kernels: a program compiled for the host, called like a NumPy function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from kinetree.emit.layout import MAX_AXES
from kinetree.errors import DtypeError, ShapeError, UnknownNameError, unknown
from kinetree.graph import Program, verify
from kinetree.graph.differentiate import Chart, jacobian, jvp, vjp
from kinetree.runtime import cache as disk

_SINGLE = np.dtype(np.float32)


@dataclass(frozen=True)
class Interface:
    """What a kernel must know of its program without having it: kept in the cache."""

    name: str
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    signature: str
    operations: dict[str, int]
    cost: int
    digest: str
    method: str

    @staticmethod
    def of(program: Program) -> Interface:
        return Interface(
            program.name,
            tuple((i.name, i.shape) for i in program.inputs),
            tuple((o.name, o.shape) for o in program.outputs),
            program.signature,
            dict(program.operations),
            program.cost,
            program.digest,
            program.method,
        )

    def dump(self) -> bytes:
        return json.dumps(self.__dict__).encode()

    @staticmethod
    def parse(data: bytes) -> Interface:
        fields = json.loads(data)
        for side in ("inputs", "outputs"):
            fields[side] = tuple((name, tuple(shape)) for name, shape in fields[side])
        return Interface(**fields)


class Kernel:
    """A program as machine code. Calling it broadcasts over batch axes, in float64 or float32.

    Arguments:
        request: a text that identifies what `build` gives; the cache is asked for it first, so
            that a program known from an earlier run is not even traced. None if nothing does.
        build: makes the program.
        charts: of arguments that are points of a manifold, the directions they can move in.
    """

    def __init__(
        self,
        request: str | None,
        build: Callable[[], Program],
        charts: Mapping[str, Chart] | None = None,
    ) -> None:
        self._request, self._build, self._charts = request, build, dict(charts or {})
        self._derived: dict[tuple[str, ...], Kernel] = {}
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
        self._compiled = _Compiled(self)

    @cached_property
    def program(self) -> Program:
        """The program, traced when somebody asks for it."""
        return verify(self._build())

    @property
    def operations(self) -> dict[str, int]:
        """How often each operation is done for one state."""
        return dict(self.interface.operations)

    @property
    def method(self) -> str:
        """Which of several algorithms it is; empty if there is but one."""
        return self.interface.method

    # derivatives

    def jvp(self) -> Kernel:
        """The kernel of results and their rates: it takes also the rates of all arguments.

        Those of a configuration are velocities, of length nv: along q (+) dq.
        """
        return self._derivative("jvp", (), lambda: jvp(self.program, self._charts))

    def vjp(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of gradients of weighted sums of results: it takes also their weights.

        Arguments:
            wrt: the names of arguments, all by default; gradients by a configuration have length
                nv.
        """
        names = self._arguments(wrt)
        return self._derivative("vjp", names, lambda: vjp(self.program, self._charts, names))

    def jacobian(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of derivatives: of each result by each argument, a last axis for the latter.

        Arguments:
            wrt: as in `vjp`.
        """
        names = self._arguments(wrt)
        build = partial(jacobian, wrt=names)
        return self._derivative("jacobian", names, lambda: build(self.program, self._charts))

    def hessian(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of second derivatives: a last axis more than the `jacobian` has.

        Arguments:
            wrt: as in `vjp`.
        """
        return self.jacobian(wrt).jacobian(wrt)

    @cached_property
    def sparsity(self) -> dict[str, np.ndarray]:
        """Of each result, which entries are not zero by structure, for every state."""
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
        key = (what, *names)
        if key not in self._derived:
            request = None if self._request is None else f"{self._request}|{key}"
            self._derived[key] = Kernel(request, build, self._charts)
        return self._derived[key]

    def _arguments(self, wrt: str | Sequence[str] | None) -> tuple[str, ...]:
        own = [name for name, _ in self.interface.inputs]
        if wrt is None:
            return tuple(own)
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        if not names:
            raise UnknownNameError(f"{self.name}: wrt names no argument; valid are {own}")
        for name in names:
            if name not in own:
                raise unknown("argument", name, own, self.name)
        return names

    @cached_property
    def gufunc(self) -> Any:
        """The float64 gufunc."""
        return self._compiled["double"][0]

    @cached_property
    def gufunc_single(self) -> Any:
        """The float32 gufunc."""
        return self._compiled["float"][0]

    @cached_property
    def _one(self) -> Any:
        """The function for one state in float64; NotImplemented for anything else."""
        return self._compiled["double"][1]

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        # whoever works in float32 alone does not pay for compiling float64
        if out is None and ("_one" in self.__dict__ or not _all_single(arrays)):
            result = self._one(*arrays)
            if result is not NotImplemented:
                return result
        call = self.gufunc_single if _all_single(arrays) else self.gufunc
        try:
            if out is None:
                return call(*arrays)
            return call(*arrays, out=tuple(out) if isinstance(out, tuple) else out)
        except (ValueError, TypeError) as e:
            raise self.explain(e, arrays, out) from None

    # errors

    def explain(self, error: Exception, arrays: tuple[Any, ...], out: Any) -> Exception:
        """Say what is wrong with a call that NumPy refused, in the words of this kernel."""
        if len(arrays) != len(self.interface.inputs):
            names = ", ".join(name for name, _ in self.interface.inputs)
            return ShapeError(f"{self.name} takes {names}: {len(arrays)} arrays were given")
        checked = []
        for (name, shape), given in zip(self.interface.inputs, arrays, strict=True):
            try:
                array = np.asarray(given)
            except ValueError:
                return ShapeError(f"{self.name}: {name} is ragged: rows of one length expected")
            if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
                return DtypeError(
                    f"{self.name}: {name} has dtype {array.dtype}; "
                    "float64 is expected (or float32, or integers)"
                )
            if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
                return ShapeError(
                    f"{self.name}: {name} has shape {array.shape}; "
                    f"the last {_axes(len(shape))} must be {_shape(shape)}"
                )
            checked.append(array.shape[: array.ndim - len(shape)])
        try:
            batch = np.broadcast_shapes(*checked)
        except ValueError:
            listed = ", ".join(
                f"{name} {b}" for (name, _), b in zip(self.interface.inputs, checked, strict=True)
            )
            return ShapeError(f"{self.name}: the batch shapes do not broadcast: {listed}")
        return self._explain_out(error, out, batch)

    def _explain_out(self, error: Exception, out: Any, batch: tuple[int, ...]) -> Exception:
        outs = out if isinstance(out, tuple) else (out,)
        if out is not None and len(outs) != len(self.interface.outputs):
            expected = len(self.interface.outputs)
            return ShapeError(f"{self.name}: out has {len(outs)} arrays; {expected} expected")
        for (name, shape), array in zip(self.interface.outputs, outs, strict=False):
            if array is None:
                continue
            if not isinstance(array, np.ndarray):
                return DtypeError(
                    f"{self.name}: out for {name} is a {type(array).__name__}; an array is expected"
                )
            if array.shape != batch + shape:
                return ShapeError(
                    f"{self.name}: out for {name} has shape {array.shape}; "
                    f"{batch + shape} is expected"
                )
            if array.dtype.kind != "f":
                return DtypeError(
                    f"{self.name}: out for {name} has dtype {array.dtype}; float64 is expected"
                )
            if not array.flags.writeable:
                return ShapeError(f"{self.name}: out for {name} is read-only")
        return error


def _all_single(arrays: tuple[Any, ...]) -> bool:
    return bool(arrays) and all(getattr(a, "dtype", None) == _SINGLE for a in arrays)


class _Compiled(dict[str, tuple[Any, Any]]):
    """A kernel's (gufunc, one-state function) by type, "double" or "float"; made on demand."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        self._kernel = kernel
        self._alive: list[Any] = []

    def __missing__(self, kind: str) -> tuple[Any, Any]:
        from kinetree.runtime.compiled import COMPILING, compiled  # takes time to import

        with COMPILING:
            if kind not in self:  # another thread may have made it meanwhile
                kernel = self._kernel
                gufunc, one, alive = compiled(kernel.interface, lambda: kernel.program, kind)
                self[kind] = gufunc, one
                self._alive += alive
            return self[kind]


def _axes(count: int) -> str:
    return "axis" if count == 1 else f"{count} axes"


def _shape(shape: tuple[int, ...]) -> str:
    return str(shape[0]) if len(shape) == 1 else str(shape)
