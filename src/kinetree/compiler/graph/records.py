"""Where calls find their arguments and leave their results: records, slots side by side.

A group of arguments is a record in scratch. Each value is computed into the first record that has
it, and copied into others; successive results of one call are a record already. A group that is the
same in all calls of a function needs none: the function reads its values where they are. A call's
results are a record, too: among the distinct results if all of them are, otherwise in scratch.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.compiler.graph.program import Program, size
from kinetree.compiler.graph.schedule import Calls, Scheduled
from kinetree.scalar import CALLS, FUNCTIONS, LEAVES

ELSEWHERE = LEAVES | FUNCTIONS
"""Operations whose values no chunk computes: arguments, calls, and what routines compute."""


class Group(NamedTuple):
    """One group of arguments of a call: its position, and the nodes in it."""

    position: int
    nodes: tuple[int, ...]


@dataclass(eq=False)
class SlotBlock:
    """Slots side by side; two records are never the same.

    size: how many.
    born, dies: the first and the last step that need them.
    start: the first slot, once it is found.
    """

    size: int
    born: int
    dies: int = -1
    start: int = -1


class Slot(NamedTuple):
    """A place in a record."""

    record: SlotBlock
    offset: int


class Records:
    """The records of a program's calls.

    items: of each call, the nodes of its results, by their positions.
    in_results: the functions whose results are records among the distinct results.
    shared: of each function, the groups that are the same in all its calls: position -> nodes.
    arguments: by the nodes of a group, the slot where it starts.
    results: of each call whose results are in scratch, their record.
    of: the slots of values that are computed into records.
    copies: for each step, the values that must be copied first, with their slots.
    """

    def __init__(
        self, program: Program, steps: Sequence[Scheduled], results: Container[int]
    ) -> None:
        self.program = program
        self.items = _items(program)
        calls = [n for step in steps if isinstance(step, Calls) for n in step.nodes]
        self.in_results = {program.nodes[n].value for n in calls} - {
            program.nodes[n].value
            for n in calls
            if any(item not in results for item in self.items[n].values())
        }
        self.shared = self._shared(calls)
        self.arguments: dict[tuple[int, ...], Slot] = {}
        self.results: dict[int, SlotBlock] = {}
        self.of: dict[int, Slot] = {}
        self.copies: dict[int, list[tuple[int, Slot]]] = {}
        for k, step in enumerate(steps):
            for n in step.nodes if isinstance(step, Calls) else ():
                for group in self.own_groups(n):
                    self._add_arguments(k, group.nodes)
                if program.nodes[n].value not in self.in_results:
                    self._add_results(k, n)

    @property
    def gathered(self) -> dict[int, list[int | None]]:
        """Of each call whose results are distinct ones: their nodes, None where unused."""
        return {
            call: [items.get(k) for k in range(self._count(call))]
            for call, items in self.items.items()
            if self.program.nodes[call].value in self.in_results
        }

    def groups(self, call: int) -> list[Group]:
        """All groups of a call's arguments."""
        node = self.program.nodes[call]
        groups, start = [], 0
        for position, declared in enumerate(self.program.functions[node.value].inputs):
            stop = start + size(declared.shape)
            groups.append(Group(position, node.args[start:stop]))
            start = stop
        return groups

    def own_groups(self, call: int) -> list[Group]:
        """Those that not all calls of the same function share."""
        shared = self.shared[self.program.nodes[call].value]
        return [group for group in self.groups(call) if group.position not in shared]

    def row(self, call: int) -> list[int]:
        """The slots where the groups of a call start."""
        slots = (self.arguments[group.nodes] for group in self.own_groups(call))
        return [record.start + offset for record, offset in slots]

    def extend(self, born: Mapping[int, int], dies: Mapping[int, int]) -> None:
        """Let records live as long as the values in them.

        Arguments:
            born, dies: the steps that compute values, and the last ones that use them.
        """
        for n, (record, _) in self.of.items():
            record.born = min(record.born, born.get(n, record.born))
            record.dies = max(record.dies, dies.get(n, -1))

    def all(self) -> list[SlotBlock]:
        """The records of arguments that are copied, and those of results."""
        copied = [slot.record for copies in self.copies.values() for _, slot in copies]
        return [*copied, *self.results.values()]

    def _count(self, call: int) -> int:
        function = self.program.functions[self.program.nodes[call].value]
        return len(function.outputs[0].nodes)

    def _shared(self, calls: list[int]) -> dict[int, dict[int, tuple[int, ...]]]:
        shared: dict[int, dict[int, tuple[int, ...]]] = {}
        for n in calls:
            groups = {group.position: group.nodes for group in self.groups(n)}
            of_function = shared.setdefault(self.program.nodes[n].value, groups)
            for position, nodes in groups.items():
                if of_function.get(position, nodes) != nodes:
                    del of_function[position]
        return shared

    def _add_arguments(self, step: int, nodes: tuple[int, ...]) -> None:
        known = self.arguments.get(nodes) or self._among_results(nodes)
        if known is None:
            record = SlotBlock(len(nodes), step)
            known = Slot(record, 0)
            for offset, n in enumerate(nodes):
                if self.program.nodes[n].op in ELSEWHERE or n in self.of:
                    self.copies.setdefault(step, []).append((n, Slot(record, offset)))
                else:
                    self.of[n] = Slot(record, offset)
        self.arguments[nodes] = known
        known.record.dies = max(known.record.dies, step)

    def _among_results(self, nodes: tuple[int, ...]) -> Slot | None:
        """The slot of the first, if they are successive results of one call, in scratch."""
        first = self.program.nodes[nodes[0]]
        if first.op != "item" or first.args[0] not in self.results:
            return None
        items = self.items[first.args[0]]
        if any(items.get(first.value + k) != n for k, n in enumerate(nodes)):
            return None
        return Slot(self.results[first.args[0]], int(first.value))

    def _add_results(self, step: int, call: int) -> None:
        record = self.results[call] = SlotBlock(self._count(call), step, step)
        for k, n in self.items[call].items():
            self.of[n] = Slot(record, k)


def _items(program: Program) -> dict[int, dict[int, int]]:
    """Of each call, guarded or not, the nodes of its results, by their positions."""
    items: dict[int, dict[int, int]] = {
        n: {} for n, node in enumerate(program.nodes) if node.op in CALLS
    }
    for n, node in enumerate(program.nodes):
        if node.op == "item":
            items[node.args[0]][node.value] = n
    return items
