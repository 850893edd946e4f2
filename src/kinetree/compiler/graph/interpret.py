"""The interpreter: it defines what a program means, for any scalar type."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.compiler.graph.evaluate import values
from kinetree.compiler.graph.program import Program, size
from kinetree.scalar import OPERATIONS


def interpret(program: Program, *arguments: Any) -> tuple[np.ndarray, ...]:
    """The results of a program, node by node.

    Arguments:
        arguments: one array per input, of its core shape or with batch axes before it; object
            arrays carry any other scalar type.

    Returns:
        One array per output, batch axes first.
    """
    given, batches = [], []
    for declared, argument in zip(program.inputs, arguments, strict=True):
        array = np.asarray(argument)
        batch = array.shape[: array.ndim - len(declared.shape)]
        flat = array.reshape(*batch, size(declared.shape))
        batches.append(batch)
        given.append([flat[..., i] for i in range(flat.shape[-1])])
    found = values(program, given, _compute)
    batch = np.broadcast_shapes(*batches)
    results = []
    for output in program.outputs:
        elements = [np.broadcast_to(found[n], batch) for n in output.nodes]
        stacked = np.stack(elements, axis=-1) if elements else np.zeros((*batch, 0))
        results.append(stacked.reshape((*batch, *output.shape)))
    return tuple(results)


def _compute(op: str, args: list[Any]) -> Any:
    """One operation; on object arrays, element by element."""
    compute = OPERATIONS[op].compute
    if any(isinstance(a, np.ndarray) and a.dtype == object for a in args):
        return np.frompyfunc(compute, len(args), 1)(*args)
    return compute(*args)
