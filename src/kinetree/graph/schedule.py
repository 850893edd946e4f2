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

from dataclasses import dataclass
from itertools import pairwise

from kinetree.graph.program import Program
from kinetree.scalar import FUNCTIONS, LEAVES, OPERATIONS


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


ROUTINES = {op: row.routine for op, row in OPERATIONS.items() if row.routine is not None}
"""Operation -> the routine that computes it and the position of its result."""

RESULTS = {
    routine: 1 + max(k for name, k in ROUTINES.values() if name == routine)
    for routine, _ in ROUTINES.values()
}
"""Routine -> how many results it gives."""


def schedule(program: Program, chunk_size: int, routines: bool = True) -> list[Chunk | Batch]:
    """Cut a program into chunks and batches to be executed in this order.

    Arguments:
        chunk_size: the most operations of a chunk.
        routines: whether functions are gathered into batches, or computed one by one in chunks.
    """
    stages = _stages(program) if routines else []
    steps: list[Chunk | Batch] = []
    done: set[int] = set()
    for stage in range(1, max(stages, default=0) + 1):
        calls = [
            n for n, node in enumerate(program.nodes) if node.op in FUNCTIONS and stages[n] == stage
        ]
        needed = _needed(program, {a for n in calls for a in program.nodes[n].args}, done)
        steps += _chunks(program, needed, chunk_size)
        done.update(needed, calls)
        steps += _batches(program, calls)
    rest = [n for n in range(len(program.nodes)) if n not in done]
    return steps + _chunks(program, rest, chunk_size)


def _stages(program: Program) -> list[int]:
    """How many rounds of functions each node needs, its own included."""
    stages: list[int] = []
    for node in program.nodes:
        before = max((stages[a] for a in node.args), default=0)
        stages.append(before + (node.op in FUNCTIONS))
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


def number_arguments(program: Program, n: int) -> list[int]:
    """The numbers that a node is computed from, looking through its truth values."""
    arguments = []
    for a in program.nodes[n].args:
        arguments += number_arguments(program, a) if is_truth(program, a) else [a]
    return arguments


def is_truth(program: Program, n: int) -> bool:
    return OPERATIONS[program.nodes[n].op].result == "b"


def _chunks(program: Program, nodes: list[int], chunk_size: int) -> list[Chunk]:
    work = [n for n in nodes if program.nodes[n].op not in LEAVES and not is_truth(program, n)]
    count = -(-len(work) // chunk_size)  # as few as fit, all of about one length
    bounds = [len(work) * i // count for i in range(count + 1)] if count else []
    return [Chunk(tuple(work[a:b])) for a, b in pairwise(bounds)]


def _batches(program: Program, calls: list[int]) -> list[Batch]:
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
