"""The memory of a CUDA kernel: layouts of arrays, rows in shared memory, the launch.

Rows of arrays are contiguous, in shared memory, too, where adjacent threads then read from
different banks. If a large power of two divides the length of a row, there would be bank conflicts:
such rows are padded to an odd length.
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
"""Bytes: the most shared memory of a block, on compute capability 9.0."""
SHARED_BYTES_OF_TWO = 100 * 1024
"""Bytes: the most shared memory of a block with which two fit on a multiprocessor."""
RESERVED_BYTES = 1024
"""Bytes of shared memory that the system reserves for each block."""
THREADS_TO_HIDE_LATENCY = 256
"""The threads of a multiprocessor beyond which more do not help."""
MAX_BANK_CONFLICTS = 2
"""The most threads that may conflict in one bank of shared memory."""
INDEX_GAIN = 1.3
"""The ratio of elements to distinct results from which an index pays off."""
STRIP = 32
"""The number of columns of scratch that are transposed at once."""


@dataclass(frozen=True)
class Shape:
    """The launch configuration of a kernel.

    threads: of a block; one a state.
    shared: bytes of shared memory of a block.
    scratch: elements of global scratch for each block; zero if results fit shared memory.
    """

    threads: int
    shared: int
    scratch: int


class Rows(NamedTuple):
    """The memory layout of an array.

    stride: elements from one state to the next; None if states are contiguous.
    tiled: if true, for each 32 states all first elements are stored, then all second ones.
    columns: if true, all states' first elements are stored, then all second ones.
    """

    stride: int | None = None
    tiled: bool = False
    columns: bool = False


@dataclass(frozen=True)
class Layout:
    """The memory layouts of arguments and results."""

    inputs: tuple[Rows, ...]
    outputs: tuple[Rows, ...]

    @staticmethod
    def of(lowered: Lowered) -> Layout:
        """Contiguous rows."""
        return Layout((Rows(),) * len(lowered.inputs), (Rows(),) * len(lowered.outputs))


class SharedRows(NamedTuple):
    """The rows of a block's states in shared memory.

    start: of the first row.
    pitch: the elements from one row to the next.
    """

    start: int
    pitch: int

    @property
    def own_row(self) -> str:
        """The start of a thread's own row, in C."""
        return f"shared + {self.start} + tid * {self.pitch}"


class Staging:
    """The arguments and results that pass through shared memory, and their places there.

    indexed: whether only distinct results are kept, with an index from elements of outputs to them.
    shape: the launch configuration.
    inputs: the rows of each argument.
    results: the rows of each output; if indexed, one for the distinct results.
    """

    def __init__(self, lowered: Lowered, layout: Layout) -> None:
        inputs = _pitches([i.shape for i in lowered.inputs], layout.inputs)
        results = _pitches([o.shape for o in lowered.outputs], layout.outputs)
        distinct = row_pitch(lowered.results)
        item = ITEM_BYTES[lowered.kind]
        # rows in the outputs' layout are copied faster: used unless they cost threads
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
    """The launch configuration, with as many threads as shared memory allows."""
    return Staging(lowered, layout or Layout.of(lowered)).shape


def _shape(inputs: int, staged: int, results: int, item: int) -> Shape:
    """The launch of a kernel.

    Arguments:
        inputs, staged: elements of a state's arguments, and of its results, in shared memory.
        results: the number of distinct results.
        item: bytes of an element.
    """
    row = inputs + staged
    if threads := threads_of_block(row * item):
        return Shape(threads, threads * row * item, 0)
    threads = 128 if 128 * inputs * item <= SHARED_BYTES_OF_TWO else 32
    strip = STRIP * (threads + 1)
    return Shape(threads, max(threads * inputs, strip) * item, threads * results)


def threads_of_block(row: int) -> int:
    """The threads of a block; zero if shared memory is too small for 32.

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
    """The pitch of each array in shared memory; tiled arrays are not staged."""
    pairs = zip(shapes, layouts, strict=True)
    return [0 if rows.tiled else row_pitch(size(shape)) for shape, rows in pairs]


def place_rows(pitches: Sequence[int], threads: int) -> list[SharedRows]:
    """Rows of all threads of a block, array after array."""
    starts = accumulate((threads * pitch for pitch in pitches), initial=0)
    return [SharedRows(start, pitch) for start, pitch in zip(starts, pitches, strict=False)]
