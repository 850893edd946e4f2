"""Inlining: calls replaced by what they call. Guarded calls stay: they are there to be skipped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kinetree.compiler.graph.evaluate import values
from kinetree.compiler.graph.program import Program, shaped, trace


def inline(program: Program) -> Program:
    """The same program without calls but guarded ones."""
    if not any(node.op == "call" for node in program.nodes):
        return program

    def function(*arguments: list[Any]) -> dict[str, Any]:
        found = values(program, arguments)
        return {o.name: shaped([found[n] for n in o.nodes], o.shape) for o in program.outputs}

    inputs = {declared.name: declared.shape for declared in program.inputs}
    return replace(trace(program.name, function, inputs), method=program.method)
