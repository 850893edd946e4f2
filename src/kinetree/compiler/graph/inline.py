"""Inlining: calls replaced by what they call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kinetree.compiler.graph.program import Program, shaped, trace, values


def inline(program: Program) -> Program:
    """The same program without calls."""
    if not program.functions:
        return program

    def function(*arguments: list[Any]) -> dict[str, Any]:
        found = values(program, arguments)
        return {o.name: shaped([found[n] for n in o.nodes], o.shape) for o in program.outputs}

    inputs = {declared.name: declared.shape for declared in program.inputs}
    return replace(trace(program.name, function, inputs), method=program.method)
