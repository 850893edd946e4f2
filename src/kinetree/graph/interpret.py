"""The interpreter: it defines what a program means, for any scalar type."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.graph.operations import OPERATIONS
from kinetree.graph.program import Program


def interpret(program: Program, *arguments: Any) -> tuple[np.ndarray, ...]:
    """The results of a program, node by node.

    Arguments:
        arguments: one array per input, of its core shape or with batch axes before it; object
            arrays carry any other scalar type.

    Returns:
        One array per output, batch axes first.
    """
    given = []
    for declared, argument in zip(program.inputs, arguments, strict=True):
        array = np.asarray(argument)
        batch = array.shape[: array.ndim - len(declared.shape)]
        flat = array.reshape(*batch, -1)
        given.append([flat[..., i] for i in range(flat.shape[-1])])
    values: list[Any] = []
    for op, args, value in program.nodes:
        if op == "const":
            values.append(value)
        elif op == "input":
            values.append(given[value[0]][value[1]])
        else:
            values.append(OPERATIONS[op].compute(*(values[a] for a in args)))
    results = []
    for output in program.outputs:
        elements = np.broadcast_arrays(*(values[n] for n in output.nodes))
        stacked = np.stack(elements, axis=-1) if elements else np.zeros((0,))
        results.append(stacked.reshape(*stacked.shape[:-1], *output.shape))
    return tuple(results)
