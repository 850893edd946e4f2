"""A program as several shorter ones, for targets that run short code much faster.

The results of a part are rows of the outputs. Rows that need no common operation belong to
different *components*, as the limbs of a tree on a fixed base do: these are told apart for free.
Within a component rows are grouped, and what several groups need is computed in each. Where that
would be too much, the component is cut in two in time: what lies behind the cut reads the values
that cross it from arrays that the parts in front of it write.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.compiler.graph.aliases import without_aliases
from kinetree.compiler.graph.inline import inline
from kinetree.compiler.graph.program import Input, Node, Output, Program, size
from kinetree.scalar import LEAVES, TRUTHS

WASTE = 1.7
"""How many times the operations of a component its groups may have before it is cut."""
STRETCH = 1.3
"""How many times the limit a part may have if that saves the cut."""
TINY = 32
"""Operations of a component that is not worth a part of its own at most."""
SHORTEST = 4
"""Operations below which a component is not cut."""
MIDDLE = 0.25, 0.75
"""Where a component is cut: between these fractions of its operations."""


class Segment(NamedTuple):
    """Neighbouring elements of an array.

    array: the position of an argument or an output; behind these, of an array between parts.
    """

    array: int
    start: int
    length: int


@dataclass(frozen=True)
class ProgramPart:
    """A program whose arguments and results are segments of the whole program's."""

    program: Program
    inputs: tuple[Segment, ...]
    outputs: tuple[Segment, ...]


@dataclass(frozen=True)
class SplitProgram:
    """Programs to be run one after the other.

    between: the lengths of the arrays through which they hand values on.
    """

    parts: tuple[ProgramPart, ...]
    between: tuple[int, ...]


class Row(NamedTuple):
    """Results that belong together: neighbours in an output, or one value that is handed on."""

    nodes: tuple[int, ...]
    place: Segment | None


def split(program: Program, limit: int) -> SplitProgram:
    """Split a program into parts of at most `limit` operations, where that is possible."""
    program = inline(without_aliases(program))
    splitter = _Splitter(program, limit)
    if program.functions:  # what guarded calls need is in the memory of one program
        splitter.whole(_rows(program))
    else:
        splitter.split(_rows(program), frozenset())
    return SplitProgram(tuple(splitter.parts), tuple(splitter.between))


def _rows(program: Program) -> list[Row]:
    """The rows of matrices, the elements of vectors."""
    rows = []
    for k, output in enumerate(program.outputs):
        width = output.shape[-1] if len(output.shape) > 1 else 1
        for start in range(0, size(output.shape), max(width, 1)):
            segment = Segment(k, start, width)
            rows.append(Row(output.nodes[start : start + width], segment))
    return rows


