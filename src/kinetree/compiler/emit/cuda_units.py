"""The functions of long CUDA C++: what guarded calls run, and the pieces of long code.

Steps pass values to each other through memory, so that any run of steps can be a function at no
cost. Two things are gained: `ptxas` keeps next to nothing in registers if a function is too long;
and the functions are shared out among *units* that can be compiled side by side and linked. All
units are the same text, with another value of KINETREE_UNIT; without it, the text is whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.compiler.emit.cuda_functions import Parameter, declared
from kinetree.compiler.graph.lowered import Lowered, Step

PIECE = 1_500
"""Instructions of a piece at least."""
UNIT = 3_000
"""Instructions of a unit at least: each has the helpers that all kernels begin with, too."""
ROUTINE = """#ifndef KINETREE_UNIT
#define KINETREE_UNIT -1
#endif
#if KINETREE_UNIT < 0
#define LINKAGE static
#else
#define LINKAGE extern "C"
#endif
#ifdef KINETREE_HOST
#define ROUTINE LINKAGE
#else
#define ROUTINE LINKAGE __device__ __noinline__
#endif"""


class Piece(NamedTuple):
    """Consecutive steps that are one function.

    suffix: of the function's name.
    steps: their numbers.
    """

    suffix: str
    steps: range


def pieces(steps: Sequence[Step]) -> list[Piece]:
    """The pieces of a function's steps."""
    found: list[Piece] = []
    start, count = 0, 0
    for k, step in enumerate(steps):
        count += len(step.code)
        if count >= PIECE or k + 1 == len(steps):
            found.append(Piece(f"_piece{len(found)}", range(start, k + 1)))
            start, count = k + 1, 0
    return found


class Routine(NamedTuple):
    """A function of the text.

    name: the end of its name.
    owner: whose steps it computes: a function by its number, or None for the program itself.
    piece: which of them; None if it calls its pieces.
    length: in instructions.
    """

    name: str
    owner: int | None
    piece: Piece | None
    length: int


def routines(lowered: Lowered) -> list[Routine]:
    """All functions: none if a program has no guarded calls."""
    if not lowered.functions:
        return []
    found = list(_of_steps("step", None, lowered.steps))
    for i, function in enumerate(lowered.functions):
        parts = list(_of_steps(f"f{i}", i, function.steps))
        if len(parts) > 1:
            found += [*parts, Routine(f"f{i}", i, None, len(parts))]
        else:
            found += [part._replace(name=f"f{i}") for part in parts]
    return found


def _of_steps(name: str, owner: int | None, steps: Sequence[Step]) -> Iterator[Routine]:
    for piece in pieces(steps):
        length = sum(len(steps[k].code) for k in piece.steps)
        yield Routine(f"{name}{piece.suffix}", owner, piece, length)


def units(lowered: Lowered) -> list[list[Routine]]:
    """The functions of each unit but the kernel's."""
    found: list[list[Routine]] = []
    count = UNIT
    for routine in routines(lowered):
        if count >= UNIT:
            found.append([])
            count = 0
        found[-1].append(routine)
        count += routine.length
    return found


def unit_count(lowered: Lowered) -> int:
    """How many units a text has, that of the kernel included."""
    return 1 + len(units(lowered))


def in_kernels_unit(text: str, lowered: Lowered) -> str:
    """A text that only the kernel's own unit has, which is number 0."""
    return f"#if KINETREE_UNIT <= 0\n{text}\n#endif\n" if lowered.functions else text


def declaration(name: str, parameters: Sequence[Parameter]) -> str:
    """The head of a function."""
    return f"ROUTINE void {name}({declared(parameters)})"
