"""The functions of long CUDA C++: targets of guarded calls, and pieces of long code.

Steps pass values to each other through memory, so that any sequence of steps can become a function
at no cost. This has two benefits: `ptxas` spills nearly all values of a function that is too long;
and the functions are distributed over *units* that are compiled in parallel and linked. All units
are the same text, each with its own value of KINETREE_UNIT; without it, the text is whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.compiler.emit.cuda_functions import Parameter, declared
from kinetree.compiler.graph.lowered import Lowered, Step

PIECE = 1_500
"""The least number of instructions of a piece."""
UNIT = 3_000
"""The least number of instructions of a unit: each unit also contains all helpers."""
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
    """Consecutive steps that form one function.

    suffix: of the function's name.
    steps: their indices.
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
    owner: the function whose steps it computes, by index, or None for the program itself.
    piece: its piece of them; None if it calls its pieces.
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
    """The number of units of a text, that of the kernel included."""
    return 1 + len(units(lowered))


def in_kernels_unit(text: str, lowered: Lowered) -> str:
    """A text that only the kernel's own unit, number 0, contains."""
    return f"#if KINETREE_UNIT <= 0\n{text}\n#endif\n" if lowered.functions else text


def declaration(name: str, parameters: Sequence[Parameter]) -> str:
    """The head of a function."""
    return f"ROUTINE void {name}({declared(parameters)})"
