"""Calls on a GPU, resolved once: what arrays of given shapes and strides need is kept.

A call with arrays of a shape that is known fetches addresses, sets them as the arguments of its
launches, and launches. Arrays are known by their shapes and strides alone, so that those of every
package take the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from threading import Lock
from typing import NamedTuple

from kinetree.compiler.emit.cuda_layout import WARP, Rows
from kinetree.compiler.graph.parts import Segment
from kinetree.compiler.runtime.gpu.device_part import Given, GpuPart
from kinetree.compiler.runtime.gpu.launch import Launch, processors

BLOCKS = 16
"""Blocks of 128 threads that a multiprocessor is given at most: beyond, each takes several
stretches of states."""
STRETCH = 1 << 18
"""States that pass through all parts before the next ones begin, where parts hand values on."""
ALIGNED = 256
"""Bytes to a multiple of which arrays in a workspace start."""


class View(NamedTuple):
    """An array as it lies in memory.

    Attributes:
        shape: its lengths.
        strides: from one element to the next along each axis, in elements.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def in_rows(self) -> bool:
        """Whether elements follow each other in C order."""
        return self._follow(range(len(self.shape) - 1, -1, -1))

    @property
    def in_columns(self) -> bool:
        """Whether it is a matrix whose columns follow each other, and not its rows."""
        return len(self.shape) == 2 and self._follow(range(2)) and not self.in_rows

    def _follow(self, axes: Sequence[int]) -> bool:
        """Whether each axis steps over all the ones before it, from the fastest to the slowest."""
        expected = 1
        for axis in axes:
            if self.shape[axis] != 1 and self.strides[axis] != expected:
                return not prod(self.shape)
            expected *= self.shape[axis]
        return True


def rows(shape: tuple[int, ...]) -> View:
    """An array in C order."""
    return View(shape, tuple(accumulate(shape[:0:-1], int.__mul__, initial=1))[::-1][: len(shape)])


class Place(NamedTuple):
    """Where an argument of a launch is: an array of the call, and bytes from its start."""

    array: int
    offset: int


@dataclass(frozen=True)
class Plan:
    """A call for arrays of known shapes and strides.

    Attributes:
        batch: the shape of the batch.
        copied: the arguments that must be copied to C order, for all states, before the call.
        workspace: bytes of memory that the launches share.
        launches: in order, with the places of their arguments and their numbers of states. Arrays
            of the call are its arguments, its results, and the starts of the workspace's arrays.
        starts: of the workspace's arrays, in bytes.
    """

    batch: tuple[int, ...]
    copied: tuple[int, ...]
    workspace: int
    launches: tuple[tuple[Launch, tuple[Place, ...], int], ...]
    starts: tuple[int, ...]
    lock: Lock

    def run(self, addresses: Sequence[int], workspace: int, stream: int) -> None:
        """Launch.

        Arguments:
            addresses: of the arguments, then of the results.
            workspace: the address of memory for what lies between the launches; 0 if none is
                needed.
            stream: where the launches go.
        """
        with self.lock:  # others may set the arguments of the same launches
            for launch in self.prepared(addresses, workspace):
                launch.on(stream)

    def prepared(self, addresses: Sequence[int], workspace: int) -> list[Launch]:
        """The launches with their arguments set."""
        arrays = [*addresses, *(workspace + start for start in self.starts)]
        return [
            launch.set([*(arrays[k] + offset for k, offset in places), states])
            for launch, places, states in self.launches
        ]


class Planned(NamedTuple):
    """What a call is planned for.

    Attributes:
        parts: the launches for each stretch of states.
        between: the lengths of the rows that parts hand on.
        given: how arguments and results lie in memory.
        batch: the shape of the batch.
        copied: as in `Plan`.
        item: bytes of an element.
    """

    parts: Sequence[GpuPart]
    between: Sequence[int]
    given: Given
    batch: tuple[int, ...]
    copied: tuple[int, ...]
    item: int

    def plan(self, arguments: int, results: int) -> Plan:
        """The launches of all parts, for a stretch of states after the other.

        Arguments:
            arguments, results: how many arrays there are.
        """
        states = prod(self.batch)
        stretch = min(states, STRETCH) if self.between else states
        tiles = -(-stretch // WARP) * WARP
        scratch = max(_blocks(part, stretch) * part.shape.scratch for part in self.parts)
        sizes = [length * self.item for length in (*(tiles * x for x in self.between), scratch)]
        *starts, whole = accumulate((-(-x // ALIGNED) * ALIGNED for x in sizes), initial=0)
        launches = []
        for begin in range(0, states, stretch or 1):
            count = min(stretch, states - begin)
            for part in self.parts:
                places = self._places(part, begin, count, arguments, results)
                function, blocks = part.function(self.given), _blocks(part, count)
                launches.append((Launch(function, blocks, len(places) + 1), places, count))
        return Plan(self.batch, self.copied, whole, tuple(launches), tuple(starts), Lock())

    def _places(
        self, part: GpuPart, begin: int, count: int, arguments: int, results: int
    ) -> tuple[Place, ...]:
        """The arguments of a part's launch: arguments, results and the scratch of the call."""
        layout, shared = part.layout(self.given), self.given.shared
        between = arguments + results
        places = []
        for segments, lies, first, own in (
            (part.inputs, layout.inputs, 0, arguments),
            (part.outputs, layout.outputs, arguments, results),
        ):
            for segment, lie in zip(segments, lies, strict=True):
                whole = segment.array >= own
                array = between + segment.array - own if whole else first + segment.array
                start = 0 if not first and segment.array in shared else begin
                places.append(Place(array, self.item * _start(segment, lie, start, count)))
        return (*places, Place(between + len(self.between), 0))


def _blocks(part: GpuPart, states: int) -> int:
    threads = part.shape.threads
    return min(-(-states // threads), processors() * BLOCKS * (128 // threads))


def _start(segment: Segment, lies: Rows, begin: int, states: int) -> int:
    """Where a segment starts for the first state of a stretch, in elements."""
    if lies.tiled:
        return 0
    if lies.columns:
        return segment.start * states
    return segment.start + begin * (lies.stride or 0)
