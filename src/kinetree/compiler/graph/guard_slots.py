"""Where guarded calls find their arguments and leave their results: slots of scratch memory.

A call that is not made leaves its results as they were, so each result has the slot of the value
that stands for it: the same slot if nobody needs that value afterwards, otherwise a new one, into
which the value is copied before the call. Arguments are read where they are. An argument that is
not at the same place in all calls of a function has its slot passed, and must be in scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from kinetree.compiler.graph.lowered import SCRATCH
from kinetree.compiler.graph.program import Program
from kinetree.compiler.graph.records import Slot, SlotBlock
from kinetree.compiler.graph.schedule import Guarded, Scheduled


class GuardSlots:
    """The slots of a program's guarded calls.

    results: of each call, the slots of its results.
    arguments: of each call, by their positions, the slots of arguments that are copied.
    copies: for each step, the values that must be copied first, with their slots.
    blocks: slots that belong to no value: those of copies, and of results that nobody uses.

    Arguments:
        items: of each call, the nodes of its results.
        crossing: the slots of values that cross steps; those of results are added.
        dies: the last step that uses each value.
    """

    def __init__(
        self,
        program: Program,
        steps: Sequence[Scheduled],
        items: Mapping[int, Mapping[int, int]],
        crossing: dict[int, Slot],
        dies: Mapping[int, int],
    ) -> None:
        self.program, self.crossing, self.dies = program, crossing, dies
        self.calls = [(k, step) for k, step in enumerate(steps) if isinstance(step, Guarded)]
        self.results: dict[int, list[Slot]] = {}
        self.arguments: dict[int, dict[int, Slot]] = {}
        self.copies: dict[int, list[tuple[int, Slot]]] = {k: [] for k, _ in self.calls}
        self.blocks: list[SlotBlock] = []
        for k, step in self.calls:
            self._add_results(k, step.node, items[step.node])

    def _add_results(self, step: int, call: int, items: Mapping[int, int]) -> None:
        slots: list[Slot] = []
        taken: set[int] = set()
        for position, n in enumerate(otherwise(self.program, call)):
            slot = self.crossing.get(n)
            if slot is None or self.dies[n] > step or n in taken:
                slot = self._copied(step, n)
            taken.add(n)
            slots.append(slot)
            if position in items:
                item = items[position]
                slot.record.dies = max(slot.record.dies, self.dies.get(item, step))
                self.crossing[item] = slot
        self.results[call] = slots

    def add_arguments(
        self, in_scratch: Collection[int], outside: Callable[[int], int | None]
    ) -> None:
        """Copy those arguments that are needed in scratch, and are not there.

        Arguments:
            in_scratch: the values that are.
            outside: the area of any other value; None if it is not at the same place in all calls
                of the function that has it.
        """
        moving = self._moving()
        copied: dict[int, Slot] = {}
        for k, step in self.calls:
            own = self.arguments[step.node] = {}
            for position, n in enumerate(arguments(self.program, step.node)):
                area = SCRATCH if n in in_scratch else outside(n)
                stays = (step.function, position) not in moving
                if area == SCRATCH or (stays and area is not None):
                    continue
                if n not in copied:
                    copied[n] = self._copied(k, n)
                own[position] = copied[n]
                own[position].record.dies = k

    def _moving(self) -> set[tuple[int, int]]:
        """The functions' arguments that are not the same in all calls."""
        first: dict[tuple[int, int], Slot | int] = {}
        moving = set()
        for _, step in self.calls:
            for position, n in enumerate(arguments(self.program, step.node)):
                key, where = (step.function, position), self.crossing.get(n, n)
                if first.setdefault(key, where) != where:
                    moving.add(key)
        return moving

    def _copied(self, step: int, n: int) -> Slot:
        """A slot into which a value is copied."""
        slot = Slot(SlotBlock(1, step, step), 0)
        self.copies[step].append((n, slot))
        self.blocks.append(slot.record)
        return slot


def arguments(program: Program, call: int) -> Sequence[int]:
    """The arguments of a guarded call's function."""
    return program.nodes[call].args[1 : -_count(program, call)]


def otherwise(program: Program, call: int) -> Sequence[int]:
    """The values that stand for the results of a guarded call that is not made."""
    return program.nodes[call].args[-_count(program, call) :]


def _count(program: Program, call: int) -> int:
    return len(program.functions[program.nodes[call].value].outputs[0].nodes)
