"""Lowering: a program as the data that every target prints.

`lower` is the list of passes from a traced program to *steps* of loads, operations and stores. What
a target wants of them is its `Style`. A target then only prints: a table of operations and a page
of text.

A *place* is where a value lies in memory: an element of an argument, a slot of the scratch memory
through which steps hand values on, or one of the *distinct* results. What stands in a matrix twice
is computed and stored once; `Lowered.elements` says, for each element of each output, which result
it is.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.errors import DtypeError
from kinetree.graph.fuse import fuse
from kinetree.graph.program import Input, Output, Program
from kinetree.graph.schedule import Batch, Chunk, is_truth, number_arguments, schedule
from kinetree.graph.scratch import Slots, waiting
from kinetree.graph.verify import verify
from kinetree.lazy import cached_property

SCRATCH, RESULT = -1, -2
"""Areas of memory; an argument's area is its position, from zero on."""


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


class Step(NamedTuple):
    """Straight-line code, and a routine to be called behind it, if any.

    Registers belong to their step; steps hand values on through memory.
    """

    code: tuple[Instruction, ...]
    call: Call | None = None


@dataclass(frozen=True)
class Style:
    """What a target asks of the lowering.

    kind: "double" or "float".
    fused: whether products and sums become one operation.
    routines: whether functions are computed by routines, for many arguments at once.
    chunk: the most operations of a step: a compiler's time grows faster than the length of a block.
    keep: after so many operations without use, a value that also lies in memory is loaded again
        instead of being kept; otherwise a compiler that runs out of registers spills a second copy.
    whole: routines take whole multiples of so many arguments.
    defer: whether a tile's results are written while the next one is computed, see `late`.
    """

    kind: str
    fused: bool = False
    routines: bool = False
    chunk: int = 400
    keep: int | None = None
    whole: int = 1
    defer: bool = False


@dataclass(frozen=True)
class Lowered:
    """A program as its steps.

    steps: in the order of execution.
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

    @cached_property
    def places(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each result, the outputs and elements that it is."""
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.results)]
        for k, own in enumerate(self.elements):
            for element, result in enumerate(own):
                found[result].append((k, element))
        return tuple(map(tuple, found))


def lower(program: Program, style: Style) -> Lowered:
    """The passes, one after the other."""
    verify(program)
    if style.fused:
        program = verify(fuse(program))
    results = {n: k for k, n in enumerate(_distinct(program))}
    steps = schedule(program, style.chunk, style.routines)
    waits = waiting(steps, results) if style.defer else None
    late, held = waits or (None, set[int]())
    slots = Slots(program, steps, style.whole, results.keys() - held, held)
    places = _places(program, results, held, slots)
    code = _Code(program, style, places, {n: Place(RESULT, k) for n, k in results.items()}, held)
    return Lowered(
        name=program.name,
        kind=style.kind,
        inputs=program.inputs,
        outputs=program.outputs,
        steps=(*(code.step(step, slots) for step in steps), *code.rest()),
        scratch=slots.count,
        results=len(results),
        elements=tuple(tuple(results[n] for n in output.nodes) for output in program.outputs),
        constants=tuple(code.constants()),
        late=late,
    )


def _distinct(program: Program) -> dict[int, None]:
    """The nodes that are results, each once, in the order of the outputs."""
    return dict.fromkeys(n for output in program.outputs for n in output.nodes)


def _places(
    program: Program, results: Mapping[int, int], held: set[int], slots: Slots
) -> dict[int, Place]:
    """Where each value that crosses steps lies in memory once it is computed."""
    places = {n: Place(RESULT, k) for n, k in results.items() if n not in held}
    places |= {n: Place(SCRATCH, slot) for n, slot in slots.of.items()}
    places |= {n: Place(*node.value) for n, node in enumerate(program.nodes) if node.op == "input"}
    return places


