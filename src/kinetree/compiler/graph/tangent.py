"""The rates of a program's results along some of its arguments, without the results themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from kinetree.compiler.graph.differentiate import jvp
from kinetree.compiler.graph.evaluate import values
from kinetree.compiler.graph.expression import Expression
from kinetree.compiler.graph.program import Program, shaped, size, trace


def tangent(program: Program, wrt: Collection[str]) -> Program:
    """The program that takes all arguments, then the rates of some, and gives the results' rates.

    Its results are linear in those rates. Every argument is taken as plain numbers.

    Arguments:
        wrt: the names of the arguments that change.
    """
    whole, count = jvp(program, {}), len(program.inputs)
    points, rates = whole.inputs[:count], whole.inputs[count:]
    changing = [k for k, point in enumerate(points) if point.name in wrt]

    def function(*arrays: Sequence[Expression]) -> dict[str, Any]:
        along = dict(zip(changing, arrays[count:], strict=True))
        still = {k: [0.0] * size(rate.shape) for k, rate in enumerate(rates)}
        found = values(whole, [*arrays[:count], *(still | along).values()])
        return {o.name: shaped([found[n] for n in o.nodes], o.shape) for o in whole.outputs[1::2]}

    taken = [*points, *(rates[k] for k in changing)]
    return trace(f"{program.name}.tangent", function, {x.name: x.shape for x in taken})
