"""Memory for the intermediate results of a call, as LLVM IR."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kinetree.compiler.native.ir import (
    I8,
    I32,
    I64,
    PTR,
    VOID,
    Builder,
    Writer,
    entry_alloca,
    external,
)

STACK_BYTES = 32768
"""Bytes: up to this size, memory is on the stack; larger blocks are allocated."""


@contextmanager
def memory(w: Writer, b: Builder, count: Any) -> Iterator[Any]:
    """Aligned memory for a number of elements, on the stack if it is small.

    The function being written returns 0 at the end of the block, or 1 at its start if allocation
    fails.
    """
    align = w.vector_size
    stack = entry_alloca(b, I8, STACK_BYTES + align)
    size = count * w.item
    large = size > STACK_BYTES
    start = entry_alloca(b, PTR)
    start.set(stack)
    with b.if_then(large, likely=False):
        allocate = external(w.module, "kinetree_allocate", PTR, [I64])
        allocated = b.call(allocate, [size + align])
        start.set(allocated)
        with b.if_then(allocated.address == 0):
            b.ret(I32(1))
    raw = start.get()
    bits = raw.address + (align - 1)
    yield b.inttoptr(bits & -align, PTR)
    with b.if_then(large, likely=False):
        b.call(external(w.module, "kinetree_free", VOID, [PTR]), [raw])
    b.ret(I32(0))