class _Splitter:
    """Makes the parts, one after the other.

    handed: for each node that is handed on, its array and element.
    """

    def __init__(self, program: Program, limit: int) -> None:
        self.program, self.limit = program, limit
        self.parts: list[ProgramPart] = []
        self.between: list[int] = []
        self.handed: dict[int, tuple[int, int]] = {}

    def whole(self, rows: Sequence[Row]) -> None:
        """Make one part."""
        self._part(rows, frozenset())

    def split(self, rows: Sequence[Row], known: frozenset[int]) -> None:
        """Make the parts that compute these rows, from arguments and nodes that are known."""
        cones = self._cones(rows, known)
        row_groups: list[list[int]] = []
        small: list[tuple[list[int], int]] = []
        for component in _without_tiny(_components(cones), cones):
            union = _union(cones[r] for r in component)
            few = (
                groups
                for limit in (self.limit, int(STRETCH * self.limit))
                for groups in [_groups(component, cones, limit)]
                if self._is_worth_it(groups, cones, union.bit_count())
            )
            groups = next(few, None)
            if groups is None:
                self._cut([rows[r] for r in component], union, known)
            elif len(groups) == 1:
                small.append((component, union))
            else:
                row_groups += groups
        row_groups += self._packed(small)
        idle = [r for r, cone in enumerate(cones) if not cone]
        working = [group for group in row_groups if any(cones[r] for r in group)]
        for k, group in enumerate(working or [[]]):
            wanted = [r for r in group if cones[r]] + (idle if k == 0 else [])
            if wanted:
                self._part([rows[r] for r in sorted(wanted)], known)

    def _is_worth_it(
        self, groups: Sequence[Sequence[int]], cones: Sequence[int], whole: int
    ) -> bool:
        """Whether groups of rows are short, and compute little twice.

        Arguments:
            whole: the operations that all of them need.
        """
        counts = [_union(cones[r] for r in group).bit_count() for group in groups]
        return max(counts) <= STRETCH * self.limit and sum(counts) <= WASTE * whole

    def _cones(self, rows: Sequence[Row], known: Collection[int]) -> list[int]:
        """For each row the operations that it needs, as the bits of a number."""
        cone: list[int] = []
        for n, node in enumerate(self.program.nodes):
            bits = 0
            if node.op not in LEAVES and n not in known:
                bits = 1 << n
                for a in node.args:
                    bits |= cone[a]
            cone.append(bits)
        return [_union(cone[n] for n in row.nodes) for row in rows]

    def _packed(self, components: Sequence[tuple[list[int], int]]) -> list[list[int]]:
        """Components side by side, in as few parts as they need, all of about one length."""
        counts = [(union.bit_count(), rows) for rows, union in components]
        parts = -(-sum(count for count, _ in counts) // self.limit) or 1
        groups: list[tuple[int, list[int]]] = [(0, []) for _ in range(parts)]
        for count, rows in sorted(counts, reverse=True):
            taken, group = min(groups)
            groups[groups.index((taken, group))] = taken + count, group + rows
        return [group for _, group in groups if group]

    def _cut(self, rows: Sequence[Row], union: int, known: frozenset[int]) -> None:
        """Split what lies in front of the best cut in time, then what lies behind it."""
        nodes = self.program.nodes
        order = _bits(union)
        last: dict[int, int] = {}
        for n in order:
            last.update({a: n for a in nodes[n].args if union >> a & 1})
        results = {n for row in rows for n in row.nodes if union >> n & 1}
        alive: list[int] = []
        waiting: set[int] = set()
        ending: dict[int, list[int]] = {}
        for n, at in last.items():
            ending.setdefault(at, []).append(n)
        for n in order:
            waiting.difference_update(a for a in ending.get(n, ()) if a not in results)
            if n in last or n in results:
                waiting.add(n)
            alive.append(len(waiting))
        first, stop = (int(len(order) * fraction) for fraction in MIDDLE)
        time = min(range(first, max(stop, first + 1)), key=lambda k: alive[k])
        front = set(order[: time + 1])
        used_behind = [n for n in front if n in results or last.get(n, n) not in front]
        numbers = {m for n in used_behind for m in self._numbers(n)}
        crossing = sorted(n for n in numbers if union >> n & 1)
        if not crossing or len(order) < SHORTEST:
            self._part(rows, known)
            return
        self.split([Row((n,), None) for n in crossing], known)
        self.split(rows, known | frozenset(crossing))

    def _numbers(self, n: int) -> Iterator[int]:
        """A node that is a number; of a truth value, which no array holds, what it compares."""
        node = self.program.nodes[n]
        if node.op in TRUTHS:
            for a in node.args:
                yield from self._numbers(a)
        else:
            yield n

    def _part(self, rows: Sequence[Row], known: Collection[int]) -> None:
        """One part, whose results are rows of outputs and an array for others to read."""
        needed = self._needed([n for row in rows for n in row.nodes], known)
        arrays = len(self.program.inputs)
        inputs = self._segments(needed)
        start = {segment.array: (k, segment.start) for k, segment in enumerate(inputs)}
        nodes: list[Node] = []
        number: dict[int, int] = {}
        for n in sorted(needed):
            number[n] = len(nodes)
            node = self.program.nodes[n]
            if n in known:
                array, element = self.handed[n]
                nodes.append(Node("input", (), (start[arrays + array][0], element)))
            elif node.op == "input":
                position, first = start[node.value[0]]
                nodes.append(Node("input", (), (position, node.value[1] - first)))
            else:
                nodes.append(Node(node.op, tuple(number[a] for a in node.args), node.value))
        outputs, segments = self._outputs(rows, number)
        declared = [Input(f"in{k}", (s.length,)) for k, s in enumerate(inputs)]
        name = f"{self.program.name}_{len(self.parts)}"
        functions = self.program.functions
        part = Program(name, tuple(declared), tuple(outputs), tuple(nodes), functions=functions)
        self.parts.append(ProgramPart(part, tuple(inputs), tuple(segments)))

    def _needed(self, results: Iterable[int], known: Collection[int]) -> set[int]:
        needed: set[int] = set()
        pending = list(results)
        while pending:
            n = pending.pop()
            if n not in needed:
                needed.add(n)
                if n not in known:
                    pending.extend(self.program.nodes[n].args)
        return needed

    def _segments(self, needed: Iterable[int]) -> list[Segment]:
        """What is read of arguments, and of arrays between parts."""
        used: dict[int, set[int]] = {}
        whole: set[int] = set()
        for n in needed:
            node = self.program.nodes[n]
            if n in self.handed:
                whole.add(self.handed[n][0])
            elif node.op == "input":
                used.setdefault(node.value[0], set()).add(node.value[1])
        segments = [Segment(k, min(e), max(e) - min(e) + 1) for k, e in sorted(used.items())]
        arrays = len(self.program.inputs)
        return segments + [Segment(arrays + k, 0, self.between[k]) for k in sorted(whole)]

    def _outputs(
        self, rows: Sequence[Row], number: dict[int, int]
    ) -> tuple[list[Output], list[Segment]]:
        outputs: list[Output] = []
        segments: list[Segment] = []
        placed = sorted((row.place, row.nodes) for row in rows if row.place is not None)
        for place, nodes in placed:
            numbers = tuple(number[n] for n in nodes)
            before = segments[-1] if segments else None
            if before and (before.array, before.start + before.length) == place[:2]:
                segments[-1] = before._replace(length=before.length + place.length)
                numbers = outputs[-1].nodes + numbers
                outputs.pop()
            else:
                segments.append(place)
            outputs.append(Output(f"out{len(outputs)}", (len(numbers),), numbers))
        handed = [n for row in rows if row.place is None for n in row.nodes]
        if handed:
            array = len(self.between)
            self.between.append(len(handed))
            self.handed |= {n: (array, k) for k, n in enumerate(handed)}
            segments.append(Segment(len(self.program.outputs) + array, 0, len(handed)))
            numbers = tuple(number[n] for n in handed)
            outputs.append(Output(f"out{len(outputs)}", (len(numbers),), numbers))
        return outputs, segments


def _groups(component: Sequence[int], cones: Sequence[int], limit: int) -> list[list[int]]:
    """The largest row first, then always the one that adds the fewest operations."""
    left = sorted(component, key=lambda r: -cones[r].bit_count())
    groups = []
    while left:
        group = [left.pop(0)]
        union = cones[group[0]]
        while left:
            added, nearest = min(((cones[r] & ~union).bit_count(), r) for r in left)
            if added and union.bit_count() + added > limit:
                break
            left.remove(nearest)
            group.append(nearest)
            union |= cones[nearest]
        groups.append(group)
    return groups


def _union(cones: Iterable[int]) -> int:
    bits = 0
    for cone in cones:
        bits |= cone
    return bits


def _components(cones: Sequence[int]) -> list[list[int]]:
    """Rows that share operations with each other, directly or through others."""
    components: list[tuple[list[int], int]] = []
    for r, cone in enumerate(cones):
        rows, union = [r], cone
        apart = []
        for other, bits in components:
            if bits & union:
                rows, union = other + rows, bits | union
            else:
                apart.append((other, bits))
        components = [*apart, (rows, union)]
    return [rows for rows, _ in components]


def _without_tiny(components: list[list[int]], cones: Sequence[int]) -> list[list[int]]:
    """Components, of which those of a few operations are added to the longest."""
    counts = [_union(cones[r] for r in component).bit_count() for component in components]
    longest = max(range(len(counts)), key=counts.__getitem__, default=0)
    tiny = [k for k, count in enumerate(counts) if 0 < count <= TINY and k != longest]
    added = [r for k in tiny for r in components[k]]
    return [
        component + added if k == longest else component
        for k, component in enumerate(components)
        if k not in tiny
    ]


def _bits(number: int) -> list[int]:
    """The positions of the bits that are set."""
    text = bin(number)[:1:-1]
    return [k for k, bit in enumerate(text) if bit == "1"]
