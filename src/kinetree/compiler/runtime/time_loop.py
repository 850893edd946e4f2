"""Programs in a loop over time: what one step gives is what the next one takes.

The loop is machine code (`native.time_loop`): each tile of systems runs through time
before the next one, and nothing is written but what is recorded. Where kernels are interpreted, it
is a loop of Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.compiler.graph.program import size
from kinetree.compiler.native.layout import Plan
from kinetree.compiler.runtime.foreign import array_module
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError, ShapeError, among, unknown

PIECE = 256
"""Systems that are run together at least, however long that takes."""
PLANS = 64
"""Plans that are kept for further calls."""
FEW = 2
"""Up to so many systems are run one after the other, without lanes."""


class Rolled(NamedTuple):
    """What a loop over time gives.

    final: the states at the end, by name, (systems, n).
    records: by name, (systems, times, n).
    """

    final: dict[str, np.ndarray]
    records: dict[str, np.ndarray]


class TimeLoop:
    """A kernel in a loop over time.

    Arguments:
        kernel: one step. Its first arguments are the states, its first results their next values in
            the same order. Its last arguments are the series.
        states: how many states there are.
        series: how many arguments have a value for each step.
    """

    def __init__(self, kernel: Kernel, states: int, series: int = 0) -> None:
        self.kernel, self.states = kernel, states
        self.inputs, self.outputs = kernel.interface.inputs, kernel.interface.outputs
        self.first_series = len(self.inputs) - series
        self._plans: dict[Any, tuple[np.ndarray, np.ndarray]] = {}
        self._recordable = dict(self.inputs[:states]) | dict(self.outputs[states:])
        for (name, shape), (result, next_shape) in zip(
            self.inputs[:states], self.outputs[:states], strict=True
        ):
            if shape != next_shape:
                raise ShapeError(
                    f"{kernel.name}: {result} has shape {next_shape} and cannot be the next value "
                    f"of {name}, which has {shape}"
                )

    def __call__(
        self,
        arguments: Sequence[np.ndarray],
        systems: int,
        steps: int,
        every: int = 1,
        record: Sequence[str] = (),
        out: Mapping[str, np.ndarray] | None = None,
        backwards: bool = False,
    ) -> Rolled:
        """Run systems through time.

        Arguments:
            arguments: those of the kernel, (systems, n), or (n,) where it is the same for all; of
                series, (systems, steps, n) or (steps, n).
            systems, steps: how many.
            every: record before each so many steps, beginning with the first.
            record: names of states, and of results that are not next states.
            out: arrays for records, by name; the elements of one time lie side by side. New ones by
                default.
            backwards: whether series and records run from the last step to the first.
        """
        for name in record:
            if not among(name, self._recordable):
                raise unknown("record", name, self._recordable, self.kernel.name)
        kind = np.dtype(np.float32 if all(x.dtype == np.float32 for x in arguments) else float)
        if array_module(arguments[0]) is not np:
            if backwards:
                raise KinetreeError(f"{self.kernel.name}: on a GPU time runs forwards only")
            return self._on_gpu(arguments, systems, steps, every, record, out or {}, kind)
        arrays = [self._array(k, x, systems, steps, kind) for k, x in enumerate(arguments)]
        now = [x.copy() for x in arrays[: self.states]]
        times = -(-steps // every)
        records = {name: self._new(name, systems, times, kind) for name in record}
        records |= {name: array for name, array in (out or {}).items() if name in records}
        compiled = self.kernel.compiled("float" if kind == np.float32 else "double")
        run = self._runner(compiled, systems)
        piece, length = _pieces(systems, steps, every, compiled.longest)
        if piece >= systems and length >= steps and not backwards:
            run([*now, *arrays[self.states :]], steps, every, records)
            return Rolled(self._final(now, systems), records)
        for first in range(0, steps, length):
            for begin in range(0, systems, piece):
                part = slice(begin, min(begin + piece, systems))
                span = range(first, min(first + length, steps))
                given = [x[part] for x in arrays[self.states : self.first_series]]
                series = [_span(x[part], span, backwards) for x in arrays[self.first_series :]]
                seen = range(first // every, -(-span.stop // every))
                kept = {name: _span(x[part], seen, backwards) for name, x in records.items()}
                states = [x[part] for x in now]
                run([*states, *given, *series], len(span), every, kept)
        return Rolled(self._final(now, systems), records)

    def _final(self, now: Sequence[np.ndarray], systems: int) -> dict[str, np.ndarray]:
        return {
            name: x.reshape(systems, *shape)
            for (name, shape), x in zip(self.inputs[: self.states], now, strict=True)
        }

    def _runner(self, compiled: Any, systems: int) -> Any:
        """What runs the loop: machine code for few or for many systems, or Python."""
        if not hasattr(compiled, "rollout"):
            return self._interpret
        return _Machine(self, compiled.rollout_one if systems <= FEW else compiled.rollout)

    def _on_gpu(
        self,
        arguments: Sequence[Any],
        systems: int,
        steps: int,
        every: int,
        record: Sequence[str],
        out: Mapping[str, Any],
        kind: np.dtype[Any],
    ) -> Rolled:
        """The loop as one launch, whose records are new arrays and then copied."""
        from kinetree.compiler.runtime.gpu.device_loop import GpuTimeLoop

        cp = array_module(arguments[0])
        name = "float" if kind == np.float32 else "double"
        key = ("loop", name, self.states, self.first_series, cp.cuda.Device().id)
        series = len(self.inputs) - self.first_series
        if key not in self.kernel.foreign:
            self.kernel.foreign[key] = GpuTimeLoop(self.kernel, self.states, series, name)
        constants = range(self.states, self.first_series)
        shared = tuple(k for k in constants if arguments[k].shape == self.inputs[k][1])
        arrays = [
            cp.asarray(x, kind).ravel()
            if k in shared
            else cp.ascontiguousarray(self._array(k, x, systems, steps, kind))
            for k, x in enumerate(arguments)
        ]
        times = -(-steps // every)
        records = {name: self._new(name, systems, times, kind, cp) for name in record}
        loop = self.kernel.foreign[key]
        now = loop(arrays, shared, systems, steps, every, records)
        for name in records.keys() & out.keys():
            out[name][...] = records[name]
            records[name] = out[name]
        return Rolled(self._final(now, systems), records)

    def _array(self, k: int, x: np.ndarray, systems: int, steps: int, kind: Any) -> np.ndarray:
        """An argument as (systems, n) or, of a series, (systems, steps, n), n contiguous."""
        name, shape = self.inputs[k]
        axes = (systems, steps) if k >= self.first_series else (systems,)
        core = (*axes[1:], size(shape))
        xp = array_module(x)
        array = xp.ascontiguousarray(x, kind)
        if array.shape == (systems, *core):
            return array
        try:
            return xp.broadcast_to(
                array.reshape(*array.shape[: array.ndim - len(shape)], size(shape)),
                (systems, *core),
            )
        except ValueError:
            raise ShapeError(
                f"{self.kernel.name}: {name} has shape {x.shape}; {(*axes, *shape)} is expected"
            ) from None

    def _new(self, name: str, systems: int, times: int, kind: Any, xp: Any = np) -> np.ndarray:
        return xp.empty((systems, times, *self._recordable[name]), kind)

    def plan(
        self, steps: int, every: int, records: tuple[str, ...], vector: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the machine code is told of a loop, and the table that this refers to."""
        key = (steps, every, records, vector)
        if key not in self._plans:
            if len(self._plans) >= PLANS:
                self._plans.clear()
            self._plans[key] = self._new_plan(*key)
        return self._plans[key]

    def _new_plan(
        self, steps: int, every: int, records: tuple[str, ...], vector: int
    ) -> tuple[np.ndarray, np.ndarray]:
        starts = np.cumsum([0, *(size(shape) for _, shape in self.outputs)])
        results = [name for name, _ in self.outputs]
        states = [name for name, _ in self.inputs[: self.states]]
        plans = [
            [
                states.index(name) if name in states else -1,
                0 if name in states else int(starts[results.index(name)]),
                size(self._recordable[name]),
            ]
            for name in records
        ]
        sizes = [size(shape) for _, shape in self.inputs + self.outputs]
        identity = np.arange(max(sizes) + 64, dtype=np.int32) * np.int32(vector)
        head = {
            Plan.STEPS: steps,
            Plan.EVERY: every,
            Plan.STATES: self.states,
            Plan.SERIES: self.first_series,
            Plan.RECORDS: len(records),
            Plan.LARGEST: max(sizes),
            Plan.IDENTITY: identity.ctypes.data,
        }
        numbers = [*(head[k] for k in sorted(head)), *(n for p in plans for n in p)]
        return np.array(numbers, np.int64), identity

    def _interpret(
        self, arrays: list[np.ndarray], steps: int, every: int, records: dict[str, np.ndarray]
    ) -> None:
        """The loop in Python; final states are written over the first."""
        states = arrays[: self.states]
        names = [name for name, _ in self.inputs[: self.states]]
        for k in range(steps):
            given = [
                x[:, k] if i >= self.first_series else x
                for i, x in enumerate(arrays[self.states :], self.states)
            ]
            shaped = [
                x.reshape(len(x), *shape)
                for x, (_, shape) in zip([*states, *given], self.inputs, strict=True)
            ]
            results = self.kernel(*shaped)
            results = results if isinstance(results, tuple) else (results,)
            if k % every == 0:
                found = dict(zip(names, states, strict=True))
                found |= {
                    n: r for (n, _), r in zip(self.outputs, results, strict=True) if n not in found
                }
                for name, array in records.items():
                    array[:, k // every] = found[name].reshape(array[:, 0].shape)
            for state, result in zip(states, results, strict=False):
                state[...] = result.reshape(state.shape)


class _Machine:
    """The loop as machine code."""

    def __init__(self, loop: TimeLoop, rollout: Any) -> None:
        self.loop, self.rollout = loop, rollout

    def __call__(
        self, arrays: list[np.ndarray], steps: int, every: int, records: dict[str, np.ndarray]
    ) -> None:
        """As `TimeLoop._interpret`."""
        loop = self.loop
        operands = [*arrays, *arrays[: loop.states], *records.values()]
        strides = [
            [x.strides[0], x.strides[1] if self._has_time(k, len(arrays)) else 0]
            for k, x in enumerate(operands)
        ]
        plan, _ = loop.plan(steps, every, tuple(records), self.rollout.vector)
        args = np.array([x.__array_interface__["data"][0] for x in operands], np.int64)
        self.rollout(args, np.array(strides, np.int64), plan, len(arrays[0]))

    def _has_time(self, k: int, arguments: int) -> bool:
        """Whether an operand has an axis of time: series and records."""
        loop = self.loop
        return loop.first_series <= k < arguments or k >= arguments + loop.states


def _span(array: np.ndarray, span: range, backwards: bool) -> np.ndarray:
    """A stretch of time, the second axis."""
    if not backwards:
        return array[:, span.start : span.stop]
    return array[:, ::-1][:, span.start : span.stop]


def _pieces(systems: int, steps: int, every: int, longest: float) -> tuple[int, int]:
    """How many systems, and how many steps, are run between two looks at signals."""
    length = max(1, int(longest / min(systems or 1, PIECE)) // every) * every
    length = min(length, max(steps, 1))
    return max(PIECE, int(longest / length)), length
