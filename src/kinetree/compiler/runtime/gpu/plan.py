"""Cached plans of calls on a GPU, by the shapes and strides of arrays.

A call with a cached plan fetches addresses, sets them as the arguments of its launches, and
launches. Plans depend only on shapes and strides, so that arrays of every package share one code
path.
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
"""The most blocks of 128 threads for a multiprocessor; for more states, blocks loop."""
STRETCH = 1 << 18
"""States that pass through all parts before the next ones begin, if parts pass values on."""
ALIGNED = 256
"""The alignment of arrays in a workspace, bytes."""


class View(NamedTuple):
    """The memory layout of an array.

    Attributes:
        shape: its lengths.
        strides: from one element to the next along each axis, in elements.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def in_rows(self) -> bool:
        """Whether elements are contiguous in C order."""
        return self._follow(range(len(self.shape) - 1, -1, -1))

    @property
    def in_columns(self) -> bool:
        """Whether it is a matrix with contiguous columns instead of rows."""
        return len(self.shape) == 2 and self._follow(range(2)) and not self.in_rows

    def _follow(self, axes: Sequence[int]) -> bool:
        """Whether elements are contiguous, with axes given from the fastest to the slowest."""
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
    """The place of a launch's argument: an array of the call, and the offset in bytes."""

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
            workspace: the address of memory for the data between launches; 0 if none is needed.
            stream: of the launches.
        """
        with self.lock:  # other threads may set the arguments of the same launches
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
    """The input of a plan.

    Attributes:
        parts: the launches for each stretch of states.
        between: the lengths of the rows passed between parts.
        given: the memory layouts of arguments and results.
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
        """The launches of all parts, stretch by stretch of states.

        Arguments:
            arguments, results: the numbers of arrays.
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
    """The offset of a segment for the first state of a stretch, in elements."""
    if lies.tiled:
        return 0
    if lies.columns:
        return segment.start * states
    return segment.start + begin * (lies.stride or 0)
