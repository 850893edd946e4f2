"""Kernels called with traced scalars: their programs become part of the program being traced.

This is how a control law, a cost or a record uses any method of a robot: `robot.gravity_forces(q)`
within a function that is traced runs the kernel's program on the traced scalars.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.compiler.graph import Expression
from kinetree.compiler.graph.evaluate import values
from kinetree.compiler.runtime.arrays import batch_shape, check_count, refuse_masked
from kinetree.compiler.runtime.foreign import refuse_out

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel


def has_traced(given: Any) -> bool:
    """Whether a traced scalar is among arguments.

    Arguments:
        given: a scalar, an array, or these in nested lists.
    """
    if isinstance(given, np.ndarray):
        return given.dtype == object and any(type(x) is Expression for x in given.flat)
    if isinstance(given, (list, tuple)):
        return any(map(has_traced, given))
    return type(given) is Expression


def objects(*vectors: Sequence[Any]) -> list[np.ndarray]:
    """Vectors of scalars as arrays of objects, as users' functions get them."""
    return [np.array(list(x), dtype=object) for x in vectors]


def inlined(kernel: Kernel, given: Sequence[Any], out: Any) -> Any:
    """The results of a kernel on traced scalars, as arrays of objects.

    Arguments:
        kernel: what is called.
        given: its arguments, numbers or traced scalars, in lists or arrays; batches broadcast.
        out: refused.

    Returns:
        The result, or a tuple of several. One number of one state is a scalar and no array.
    """
    refuse_out(kernel, out, "traced scalars")
    inputs = kernel.interface.inputs
    check_count(kernel.name, inputs, given)
    pairs = zip(inputs, given, strict=True)
    arrays = [_objects(f"{kernel.name}: {name}", x) for (name, _), x in pairs]
    batch = batch_shape(kernel.name, inputs, arrays)
    spread = [
        np.broadcast_to(x, batch + core).reshape(prod(batch), prod(core))
        for x, (_, core) in zip(arrays, inputs, strict=True)
    ]
    program = kernel.program
    found = [values(program, [x[k].tolist() for x in spread]) for k in range(prod(batch))]
    results = []
    for output in program.outputs:
        array = np.empty((len(found), len(output.nodes)), dtype=object)
        for row, state in zip(array, found, strict=True):
            row[:] = [state[n] for n in output.nodes]
        results.append(array.reshape(batch + output.shape)[()])
    return results[0] if len(results) == 1 else tuple(results)


def _objects(what: str, given: Any) -> np.ndarray:
    """An argument as an array of objects."""
    refuse_masked(what, given)
    return np.array(given, dtype=object)
