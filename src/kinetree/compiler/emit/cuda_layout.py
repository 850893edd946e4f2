"""How a CUDA kernel uses memory: layouts of arrays, rows in shared memory, the launch.

Rows of arrays lie one behind the other, and so they do in shared memory, where threads side by side
then read from different banks, unless the length of a row has a large power of two in it: such rows
are padded to an odd length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from kinetree.compiler.graph.lowered import Lowered
from kinetree.compiler.graph.program import size

ITEM_BYTES = {"float": 4, "double": 8}
WARP = 32
MAX_SHARED_BYTES = 227 * 1024
"""Shared memory that a block can have at most, on compute capability 9.0."""
SHARED_BYTES_OF_TWO = 100 * 1024
"""Shared memory of a block that leaves room for a second one on a multiprocessor."""
RESERVED_BYTES = 1024
"""Shared memory that the system takes for each block."""
THREADS_TO_HIDE_LATENCY = 256
"""Threads of a multiprocessor beyond which more do not help."""
MAX_BANK_CONFLICTS = 2
"""Threads that may meet in one bank of shared memory."""
INDEX_GAIN = 1.3
"""How many elements must stand for each distinct result before an index is worth it."""
STRIP = 32
"""Columns of scratch that are transposed at once."""


@dataclass(frozen=True)
class Shape:
    """How a kernel is launched.

    threads: of a block, and so the states that it works on.
    shared: bytes of shared memory of a block.
    scratch: elements of global scratch for each block; zero if results fit shared memory.
    """

    threads: int
    shared: int
    scratch: int


class Rows(NamedTuple):
    """How an array lies in memory.

    stride: from one state's elements to the next one's; None if they follow each other.
    tiled: instead, for each 32 states, all their first elements, then all their second ones.
    columns: instead, all states' first elements, then all their second ones.
    """

    stride: int | None = None
    tiled: bool = False
    columns: bool = False


@dataclass(frozen=True)
class Layout:
    """How arguments and results lie in memory."""

    inputs: tuple[Rows, ...]
    outputs: tuple[Rows, ...]

    @staticmethod
    def of(lowered: Lowered) -> Layout:
        """Rows, one behind the other."""
        return Layout((Rows(),) * len(lowered.inputs), (Rows(),) * len(lowered.outputs))


class SharedRows(NamedTuple):
    """The rows of a block's states in shared memory.

    start: where the first one starts.
    pitch: the elements from one row to the next.
    """

    start: int
    pitch: int

    @property
    def own_row(self) -> str:
        """Where a thread's own row starts, in C."""
        return f"shared + {self.start} + tid * {self.pitch}"


class Staging:
    """What of a kernel's arguments and results passes through shared memory, and where.

    indexed: whether only the distinct results are kept, and an index says which one each element
        of an output is.
    shape: how the kernel is launched.
    inputs: the rows of each argument.
    results: the rows of each output; if indexed, one for the distinct results.
    """

    def __init__(self, lowered: Lowered, layout: Layout) -> None:
        inputs = _pitches([i.shape for i in lowered.inputs], layout.inputs)
        results = _pitches([o.shape for o in lowered.outputs], layout.outputs)
        distinct = row_pitch(lowered.results)
        item = ITEM_BYTES[lowered.kind]
        # rows as they are in the outputs are copied faster: they are taken if that costs no threads
        fits = 128 * (sum(inputs) + sum(results)) * item <= SHARED_BYTES_OF_TWO
        self.indexed = (
            not fits
            and not any(rows.tiled for rows in layout.outputs)
            and 0.0 < distinct * INDEX_GAIN <= sum(results)
        )
        if self.indexed:
            results = [distinct]
        self.shape = _shape(sum(inputs), sum(results), lowered.results, item)
        rows = place_rows([*inputs, *results], self.shape.threads)
        self.inputs, self.results = rows[: len(inputs)], rows[len(inputs) :]


def launch_shape(lowered: Lowered, layout: Layout | None = None) -> Shape:
    """As many threads as shared memory allows."""
    return Staging(lowered, layout or Layout.of(lowered)).shape


def _shape(inputs: int, staged: int, results: int, item: int) -> Shape:
    """The launch of a kernel.

    Arguments:
        inputs, staged: elements of a state's arguments, and of its results, in shared memory.
        results: how many distinct results there are.
        item: bytes of an element.
    """
    row = inputs + staged
    if threads := threads_of_block(row * item):
        return Shape(threads, threads * row * item, 0)
    threads = 128 if 128 * inputs * item <= SHARED_BYTES_OF_TWO else 32
    strip = STRIP * (threads + 1)
    return Shape(threads, max(threads * inputs, strip) * item, threads * results)


def threads_of_block(row: int) -> int:
    """How many threads a block has; zero if the shared memory is too small for 32.

    Arguments:
        row: the bytes of shared memory that each thread needs.
    """
    resident = {t: threads_at_once(t, row) for t in (128, 64, 32)}
    threads = max(resident, key=lambda t: min(resident[t], THREADS_TO_HIDE_LATENCY))
    return threads if resident[threads] else 0


def threads_at_once(threads: int, row: int) -> int:
    """The threads that the shared memory of a multiprocessor has room for.

    Arguments:
        threads: of a block.
        row: the bytes of shared memory that each thread needs.
    """
    return MAX_SHARED_BYTES // (threads * row + RESERVED_BYTES) * threads


def row_pitch(count: int) -> int:
    """The elements from one row to the next in shared memory."""
    return count if math.gcd(count, 32) <= MAX_BANK_CONFLICTS else count | 1


def _pitches(shapes: Sequence[tuple[int, ...]], layouts: Sequence[Rows]) -> list[int]:
    """The pitch of each array in shared memory; tiled ones stay where they are."""
    pairs = zip(shapes, layouts, strict=True)
    return [0 if rows.tiled else row_pitch(size(shape)) for shape, rows in pairs]


def place_rows(pitches: Sequence[int], threads: int) -> list[SharedRows]:
    """Rows of all threads of a block, one array behind the other."""
    starts = accumulate((threads * pitch for pitch in pitches), initial=0)
    return [SharedRows(start, pitch) for start, pitch in zip(starts, pitches, strict=False)]
