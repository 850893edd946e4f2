"""What lowering makes of a program: steps of loads, operations and stores, which targets print.

A *place* is where a value lies in memory: an element of an argument, a slot of the scratch memory
through which steps hand values on, or one of the *distinct* results. Duplicate results are computed
and stored once; `Lowered.elements` says, for each element of each output, which result it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kinetree._lazy import cached_property
from kinetree.compiler.graph.program import Input, Output

SCRATCH, RESULT, RECORD = -1, -2, -3
"""Areas of memory. An argument's area is its position, from zero on. Record c of a routine is area
RECORD - c: each call passes its own start offsets."""


class Place(NamedTuple):
    """An element of an area of memory."""

    area: int
    element: int


Operand = int | float
"""A register of the same step, by its number, or a number."""


class Load(NamedTuple):
    """A register from memory."""

    register: int
    place: Place


class Compute(NamedTuple):
    """A register from registers and numbers."""

    register: int
    op: str
    args: tuple[Operand, ...]


class Store(NamedTuple):
    """A register or a number to memory."""

    value: Operand
    place: Place


Instruction = Load | Compute | Store


class Call(NamedTuple):
    """A routine for many arguments at once: rows of them in scratch, rows of results after.

    routine: its name.
    arguments, results: the slots where the first row of each starts.
    length: of a row.
    """

    routine: str
    arguments: int
    results: int
    length: int


class Repeat(NamedTuple):
    """Calls of a function of the program, one after the other.

    function: which.
    rows: for each call, the elements at which its records start.
    """

    function: int
    rows: tuple[tuple[int, ...], ...]


class Guard(NamedTuple):
    """A call of a function of the program, made only if a condition holds in some lane.

    condition: the register of the truth value.
    function: which.
    row: the elements at which its records start.
    """

    condition: int
    function: int
    row: tuple[int, ...]


class Step(NamedTuple):
    """Straight-line code, and a routine or a function that is called after it, if any.

    Registers belong to their step; steps hand values on through memory.
    """

    code: tuple[Instruction, ...]
    call: Call | None = None
    repeat: Repeat | None = None
    guard: Guard | None = None


class Function(NamedTuple):
    """What a `Repeat` or a `Guard` runs.

    steps: in the order of execution, for one call.
    areas: in which area each of its records lies, SCRATCH or RESULT.
    """

    steps: tuple[Step, ...]
    areas: tuple[int, ...]


@dataclass(frozen=True)
class Style:
    """What a target asks of the lowering.

    kind: "double" or "float".
    fused: whether products and sums become one operation.
    routines: whether functions are computed by routines, for many arguments at once.
    chunk: the most operations of a step: a compiler's time grows faster than the length of a block.
    keep: after this many operations without use, reload a value from memory instead of holding its
        register; otherwise a compiler that runs out of registers spills a second copy.
    whole: the number of arguments that routines take multiples of.
    defer: whether a tile's results are written while the next one is computed, see `late`.
    functions: whether functions of a program are kept, or all their calls inlined.
    gathered: whether distinct results lie side by side in memory, so that they can be a record.
    narrow: whether nodes are put into the order that keeps few values alive.
    masked: whether a guarded call runs for several lanes, and must leave some of them as they are.
    """

    kind: str
    fused: bool = False
    routines: bool = False
    chunk: int = 400
    keep: int | None = None
    whole: int = 1
    defer: bool = False
    functions: bool = False
    gathered: bool = False
    narrow: bool = False
    masked: bool = False


@dataclass(frozen=True)
class Lowered:
    """A program as its steps.

    steps: in the order of execution.
    functions: what they repeat.
    scratch: how many slots of scratch they use.
    results: how many distinct results there are.
    elements: for each output, which result each of its elements is.
    constants: results that are the same for every state, and their numbers; no step stores them.
    late: the first step that stores results, if that leaves time to write the previous tile's
        from the same place; None if each tile needs a place of its own.
    """

    name: str
    kind: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    steps: tuple[Step, ...]
    scratch: int
    results: int
    elements: tuple[tuple[int, ...], ...]
    constants: tuple[tuple[int, float], ...]
    late: int | None
    functions: tuple[Function, ...] = ()

    @cached_property
    def places(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each result, the outputs and elements that it is."""
        places: list[list[tuple[int, int]]] = [[] for _ in range(self.results)]
        for output, results in enumerate(self.elements):
            for element, result in enumerate(results):
                places[result].append((output, element))
        return tuple(map(tuple, places))
