"""Where steps keep what they hand on: slots of scratch memory, used again when free.

Also chooses single or double buffering of a tile's results. The previous tile's results are written
to their rows while the next tile is computed. If at least 95 % of the results appear after 40 % of
the steps, they may overwrite the previous tile's buffer; the few early ones wait in scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kinetree.compiler.graph.guard_slots import GuardSlots
from kinetree.compiler.graph.lowered import RESULT
from kinetree.compiler.graph.program import Program
from kinetree.compiler.graph.records import Records, Slot, SlotBlock
from kinetree.compiler.graph.schedule import (
    RESULTS,
    Batch,
    Calls,
    Chunk,
    Guarded,
    Scheduled,
    number_arguments,
)

RESULTS_WORTH_ONE_BUFFER = 512
"""Results from which on a second buffer is worth avoiding: fewer hardly fill the caches."""
EARLY_PART = 0.05
"""The part of the results that may wait in scratch."""
LATE_AFTER = 0.4
"""The part of the steps that must pass before the others appear."""


def waiting(
    steps: Sequence[Scheduled], results: Container[int], items: Mapping[int, Mapping[int, int]]
) -> tuple[int, set[int]] | None:
    """How many steps pass before results are stored, and which results wait until the end.

    None if a tile's results need a buffer of their own.

    Arguments:
        items: of each call, the nodes of its results.
    """
    of_step = [{n for n in _computed(step, items) if n in results} for step in steps]
    count = sum(map(len, of_step))
    if count < RESULTS_WORTH_ONE_BUFFER:
        return None
    early = set[int]()
    for step, stored in enumerate(of_step):
        if len(early) + len(stored) > EARLY_PART * count:
            return (step, early) if step > LATE_AFTER * len(steps) else None
        early |= stored
    return None


def _computed(step: Scheduled, items: Mapping[int, Mapping[int, int]]) -> list[int]:
    """The nodes whose values a step makes, those of routines left out."""
    if isinstance(step, Chunk):
        return list(step.nodes)
    if isinstance(step, Calls):
        return [n for call in step.nodes for n in items[call].values()]
    return []


@dataclass(frozen=True)
class BatchRows:
    """Where a batch has its arguments and results in scratch: one row of `padded` slots each."""

    start: int
    padded: int
    arguments: int

    def argument(self, j: int) -> int:
        return self.start + j * self.padded

    def result(self, j: int) -> int:
        return self.start + (self.arguments + j) * self.padded


class Slots:
    """The places in scratch: of routines' arguments and results, of values that cross steps.

    of: the slot of each value that has one.
    batches: the rows of each batch, by its step.
    guards: where guarded calls have their arguments and results.
    count: the slots that are used, those before the first one included.

    Arguments:
        whole: how many slots fill a vector, of which routines take whole ones.
        elsewhere: what has a place already when it is computed.
        late: what is kept until the end.
        start: the first slot.
        records: those of calls, which get their places here.
        outside: the area of a value that has no slot here; None if that is not the same place in
            all calls of this function.
    """

    def __init__(
        self,
        program: Program,
        steps: Sequence[Scheduled],
        whole: int,
        elsewhere: Container[int],
        late: Iterable[int] = (),
        start: int = 0,
        *,
        records: Records,
        outside: Callable[[int], int | None] = lambda n: RESULT,
    ) -> None:
        self.of: dict[int, int] = {}
        self.batches: dict[int, BatchRows] = {}
        self.count = start
        for k, step in enumerate(steps):
            if isinstance(step, Batch):
                self._add_batch(k, step, whole)
        born, dies = _lifetimes(program, steps)
        dies.update(dict.fromkeys(late, len(steps)))
        records.extend(born, dies)
        crossing = {
            n: Slot(SlotBlock(1, k, dies[n]), 0)
            for n, k in born.items()
            if dies.get(n, k) > k and n not in elsewhere and n not in records.of
        }
        self.guards = GuardSlots(program, steps, records.items, crossing, dies)
        self.guards.add_arguments({*crossing, *records.of, *self.of}, outside)
        slots = crossing | records.of
        of_values = (slot.record for slot in slots.values())
        blocks = [*of_values, *records.all(), *self.guards.blocks]
        self._place(dict.fromkeys(blocks), len(steps))
        for n, (record, offset) in slots.items():
            self.of[n] = record.start + offset

    def _add_batch(self, k: int, batch: Batch, whole: int) -> None:
        padded = -(-len(batch.arguments) // whole) * whole
        rows = BatchRows(self.count, padded, len(batch.arguments[0]))
        self.batches[k] = rows
        self.count = rows.result(RESULTS[batch.routine])
        for i, results in enumerate(batch.results):
            for j, n in enumerate(results):
                if n is not None:
                    self.of[n] = rows.result(j) + i

    def _place(self, records: Iterable[SlotBlock], steps: int) -> None:
        """Give each record its slots, those of dead ones where some of that size are free."""
        free: dict[int, list[int]] = {}
        born: list[list[SlotBlock]] = [[] for _ in range(steps)]
        dead: list[list[SlotBlock]] = [[] for _ in range(steps + 1)]
        for record in records:
            born[record.born].append(record)
            dead[record.dies].append(record)
        for k in range(steps):
            for record in born[k]:
                reusable = free.get(record.size)
                if reusable:
                    record.start = reusable.pop()
                else:
                    record.start, self.count = self.count, self.count + record.size
            for record in dead[k]:
                free.setdefault(record.size, []).append(record.start)


def _lifetimes(
    program: Program, steps: Sequence[Scheduled]
) -> tuple[dict[int, int], dict[int, int]]:
    """The step of the chunk that computes each value, and the last step that uses it."""
    born: dict[int, int] = {}
    dies: dict[int, int] = {}
    for k, step in enumerate(steps):
        if isinstance(step, Chunk):
            born.update(dict.fromkeys(step.nodes, k))
            used = (a for n in step.nodes for a in number_arguments(program, n))
        elif isinstance(step, Calls):
            used = (a for n in step.nodes for a in program.nodes[n].args)
        elif isinstance(step, Guarded):
            used = (a for a in number_arguments(program, step.node))
        else:
            used = (a for arguments in step.arguments for a in arguments)
        dies.update(dict.fromkeys(used, k))
    return born, dies
