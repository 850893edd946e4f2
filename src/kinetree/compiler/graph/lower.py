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

from kinetree._lazy import cached_property
from kinetree.compiler.graph.fuse import fuse
from kinetree.compiler.graph.garbage import without_searches
from kinetree.compiler.graph.inline import inline
from kinetree.compiler.graph.narrow import narrow
from kinetree.compiler.graph.program import Input, Output, Program
from kinetree.compiler.graph.records import Records
from kinetree.compiler.graph.schedule import Batch, Calls, Chunk, number_arguments, schedule
from kinetree.compiler.graph.scratch import Slots, waiting
from kinetree.compiler.graph.verify import verify
from kinetree.errors import DtypeError

SCRATCH, RESULT, RECORD = -1, -2, -3
"""Areas of memory. An argument's area is its position, from zero on. Record c of a routine is area
RECORD - c: where it starts is said by a row of numbers, another in each call."""


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


class Step(NamedTuple):
    """Straight-line code, and what is to be called behind it, if anything.

    Registers belong to their step; steps hand values on through memory.
    """

    code: tuple[Instruction, ...]
    call: Call | None = None
    repeat: Repeat | None = None


class Function(NamedTuple):
    """What a `Repeat` runs.

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
    keep: after so many operations without use, a value that also lies in memory is loaded again
        instead of being kept; otherwise a compiler that runs out of registers spills a second copy.
    whole: routines take whole multiples of so many arguments.
    defer: whether a tile's results are written while the next one is computed, see `late`.
    functions: whether functions of a program are kept, or all their calls inlined.
    gathered: whether distinct results lie side by side in memory, so that they can be a record.
    narrow: whether nodes are put into the order that keeps few values alive.
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
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.results)]
        for k, own in enumerate(self.elements):
            for element, result in enumerate(own):
                found[result].append((k, element))
        return tuple(map(tuple, found))


@without_searches()
def lower(program: Program, style: Style) -> Lowered:
    """The passes, one after the other."""
    program = verify(program) if style.functions else inline(verify(program))
    if style.narrow:
        program = verify(narrow(program))
    if style.fused:
        program = verify(fuse(program))
    steps = schedule(program, style.chunk, style.routines)
    distinct = dict.fromkeys(n for output in program.outputs for n in output.nodes)
    records = Records(program, steps, distinct if style.gathered else {})
    waits = waiting(steps, distinct, records.items) if style.defer else None
    late, held = waits or (None, set[int]())
    gathered = records.gathered
    if any(n in held for items in gathered.values() for n in items):
        late, held = None, set()
    results, starts, count = _numbered(distinct, gathered)
    slots = Slots(program, steps, style.whole, results.keys() - held, held, records=records)
    starts |= {call: record.start for call, record in records.results.items()}
    places = _places(program, results, held, slots)
    code = _Code(program, style, places, {n: Place(RESULT, k) for n, k in results.items()}, held)
    bodies = [_Body(k, code, records, slots.count) for k in range(len(program.functions))]
    repeats = _Repeats(records, starts)
    return Lowered(
        name=program.name,
        kind=style.kind,
        inputs=program.inputs,
        outputs=program.outputs,
        steps=(
            *(
                made
                for k, step in enumerate(steps)
                for made in (
                    repeats.steps(k, step, code)
                    if isinstance(step, Calls)
                    else [code.step(step, slots)]
                )
            ),
            *code.rest(),
        ),
        functions=tuple(body.function() for body in bodies),
        scratch=max([slots.count, *(body.slots.count for body in bodies)]),
        results=count,
        elements=tuple(tuple(results[n] for n in output.nodes) for output in program.outputs),
        constants=tuple(code.constants()),
        late=late,
    )


def _numbered(
    distinct: Mapping[int, None], gathered: Mapping[int, Sequence[int | None]]
) -> tuple[dict[int, int], dict[int, int], int]:
    """The numbers of the distinct results; where those of calls start; how many there are."""
    numbers: dict[int, int] = {}
    starts: dict[int, int] = {}
    count = 0
    for call, items in gathered.items():
        starts[call] = count
        numbers |= {n: k for k, n in enumerate(items, count) if n is not None}
        count += len(items)
    for n in distinct:
        if n not in numbers:
            numbers[n] = count
            count += 1
    return numbers, starts, count


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
    numbers: arguments that are numbers, the same in all calls of a function.
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
        self.numbers: dict[int, float] = {}

    def step(self, step: Chunk | Batch, slots: Slots) -> Step:
        """Code of straight-line arithmetic, or in front of a routine."""
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
        keep, places = self.style.keep, self.places
        for time, n in enumerate(nodes):
            if keep is not None:
                for a in number_arguments(self.program, n):
                    if time - used.get(a, time) > keep and a in places:
                        writer.registers.pop(a, None)
                    used[a] = time
            writer.compute(n)
            used[n] = time
            if n in self.results and n not in self.held:
                writer.store(n, self.results[n])
                self.stored.add(n)
            place = places.get(n)
            if place is not None and place.area == SCRATCH:
                writer.store(n, place)
        return tuple(writer.code)

    def rest(self) -> list[Step]:
        """The results that no chunk stores: arguments, results of routines, what was held."""
        left = [
            (n, place)
            for n, place in self.results.items()
            if n not in self.stored and self.program.nodes[n].op != "const"
        ]
        steps = []
        for k in range(0, len(left), self.style.chunk):
            writer = _Writer(self)
            for n, place in left[k : k + self.style.chunk]:
                writer.store(n, place)
            steps.append(Step(tuple(writer.code)))
        return steps

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


class _Body:
    """The steps of a function, for one call."""

    def __init__(self, position: int, outer: _Code, records: Records, start: int) -> None:
        program = outer.program.functions[position]
        shared = records.shared[position]
        own = [g for g in range(len(program.inputs)) if g not in shared]
        self.areas = (
            *(SCRATCH for _ in own),
            RESULT if position in records.in_results else SCRATCH,
        )
        results = {n: Place(RECORD - len(own), k) for k, n in enumerate(program.outputs[0].nodes)}
        self.steps = schedule(program, outer.style.chunk, outer.style.routines)
        self.slots = Slots(program, self.steps, outer.style.whole, results, start=start)
        places = dict(results) | {n: Place(SCRATCH, slot) for n, slot in self.slots.of.items()}
        numbers: dict[int, float] = {}
        for n, node in enumerate(program.nodes):
            if node.op == "input":
                group, element = node.value
                if group not in shared:
                    places[n] = Place(RECORD - own.index(group), element)
                elif outer.program.nodes[shared[group][element]].op == "const":
                    numbers[n] = outer.program.nodes[shared[group][element]].value
                else:
                    places[n] = outer.places[shared[group][element]]
        self.code = _Code(program, outer.style, places, results, set())
        self.code.numbers = numbers

    def function(self) -> Function:
        steps = [
            self.code.step(step, self.slots) for step in self.steps if not isinstance(step, Calls)
        ]
        return Function((*steps, *self.code.rest()), self.areas)


class _Repeats:
    """Writes the steps that call functions.

    starts: the first element of each call's results.
    """

    def __init__(self, records: Records, starts: Mapping[int, int]) -> None:
        self.records, self.starts = records, starts

    def steps(self, k: int, calls: Calls, code: _Code) -> list[Step]:
        writer = _Writer(code)
        for n, slot in self.records.copies.get(k, ()):
            writer.store(n, Place(SCRATCH, slot.record.start + slot.offset))
        rows = tuple(self._row(call) for call in calls.nodes)
        step = Step(tuple(writer.code), repeat=Repeat(calls.function, rows))
        items = {n for call in calls.nodes for n in self.records.items[call].values()}
        results = [n for n in items if n in code.results and n not in code.held]
        code.stored.update(results)
        if calls.function in self.records.in_results or not results:
            return [step]
        behind = _Writer(code)
        for n in results:
            behind.store(n, code.results[n])
        return [step, Step(tuple(behind.code))]

    def _row(self, call: int) -> tuple[int, ...]:
        return (*self.records.row(call), self.starts[call])


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
        if n in self.owner.numbers:
            return self.owner.number(self.owner.numbers[n])
        if n in self.program.truths:  # made anew in each step: only numbers lie in memory
            return self.compute(n)
        register = self._new(n)
        self.code.append(Load(register, self.owner.places[n]))
        return register

    def compute(self, n: int) -> int:
        node = self.program.nodes[n]
        args = tuple([self.operand(a) for a in node.args])
        register = self._new(n)
        self.code.append(Compute(register, node.op, args))
        return register

    def store(self, n: int, place: Place) -> None:
        self.code.append(Store(self.operand(n), place))

    def _new(self, n: int) -> int:
        register = self.registers[n] = self.count
        self.count += 1
        return register
