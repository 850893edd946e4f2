"""The interpreter as a back end: every operation on NumPy arrays, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kinetree.compiler.graph import Program, interpret
from kinetree.compiler.runtime.arrays import DTYPES
from kinetree.compiler.runtime.host_loop import HostLoop, Run
from kinetree.compiler.runtime.host_program import HostProgram, NumpyArrays
from kinetree.compiler.runtime.interface import Interface
from kinetree.compiler.runtime.loop_layout import LoopLayout

VALUES = 4e6
"""Intermediate values of a piece of a batch: 32 MB."""


class Interpreter(NumpyArrays):
    """The back end."""

    compiles = False

    def compile(
        self, interface: Interface, program: Callable[[], Program], kind: str
    ) -> Interpreted:
        return Interpreted(interface, program(), kind)


class Interpreted(HostProgram):
    """A program that is interpreted when it is called."""

    native = None

    def __init__(self, interface: Interface, program: Program, kind: str) -> None:
        super().__init__(interface, kind, longest=VALUES / (len(program.nodes) + 1))
        self._program = program

    def one(self, *arrays: Any) -> Any:
        """One state is a batch like any other here."""
        return NotImplemented

    def gufunc(self, *arrays: Any, out: Any = None) -> Any:
        """The results for any batch."""
        dtype = DTYPES[self.kind]
        with np.errstate(all="ignore"):
            found = interpret(self._program, *(np.asarray(x, dtype) for x in arrays))
        results = tuple(x.astype(dtype) for x in found)
        if out is not None:
            for x, given in zip(results, out, strict=True):
                given[...] = x
            results = out
        return results if len(results) > 1 else results[0]

    def loop(self, layout: LoopLayout) -> HostLoop:
        """The program in a loop of Python."""
        run: Run = partial(self._run, layout)
        return HostLoop(layout, self.kind, self.longest, lambda _: run)

    def _run(
        self,
        layout: LoopLayout,
        arrays: list[np.ndarray],
        steps: int,
        every: int,
        records: dict[str, np.ndarray],
    ) -> None:
        """The loop; see `runtime.host_loop.Run`."""
        states = arrays[: layout.states]
        names = [name for name, _ in layout.inputs[: layout.states]]
        for k in range(steps):
            given = [x[:, k] if i >= layout.first_series else x for i, x in enumerate(arrays)]
            shaped = [
                x.reshape(len(x), *shape)
                for x, (_, shape) in zip(given, layout.inputs, strict=True)
            ]
            results = self.gufunc(*shaped)
            results = results if isinstance(results, tuple) else (results,)
            if k % every == 0:
                found = dict(zip(names, states, strict=True))
                found |= {
                    n: r
                    for (n, _), r in zip(layout.outputs, results, strict=True)
                    if n not in found
                }
                for name, array in records.items():
                    array[:, k // every] = found[name].reshape(array[:, 0].shape)
            for state, result in zip(states, results, strict=False):
                state[...] = result.reshape(state.shape)
