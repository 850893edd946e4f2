"""Where the values of a function lie that guarded calls run.

It reads its arguments where its callers have them, and writes its results over the values that
stand for them. Whatever is at the same place in all calls is read and written there; for the rest
each call passes the slots. A result waits in scratch until the end if its place is that of an
argument that is still to be read.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.compiler.graph.areas import Areas, of_guards
from kinetree.compiler.graph.lowered import RECORD, RESULT, SCRATCH, Place, Style
from kinetree.compiler.graph.program import Program
from kinetree.compiler.graph.records import Records
from kinetree.compiler.graph.schedule import (
    Batch,
    Calls,
    Chunk,
    Guarded,
    Scheduled,
    number_arguments,
    schedule,
)
from kinetree.compiler.graph.scratch import Slots


class GuardAreas(Areas):
    """The places of a function that guarded calls run.

    record_areas: in which area each place lies that calls pass.
    mask: where callers leave one for each lane in which the condition holds, else zero; None if
        there is one lane.
    at_once: where chunks leave results, by their nodes.
    last: the results that are stored in the end, and where.
    """

    def __init__(self, position: int, caller: Areas, style: Style) -> None:
        program = caller.program.functions[position]
        calls = [
            step.node
            for step in caller.steps
            if isinstance(step, Guarded) and step.function == position
        ]
        self._calls = {call: k for k, call in enumerate(calls)}
        self._columns: list[list[int]] = []
        given = [caller.guard_arguments(call) for call in calls]
        taken = [caller.guard_results(call) for call in calls]
        sources = [self._source(x) for x in zip(*given, strict=True)]
        targets = [self._column(x) for x in zip(*taken, strict=True)]
        self.record_areas = (SCRATCH,) * len(self._columns)
        start = caller.scratch
        self.mask = Place(SCRATCH, start) if style.masked else None

        steps = schedule(program, style.chunk, style.routines)
        records = Records(program, steps, {})
        pairs = list(zip(program.outputs[0].nodes, targets, strict=True))
        waiting = _waiting(program, steps, _overwritten(given, taken))
        held = {n for n, _ in pairs if n in waiting or n in of_guards(steps, records)}
        slots = Slots(
            program,
            steps,
            style.whole,
            (),
            held,
            start=start + style.masked,
            records=records,
            outside=lambda n: _area(program, n, sources),
        )
        super().__init__(program, steps, records, slots, {})
        computed = {n for step in steps if isinstance(step, Chunk) for n in step.nodes} - held
        self.at_once: dict[int, list[Place]] = {}
        for n, place in pairs:
            if n in computed:
                self.at_once.setdefault(n, []).append(place)
        self.last = [(n, place) for n, place in pairs if n not in computed]
        for n, node in enumerate(program.nodes):
            if node.op == "input":
                source = sources[node.value[1]]
                if isinstance(source, Place):
                    self.places[n] = source
                else:
                    self.numbers[n] = source

    def row(self, call: int) -> tuple[int, ...]:
        """What a call passes."""
        k = self._calls[call]
        return tuple(column[k] for column in self._columns)

    def _source(self, found: Sequence[Place | float]) -> Place | float:
        """Where an argument is, from where it is in each call."""
        if not isinstance(found[0], Place) and len(set(found)) == 1:
            return found[0]
        places = [x for x in found if isinstance(x, Place)]
        assert len(places) == len(found)
        return self._column(places)

    def _column(self, places: Sequence[Place]) -> Place:
        """The place in all calls; if there is none, one that each call passes."""
        if len(set(places)) == 1:
            return places[0]
        assert {place.area for place in places} == {SCRATCH}
        self._columns.append([place.element for place in places])
        return Place(RECORD + 1 - len(self._columns), 0)


def _area(program: Program, n: int, sources: Sequence[Place | float]) -> int | None:
    """The area of an argument or a number; None if it is not at the same place in all calls."""
    node = program.nodes[n]
    source = 0.0 if node.op == "const" else sources[node.value[1]]
    if not isinstance(source, Place):
        return RESULT
    return source.area if source.area > RECORD else None


def _overwritten(
    given: Sequence[Sequence[Place | float]], taken: Sequence[Sequence[Place]]
) -> set[tuple[int, int]]:
    """The results that lie where arguments do, in some call: positions of both."""
    found = set()
    for sources, targets in zip(given, taken, strict=True):
        at = {place: k for k, place in enumerate(targets)}
        found |= {(at[x], i) for i, x in enumerate(sources) if isinstance(x, Place) and x in at}
    return found


def _waiting(
    program: Program, steps: Sequence[Scheduled], overwritten: set[tuple[int, int]]
) -> set[int]:
    """The nodes of results that are computed before the last use of what they overwrite."""
    time = 0
    made: dict[int, int] = {}
    used: dict[int, int] = {}
    for step in steps:
        for n, needed in _uses(program, step):
            time += 1
            made[n] = time
            used.update(dict.fromkeys(needed, time))
    inputs = {node.value[1]: n for n, node in enumerate(program.nodes) if node.op == "input"}
    results = program.outputs[0].nodes
    used.update(dict.fromkeys(results, time + 1))  # those that are arguments are read in the end
    return {
        results[k]
        for k, i in overwritten
        if i in inputs and used.get(inputs[i], 0) > made.get(results[k], 0)
    }


def _uses(program: Program, step: Scheduled) -> list[tuple[int, Sequence[int]]]:
    """The nodes of a step, in order, each with the numbers it reads."""
    if isinstance(step, Batch):
        flat = [a for arguments in step.arguments for a in arguments]
        return [(-1, flat)]
    if isinstance(step, Calls):
        nodes: Sequence[int] = step.nodes
    else:
        nodes = step.nodes if isinstance(step, Chunk) else (step.node,)
    return [(n, number_arguments(program, n)) for n in nodes]
