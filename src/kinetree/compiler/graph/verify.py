"""The rules every program keeps, checked between passes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kinetree.compiler.graph.program import Program, size
from kinetree.errors import VerificationError
from kinetree.scalar import CALLS, LEAVES, OPERATIONS

_VERIFIED = "_verified"
"""Among the attributes of a program: all rules were found to be kept."""


def verify(program: Program) -> Program:
    """Give the program back, or say which node breaks which rule.

    A program does not change, so it is checked once, however many passes leave it as it is.
    """
    if _VERIFIED in program.__dict__:
        return program

    def fail(what: str) -> VerificationError:
        return VerificationError(f"program {program.name!r}: {what}")

    used: set[int] = set()
    results: list[str] = []
    for number, (op, args, _) in enumerate(program.nodes):
        row = OPERATIONS.get(op)
        if row is None:
            raise fail(f"node {number} ({op}) is not an operation")
        wanted = row.arguments
        if op in LEAVES:
            wanted = _leaf_arguments(program, number, fail)
        if len(args) != len(wanted):
            raise fail(f"node {number} ({op}) has {len(args)} arguments, {len(wanted)} expected")
        for kind, a in zip(wanted, args, strict=True):
            if not 0 <= a < number:
                raise fail(f"node {number} ({op}) uses node {a}, which does not come before it")
            if results[a] != kind:
                raise fail(
                    f"node {number} ({op}) uses node {a}, which is {results[a]!r} and not {kind!r}"
                )
        results.append(row.result)
        used.update(args)
    for output in program.outputs:
        if len(output.nodes) != size(output.shape):
            raise fail(f"result {output.name!r} has {len(output.nodes)} nodes for {output.shape}")
        for a in output.nodes:
            if not 0 <= a < len(results) or results[a] != "r":
                raise fail(f"result {output.name!r} is node {a}, which is not a number")
        used.update(output.nodes)
    for function in program.functions:
        verify(function)
    dead = [n for n in range(len(program.nodes)) if n not in used]
    if dead:
        raise fail(f"node {dead[0]} is dead")
    program.__dict__[_VERIFIED] = True
    return program


def _leaf_arguments(program: Program, number: int, fail: Callable[[str], VerificationError]) -> str:
    """The letters of a leaf's arguments, once its value is checked."""
    op, args, value = program.nodes[number]
    where = f"node {number} ({op})"
    if op in CALLS:
        return _call_arguments(program, op, value, where, fail)
    if op == "item" and not 0 <= value < _results(program, args):
        raise fail(f"{where} is result {value} of a call that has fewer")
    if op == "const" and not (isinstance(value, float) and math.isfinite(value)):
        raise fail(f"{where} holds {value!r}, not a finite number")
    if op == "input":
        if not isinstance(value, tuple) or len(value) != 2:
            raise fail(f"{where} holds {value!r}, not an argument and an element")
        position, element = value
        if not 0 <= position < len(program.inputs):
            raise fail(f"{where} reads argument {position} of {len(program.inputs)}")
        if not 0 <= element < size(program.inputs[position].shape):
            raise fail(f"{where} reads element {element} of {program.inputs[position]}")
    return OPERATIONS[op].arguments


def _call_arguments(
    program: Program,
    op: str,
    position: Any,
    where: str,
    fail: Callable[[str], VerificationError],
) -> str:
    """The letters of a call's arguments, by its function."""
    if not isinstance(position, int) or not 0 <= position < len(program.functions):
        raise fail(f"{where} calls function {position} of {len(program.functions)}")
    function = program.functions[position]
    given = "r" * sum(size(declared.shape) for declared in function.inputs)
    return given if op == "call" else f"b{given}{'r' * len(function.outputs[0].nodes)}"


def _results(program: Program, args: tuple[int, ...]) -> int:
    """The number of results of the call to which an item belongs."""
    call = program.nodes[args[0]]
    return len(program.functions[call.value].outputs[0].nodes) if call.op in CALLS else 0
