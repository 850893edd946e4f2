"""Where the values of a program lie in memory: in its arguments, in scratch, among its results.

`Areas` tells code generation where each value lies. A function that a program calls differs from
the program itself: its arguments and results are records. Each call passes the start offsets of its
records, except for those that all calls share.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence

from kinetree.compiler.graph.guard_slots import arguments
from kinetree.compiler.graph.lowered import RECORD, RESULT, SCRATCH, Place, Style
from kinetree.compiler.graph.program import Node, Program
from kinetree.compiler.graph.records import Records, Slot
from kinetree.compiler.graph.schedule import Guarded, Scheduled, schedule
from kinetree.compiler.graph.scratch import BatchRows, Slots, waiting


class Areas:
    """The places of one program or function.

    steps: as it is scheduled.
    records: those of its calls.
    slots: of scratch.
    results: where results are stored, by their nodes.
    held: results that wait in scratch until the end.
    places: where values that cross steps lie once they are computed.
    stores: where chunks store what they compute: among the results, in scratch, or both.
    numbers: arguments that are numbers, the same in all calls of a function.
    callees: for each function that is called, its position among all, and its places.
    """

    def __init__(
        self,
        program: Program,
        steps: Sequence[Scheduled],
        records: Records,
        slots: Slots,
        results: Mapping[int, Place],
        held: Collection[int] = (),
    ) -> None:
        self.program, self.steps, self.records, self.slots = program, steps, records, slots
        self.results, self.held = results, held
        at_once = {n: place for n, place in results.items() if n not in held}
        in_scratch = {n: Place(SCRATCH, slot) for n, slot in slots.of.items()}
        self.places = at_once | in_scratch
        self.stores = {n: [place] for n, place in at_once.items()}
        for n, place in in_scratch.items():
            self.stores.setdefault(n, []).append(place)
        self.numbers: dict[int, float] = {}
        self.callees: list[tuple[int, Areas]] = []

    @property
    def scratch(self) -> int:
        """How many slots of scratch are used."""
        return self.slots.count

    def batch(self, step: int) -> BatchRows:
        """Where the batch of a step has its arguments and results."""
        return self.slots.batches[step]

    def is_stored_at_once(self, n: int) -> bool:
        """Whether a value is a result that is stored as soon as it is computed."""
        return n in self.results and n not in self.held

    def guard_arguments(self, call: int) -> list[Place | float]:
        """Where the function of a guarded call finds its arguments; numbers are known."""
        copied = self.slots.guards.arguments[call]
        return [
            self._found(n, copied.get(position))
            for position, n in enumerate(arguments(self.program, call))
        ]

    def _found(self, n: int, slot: Slot | None) -> Place | float:
        if slot is not None:
            return slot_place(slot)
        node = self.program.nodes[n]
        if node.op == "const":
            return float(node.value)
        return self.numbers[n] if n in self.numbers else self.places[n]

    def guard_results(self, call: int) -> list[Place]:
        """Where the results of a guarded call lie."""
        return [slot_place(slot) for slot in self.slots.guards.results[call]]


def slot_place(slot: Slot) -> Place:
    """The place of a slot."""
    return Place(SCRATCH, slot.record.start + slot.offset)


def of_guards(steps: Sequence[Scheduled], records: Records) -> set[int]:
    """The results of guarded calls: in scratch, which they may leave as it is."""
    calls = (step.node for step in steps if isinstance(step, Guarded))
    return {n for call in calls for n in records.items[call].values()}


class ProgramAreas(Areas):
    """The places of a program.

    late: as in `Lowered`.
    count: how many distinct results there are.
    """

    def __init__(self, program: Program, style: Style) -> None:
        steps = schedule(program, style.chunk, style.routines)
        distinct = dict.fromkeys(n for output in program.outputs for n in output.nodes)
        records = Records(program, steps, distinct if style.gathered else {})
        self.late, held = _held(steps, distinct, records) if style.defer else (None, set[int]())
        held |= of_guards(steps, records) & distinct.keys()
        numbers, self._starts, self.count = _number(distinct, records.gathered)
        slots = Slots(program, steps, style.whole, numbers.keys() - held, held, records=records)
        self._starts |= {call: record.start for call, record in records.results.items()}
        results = {n: Place(RESULT, k) for n, k in numbers.items()}
        super().__init__(program, steps, records, slots, results, held)
        for n, node in enumerate(program.nodes):
            if node.op == "input":
                self.places[n] = Place(*node.value)

    @property
    def elements(self) -> tuple[tuple[int, ...], ...]:
        """For each output, which result each of its elements is."""
        outputs = self.program.outputs
        return tuple(tuple(self.results[n].element for n in output.nodes) for output in outputs)

    def row(self, call: int) -> tuple[int, ...]:
        """The elements at which the records of a call start: its arguments, then its results."""
        return (*self.records.row(call), self._starts[call])


class FunctionAreas(Areas):
    """The places of a function of a program, for one call.

    record_areas: in which area each of its records lies, SCRATCH or RESULT.
    """

    def __init__(self, position: int, caller: Areas, style: Style) -> None:
        program = caller.program.functions[position]
        shared = caller.records.shared[position]
        groups = [g for g in range(len(program.inputs)) if g not in shared]  # those in records
        in_results = position in caller.records.in_results
        self.record_areas = (*(SCRATCH for _ in groups), RESULT if in_results else SCRATCH)
        nodes = program.outputs[0].nodes
        results = {n: Place(RECORD - len(groups), k) for k, n in enumerate(nodes)}
        steps = schedule(program, style.chunk, style.routines)
        records = Records(program, steps, {})
        held = of_guards(steps, records) & results.keys()
        elsewhere = results.keys() - held
        slots = Slots(
            program,
            steps,
            style.whole,
            elsewhere,
            held,
            start=caller.scratch,
            records=records,
            outside=lambda n: None if n in elsewhere else _shared_area(program.nodes[n], shared),
        )
        super().__init__(program, steps, records, slots, results, held)
        for n, node in enumerate(program.nodes):
            if node.op == "input":
                group, element = node.value
                if group in shared:
                    self._share(n, caller, shared[group][element])
                else:
                    self.places[n] = Place(RECORD - groups.index(group), element)

    def _share(self, n: int, caller: Areas, source: int) -> None:
        """Let an argument be a value of the caller, the same in all calls."""
        node = caller.program.nodes[source]
        if node.op == "const":
            self.numbers[n] = node.value
        else:
            self.places[n] = caller.places[source]


def _shared_area(node: Node, groups: Container[int]) -> int | None:
    """Where an argument or a number is that is the same in all calls: not in scratch, for all we
    know; None if it is not."""
    return RESULT if node.op == "const" or node.value[0] in groups else None


def _held(
    steps: Sequence[Scheduled], distinct: Mapping[int, None], records: Records
) -> tuple[int | None, set[int]]:
    """The first step that stores results, and the results that are held back until the end.

    None if results of a tile need a place of their own: too many are early, or one that would be
    held is part of a record, which must be complete.
    """
    late, held = waiting(steps, distinct, records.items) or (None, set[int]())
    if any(n in held for items in records.gathered.values() for n in items):
        return None, set()
    return late, held


def _number(
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
