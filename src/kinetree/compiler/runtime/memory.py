"""Memory of large results, kept for the next ones.

New pages cost several times what it costs to compute the numbers that are written to them: the
operating system maps and clears each one. So the memory of a large result is kept when its last
view is gone, and the next result of about that size gets it.

Such a result is an ordinary array whose base is the object that holds its memory. As of every array
with a base, `flags.owndata` is False and `resize` is refused; everything else is as usual.

What is kept is bounded. On Linux and macOS the system takes kept pages when it runs short of memory
(MADV_FREE); `release_memory` gives all of them back at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
from functools import cache
from math import prod
from typing import Any

import numpy as np

from kinetree.compiler.runtime.forks import forkable_lock

LARGE = 1 << 20
"""Bytes from which on a result's memory is kept; the C library keeps that of smaller ones."""
MOST = 1 << 30
"""Bytes that are kept at most, if an eighth of the machine's memory is not less."""
MOST_ALIKE = 8
"""Blocks of one size that are kept at most."""
HUGE_PAGE = 1 << 21
"""Bytes of a huge page: to map and to clear one takes far less than its 512 small pages."""
COLOURS = 16
"""Blocks in a row begin at different distances from a page's start, so that the rows of two results
do not compete for the same lines of a cache."""
COLOUR = 5 * 64


class Block:
    """Memory of one size, mapped."""

    def __init__(self, size: int, colour: int) -> None:
        room = size + HUGE_PAGE + COLOURS * COLOUR
        if hasattr(mmap, "MAP_PRIVATE"):  # else a forked child would write to its parent's memory
            self.memory = mmap.mmap(-1, room, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            self.memory = mmap.mmap(-1, room)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.size, self.first = size, -start % HUGE_PAGE + colour * COLOUR
        if size >= HUGE_PAGE:
            self._advise("MADV_HUGEPAGE")

    def rest(self) -> None:
        """Let the system have the pages when it needs some; until then they keep their place."""
        self._advise("MADV_FREE")

    def _advise(self, name: str) -> None:
        if hasattr(mmap, name):
            with contextlib.suppress(OSError):  # of systems that know the name and not the advice
                self.memory.madvise(getattr(mmap, name))


class Store:
    """The blocks that are kept, the one that came back last at the end.

    A block belongs to whoever takes it out of the list, in one operation: the garbage collector may
    end an array, and so give a block back, between any two others.
    """

    def __init__(self) -> None:
        self.lock = forkable_lock()
        self.blocks: list[Block] = []
        self.made = 0

    def take(self, size: int) -> Block:
        """A block of some size, kept or new."""
        with self.lock:
            for block in reversed(self.blocks.copy()):
                if block.size == size and self._remove(block):
                    return block
            self.made += 1
            colour = self.made % COLOURS
        try:
            return Block(size, colour)
        except OSError:  # no memory
            self.clear()
            return Block(size, colour)

    def give(self, block: Block) -> None:
        """Keep a block; those that have waited longest go, if it is too much."""
        block.rest()
        with self.lock:
            self.blocks.append(block)
            alike = [b for b in self.blocks if b.size == block.size]
            if len(alike) > MOST_ALIKE:
                self._remove(alike[0])
            while self.blocks and self.kept() > _most():
                self._remove(self.blocks[0])

    def _remove(self, block: Block) -> bool:
        try:
            self.blocks.remove(block)
        except ValueError:
            return False
        return True

    def kept(self) -> int:
        """How many bytes are kept."""
        return sum(block.size for block in self.blocks.copy())

    def clear(self) -> int:
        """Give everything back to the system; how many bytes that are."""
        with self.lock:
            gone, self.blocks = self.blocks, []
        return sum(block.size for block in gone)


STORE = Store()


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """An array whose numbers are not set, as of `numpy.empty`; a large one in kept memory."""
    size = prod(shape) * dtype.itemsize
    if size < LARGE:
        return np.empty(shape, dtype)
    step = 1 << (size.bit_length() - 4)
    rounded = -(-size // step) * step  # by an eighth at most
    try:
        block = STORE.take(rounded)
    except OSError:
        return np.empty(shape, dtype)  # says how much memory is missing
    holder = _holder(rounded).from_buffer(block.memory, block.first)
    holder.block = block
    return np.ndarray(shape, dtype, holder)


def release_memory() -> int:
    """Give the memory that is kept for large results back to the system.

    Arrays that are in use are not touched. Kinetree keeps the memory of large results that are gone
    for the next ones, up to 1 GiB or an eighth of the machine's memory.

    Returns:
        How many bytes were kept.
    """
    return STORE.clear()


@cache
def _holder(size: int) -> Any:
    """The type of what holds a block for an array, and gives it back when the array is gone.

    One of ctypes, because NumPy asks the base of an array whether it may be written to.
    """

    def give_back(self: Any, over: Any = sys.is_finalizing, give: Any = STORE.give) -> None:
        if not over():
            give(self.block)

    return type("Memory", (ctypes.c_char * size,), {"__del__": give_back})


@cache
def _most() -> int:
    """How many bytes are kept at most."""
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # a system that does not tell
        return MOST // 4
    return min(MOST, physical // 8)
