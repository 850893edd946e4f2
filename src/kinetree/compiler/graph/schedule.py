"""The order in which a program is executed: stretches of arithmetic and batches of functions.

Sines, cosines and arctangents are computed by routines that take many arguments at once, so all
that can be ready together are gathered into one call: stage k holds the functions whose arguments
need k - 1 earlier stages. In a robot's program there is usually one stage, the sines and cosines
of all joint angles.

Long stretches are cut into chunks, because a compiler's time grows faster than the length of what
it is given at once. Truth values are not scheduled: they are made anew where they are used, so that
only numbers pass from one chunk to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kinetree.compiler.graph.program import Program
from kinetree.scalar import CALLS, FUNCTIONS, LEAVES, OPERATIONS, TRUTHS


@dataclass(frozen=True)
class Chunk:
    """Arithmetic: the numbers of its nodes, in order."""

    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Batch:
    """One call of a routine.

    routine: "sincos" or "atan2".
    arguments: one tuple of nodes per call, such as (x,) or (y, x).
    results: per call and result of the routine, the node it is, or None where nobody asks.
    """

    routine: str
    arguments: tuple[tuple[int, ...], ...]
    results: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True)
class Calls:
    """Calls of one function of the program, none of which needs another of them: their nodes."""

    function: int
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Guarded:
    """One guarded call of a function of the program: its node."""

    function: int
    node: int


Scheduled = Chunk | Batch | Calls | Guarded

ROUTINES = {op: row.routine for op, row in OPERATIONS.items() if row.routine is not None}
"""Operation -> the routine that computes it and the position of its result."""

RESULTS = {
    routine: 1 + max(k for name, k in ROUTINES.values() if name == routine)
    for routine, _ in ROUTINES.values()
}
"""Routine -> how many results it gives."""


def schedule(program: Program, chunk_size: int, routines: bool = True) -> list[Scheduled]:
    """Cut a program into chunks, batches and calls to be executed in this order.

    Arguments:
        chunk_size: the most operations of a chunk.
        routines: whether functions are gathered into batches, or computed one by one in chunks.
    """
    stages = _stages(program) if routines else []
    steps: list[Scheduled] = []
    done: set[int] = set()
    for stage in range(1, max(stages, default=0) + 1):
        calls = [
            n for n, node in enumerate(program.nodes) if node.op in FUNCTIONS and stages[n] == stage
        ]
        needed = _needed(program, {a for n in calls for a in program.nodes[n].args}, done)
        steps += _stretch(program, needed, chunk_size)
        done.update(needed, calls)
        steps += _batches(program, calls)
    rest = [n for n in range(len(program.nodes)) if n not in done]
    return steps + _stretch(program, rest, chunk_size)


def _stages(program: Program) -> list[int]:
    """How many rounds of functions each node needs, its own included."""
    stages: list[int] = []
    for op, args, _ in program.nodes:
        before = max([stages[a] for a in args], default=0)
        stages.append(before + (op in FUNCTIONS))
    return stages


def _needed(program: Program, results: set[int], done: set[int]) -> list[int]:
    """The nodes still to be computed for some results, in order."""
    pending, needed = list(results), set()
    while pending:
        n = pending.pop()
        if n not in done and n not in needed:
            needed.add(n)
            pending.extend(program.nodes[n].args)
    return sorted(needed)


def number_arguments(program: Program, n: int) -> Sequence[int]:
    """The numbers that a node is computed from, looking through its truth values."""
    args = program.nodes[n].args
    if program.truths.isdisjoint(args):
        return args
    arguments: dict[int, None] = {}
    seen: set[int] = set()  # truth values that many others share are looked through once
    pending = list(args[::-1])
    while pending:
        a = pending.pop()
        if a not in program.truths:
            arguments[a] = None
        elif a not in seen:
            seen.add(a)
            pending.extend(program.nodes[a].args[::-1])
    return list(arguments)


def _stretch(program: Program, nodes: list[int], chunk_size: int) -> list[Scheduled]:
    """Arithmetic and calls, in the program's order; equal calls that stand together are one part.

    A part has about as many operations as a chunk, so that what goes on between parts goes on
    evenly.
    """
    steps: list[Scheduled] = []
    start = 0
    for position, n in enumerate(nodes):
        node = program.nodes[n]
        if node.op not in CALLS:
            continue
        chunks = _chunks(program, nodes[start:position], chunk_size)
        start = position + 1
        if node.op == "call_if":
            steps += [*chunks, Guarded(node.value, n)]
            continue
        last = steps[-1] if steps and not chunks else None
        if isinstance(last, Calls) and _joins(program, last, n, chunk_size):
            steps[-1] = Calls(node.value, (*last.nodes, n))
        else:
            steps += [*chunks, Calls(node.value, (n,))]
    return steps + _chunks(program, nodes[start:], chunk_size)


def _joins(program: Program, calls: Calls, n: int, chunk_size: int) -> bool:
    """Whether a call can be one more of several."""
    node = program.nodes[n]
    most = max(1, chunk_size // len(program.functions[node.value].nodes))
    if calls.function != node.value or len(calls.nodes) >= most:
        return False
    arguments = (program.nodes[a] for a in node.args)
    return not any(a.op == "item" and a.args[0] in calls.nodes for a in arguments)


def _chunks(program: Program, nodes: list[int], chunk_size: int) -> list[Scheduled]:
    idle = LEAVES | TRUTHS
    work = [n for n in nodes if program.nodes[n].op not in idle]
    count = -(-len(work) // chunk_size)  # as few as fit, all of about one length
    bounds = [len(work) * i // count for i in range(count + 1)] if count else []
    return [Chunk(tuple(work[a:b])) for a, b in pairwise(bounds)]


def _batches(program: Program, calls: list[int]) -> list[Scheduled]:
    by_routine: dict[str, dict[tuple[int, ...], list[int | None]]] = {}
    for n in calls:
        node = program.nodes[n]
        routine, position = ROUTINES[node.op]
        same = by_routine.setdefault(routine, {})
        same.setdefault(node.args, [None] * RESULTS[routine])[position] = n
    return [
        Batch(routine, tuple(same), tuple(tuple(results) for results in same.values()))
        for routine, same in by_routine.items()
    ]
