"""Kernels of robots without moving joints: results are constants and need no machine code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from kinetree.errors import ShapeError
from kinetree.graph import Program
from kinetree.runtime.kernel import Kernel

EMPTY = {"poses": (0, 4, 4), "velocities": (0, 6)}
"""The shapes of results that have a row for each body, of which there is none."""


class RigidKernel(Kernel):
    """A kernel whose arguments are all of length zero."""

    def __init__(self, build: Callable[[], Program]) -> None:
        super().__init__(None, build)

    @cached_property
    def _constant(self) -> np.ndarray:
        """The one result, for one state."""
        (output,) = self.program.outputs
        values = [float(self.program.nodes[n].value) for n in output.nodes]
        return np.array(values).reshape(EMPTY.get(self.name, output.shape))

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        try:
            if len(arrays) != len(self.interface.inputs):
                raise ValueError
            given = [np.asarray(array) for array in arrays]
            if any(array.shape[-1:] != (0,) for array in given):
                raise ValueError
            batch = np.broadcast_shapes(*(array.shape[:-1] for array in given))
            single = all(array.dtype == np.float32 for array in given)
            result = np.broadcast_to(self._constant, (*batch, *self._constant.shape))
            if out is None:
                return result.astype(np.float32 if single else np.float64)
            np.copyto(out, result)
            return out
        except (ValueError, TypeError) as e:
            raise self.explain(e, arrays, out) from None

    def _refuse(self) -> NoReturn:
        raise ShapeError(f"{self.name} of a robot without moving joints is constant: call it")

    @property
    def gufunc(self) -> NoReturn:
        self._refuse()

    @property
    def gufunc_single(self) -> NoReturn:
        self._refuse()

    def _derivative(self, *_: Any) -> NoReturn:
        self._refuse()
