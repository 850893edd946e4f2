"""The interpreter as a back end: every operation on NumPy arrays, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.compiler.graph import Program, interpret
from kinetree.compiler.runtime.arrays import DTYPES
from kinetree.compiler.runtime.interface import Interface

VALUES = 4e6
"""Intermediate values of a piece of a batch: 32 MB."""


class Interpreter:
    """The back end."""

    def compile(
        self, interface: Interface, program: Callable[[], Program], kind: str
    ) -> Interpreted:
        return Interpreted(program(), kind)


class Interpreted:
    """A program that is interpreted when it is called."""

    def __init__(self, program: Program, kind: str) -> None:
        self._program, self._kind = program, DTYPES[kind]
        self.longest = VALUES / (len(program.nodes) + 1)

    def one(self, *arrays: Any) -> Any:
        return NotImplemented

    def gufunc(self, *arrays: Any, out: Any = None) -> Any:
        with np.errstate(all="ignore"):
            found = interpret(self._program, *(np.asarray(x, self._kind) for x in arrays))
        results = tuple(x.astype(self._kind) for x in found)
        if out is not None:
            for x, given in zip(results, out, strict=True):
                given[...] = x
            results = out
        return results if len(results) > 1 else results[0]