class _Code:
    """Writes the code of steps.

    places: where values lie in memory once they are computed.
    results: where those go that are results.
    held: results that wait in scratch until the end.
    """

    def __init__(
        self,
        program: Program,
        style: Style,
        places: Mapping[int, Place],
        results: Mapping[int, Place],
        held: set[int],
    ) -> None:
        self.program, self.style = program, style
        self.places, self.results, self.held = places, results, held
        self.stored: set[int] = set()

    def step(self, step: Chunk | Batch, slots: Slots) -> Step:
        if isinstance(step, Chunk):
            return Step(self._chunk(step.nodes))
        area = slots.areas[id(step)]
        writer = _Writer(self)
        for i, arguments in enumerate(step.arguments):
            for j, a in enumerate(arguments):
                writer.store(a, Place(SCRATCH, area.argument(j) + i))
        for j in range(len(step.arguments[0])):  # any number does where there is no argument
            for i in range(len(step.arguments), area.padded):
                writer.code.append(Store(1.0, Place(SCRATCH, area.argument(j) + i)))
        call = Call(step.routine, area.argument(0), area.result(0), area.padded)
        return Step(tuple(writer.code), call)

    def _chunk(self, nodes: Sequence[int]) -> tuple[Instruction, ...]:
        writer = _Writer(self)
        used: dict[int, int] = {}
        keep = self.style.keep
        for time, n in enumerate(nodes):
            if keep is not None:
                for a in number_arguments(self.program, n):
                    if time - used.get(a, time) > keep and a in self.places:
                        writer.registers.pop(a, None)
                    used[a] = time
            writer.compute(n)
            used[n] = time
            if n in self.results and n not in self.held:
                writer.store(n, self.results[n])
                self.stored.add(n)
            if self.places.get(n, Place(RESULT, 0)).area == SCRATCH:
                writer.store(n, self.places[n])
        return tuple(writer.code)

    def rest(self) -> list[Step]:
        """The results that no chunk stores: arguments, results of routines, what was held."""
        writer = _Writer(self)
        for n, place in self.results.items():
            if n not in self.stored and self.program.nodes[n].op != "const":
                writer.store(n, place)
        return [Step(tuple(writer.code))] if writer.code else []

    def constants(self) -> list[tuple[int, float]]:
        nodes = self.program.nodes
        return [
            (place.element, self.number(nodes[n].value))
            for n, place in self.results.items()
            if nodes[n].op == "const"
        ]

    def number(self, value: float) -> float:
        """A number as the type holds it."""
        if self.style.kind == "double":
            return value
        try:
            return float(struct.unpack("<f", struct.pack("<f", value))[0])
        except OverflowError:
            raise DtypeError(
                f"{self.program.name}: the constant {value} does not fit float32; use float64"
            ) from None


class _Writer:
    """Writes the instructions of one step; knows which values are in registers."""

    def __init__(self, code: _Code) -> None:
        self.owner, self.program = code, code.program
        self.code: list[Instruction] = []
        self.registers: dict[int, int] = {}
        self.count = 0

    def operand(self, n: int) -> Operand:
        """A node's value: a number, or a register, loaded if need be."""
        found = self.registers.get(n)
        if found is not None:
            return found
        node = self.program.nodes[n]
        if node.op == "const":
            return self.owner.number(node.value)
        if is_truth(self.program, n):  # made anew in each step: only numbers lie in memory
            return self.compute(n)
        register = self._new(n)
        self.code.append(Load(register, self.owner.places[n]))
        return register

    def compute(self, n: int) -> int:
        node = self.program.nodes[n]
        args = tuple(self.operand(a) for a in node.args)
        register = self._new(n)
        self.code.append(Compute(register, node.op, args))
        return register

    def store(self, n: int, place: Place) -> None:
        self.code.append(Store(self.operand(n), place))

    def _new(self, n: int) -> int:
        register = self.registers[n] = self.count
        self.count += 1
        return register
