"""Where steps keep what they hand on: slots of scratch memory, used again when free.

Also chooses single or double buffering of a tile's results. The previous tile's results are written
to their rows while the next tile is computed. If at least 95 % of the results appear after 40 % of
the steps, they may overwrite the previous tile's buffer; the few early ones wait in scratch.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from kinetree.graph.program import Program
from kinetree.graph.schedule import RESULTS, Batch, Chunk, number_arguments

MANY = 512
"""Results from which on a second buffer is worth avoiding: fewer hardly fill the caches."""
FEW = 0.05
"""The part of the results that may wait in scratch."""
LATE = 0.4
"""The part of the steps that must pass before the others appear."""


def waiting(steps: list[Chunk | Batch], results: Container[int]) -> tuple[int, set[int]] | None:
    """How many steps pass before results are stored, and which results wait until the end.

    None if a tile's results need a buffer of their own.
    """
    of_step = [
        {n for n in s.nodes if n in results} if isinstance(s, Chunk) else set() for s in steps
    ]
    count = sum(map(len, of_step))
    if count < MANY:
        return None
    few, late = FEW * count, set[int]()
    for until, own in enumerate(of_step):
        if len(late) + len(own) > few:
            return (until, late) if until > LATE * len(steps) else None
        late |= own
    return None


@dataclass(frozen=True)
class Area:
    """Where a batch's arguments and results lie in scratch: one row of `padded` slots each."""

    start: int
    padded: int
    arguments: int

    def argument(self, j: int) -> int:
        return self.start + j * self.padded

    def result(self, j: int) -> int:
        return self.start + (self.arguments + j) * self.padded


class Slots:
    """The places in scratch: of routines' arguments and results, of values that cross chunks.

    whole: how many slots fill a vector, of which routines take whole ones.
    elsewhere: what has a place already when it is computed.
    late: what is kept until the end.
    """

    def __init__(
        self,
        program: Program,
        steps: list[Chunk | Batch],
        whole: int,
        elsewhere: Container[int],
        late: Iterable[int] = (),
    ) -> None:
        self.of: dict[int, int] = {}
        self.areas: dict[int, Area] = {}
        self.count = 0
        for step in steps:
            if isinstance(step, Batch):
                self._add_area(step, whole)
        self._born: dict[int, int] = {}
        self._dies: dict[int, int] = {}
        for k, step in enumerate(steps):
            if isinstance(step, Chunk):
                self._born.update(dict.fromkeys(step.nodes, k))
                used = (a for n in step.nodes for a in number_arguments(program, n))
            else:
                used = (a for arguments in step.arguments for a in arguments)
            self._dies.update(dict.fromkeys(used, k))
        self._dies.update(dict.fromkeys(late, len(steps)))
        self._add_crossings(len(steps), elsewhere)

    def _add_area(self, step: Batch, whole: int) -> None:
        padded = -(-len(step.arguments) // whole) * whole
        area = Area(self.count, padded, len(step.arguments[0]))
        self.areas[id(step)] = area
        self.count = area.result(RESULTS[step.routine])
        for i, results in enumerate(step.results):
            for j, n in enumerate(results):
                if n is not None:
                    self.of[n] = area.result(j) + i

    def _add_crossings(self, steps: int, elsewhere: Container[int]) -> None:
        """Give each value that a later step uses a slot, reusing those of dead ones."""
        free: list[int] = []
        dying: list[list[int]] = [[] for _ in range(steps + 1)]
        by_birth: list[list[int]] = [[] for _ in range(steps)]
        for n, k in self._born.items():
            by_birth[k].append(n)
        for k in range(steps):
            for n in by_birth[k]:
                if self._dies.get(n, k) > k and n not in elsewhere:
                    if not free:
                        free.append(self.count)
                        self.count += 1
                    self.of[n] = free.pop()
                    dying[self._dies[n]].append(n)
            free += (self.of[n] for n in dying[k])
