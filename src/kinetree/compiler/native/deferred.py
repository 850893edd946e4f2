"""Deferred non-temporal stores of large results, as LLVM IR.

Large results would only flush the caches, so they are written by non-temporal stores. The processor
issues the stores of a tile faster than memory accepts them. A tile's results are therefore left
*pending*: between the steps of the next tile, the driver calls

    void kinetree_advance_T(ptr pending, i64 share)

which writes pending results up to a share of all (`native.deferred_rows`): a few vectors
at a time, while the arithmetic goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from llvmlite import ir

from kinetree.compiler.native.deferred_record import Field
from kinetree.compiler.native.deferred_rows import DeferredRows
from kinetree.compiler.native.ir import (
    I64,
    PTR,
    Builder,
    Writer,
    integer,
    loop,
)
from kinetree.compiler.native.layout import ALL
from kinetree.compiler.native.transpose import Transposes


class Pending(IntEnum):
    """The head of the pending results; their records follow it."""

    TOTAL = 0  # blocks of all records
    DONE = 1  # of these, written
    CURRENT = 2  # address of the record that is being written
    END = 3  # address behind the last record


class DeferredStores:
    """The functions that write tiles of one type by deferred stores.

    open(pending, operands) before the first tile; clear(pending) and, for each operand,
    put(pending, rows, step, tile, index, columns) when a tile is computed; advance(pending, share);
    close(pending, operands) after the last tile. `room(operands)` is the number of elements that
    `pending` needs, aligned.
    """

    def __init__(self, writer: Writer, transposes: Transposes) -> None:
        self.w, self.rows = writer, DeferredRows(writer, transposes)
        self.head = writer.vector_size * -(-8 * len(Pending) // writer.vector_size)
        self.clear = self._define_clear()
        self.open = self._define_for_all("open", self.rows.open)
        self.close = self._define_for_all("close", self.rows.close)
        self.put = self._define_put()
        self.advance = self._define_advance()

    def room(self, b: Builder, operands: Any) -> Any:
        """The elements that the pending results of a number of operands need."""
        item = self.w.item
        return self.head // item + operands * (self.rows.size // item)

    def _define_clear(self) -> ir.Function:
        b = self.w.internal("clear", [PTR])
        (pending,) = b.arguments
        first = pending + self.head
        for field, value in (
            (Pending.TOTAL, integer(0)),
            (Pending.DONE, integer(0)),
            (Pending.CURRENT, first),
            (Pending.END, first),
        ):
            pending[field] = value
        b.ret_void()
        return b.function

    def _define_for_all(self, what: str, each: Callable[[ir.IRBuilder, Any], None]) -> ir.Function:
        """A function that runs `each` on every operand's record; then nothing is pending."""
        b = self.w.internal(what, [PTR, I64])
        pending, operands = b.arguments
        with loop(b, 0, operands) as k:
            at = self.head + k * self.rows.size
            each(b, pending + at)
        b.call(self.clear, [pending])
        b.ret_void()
        return b.function

    def _define_put(self) -> ir.Function:
        """Add an operand of a tile."""
        b = self.w.internal("put", [PTR, PTR, I64, PTR, PTR, I64])
        pending, *operand = b.arguments
        record = pending.of(PTR)[Pending.END]
        pending[Pending.END] = record + self.rows.size
        b.call(self.rows.begin, [record, *operand])
        total, blocks = pending[Pending.TOTAL], record[Field.BLOCKS]
        pending[Pending.TOTAL] = total + blocks
        b.ret_void()
        return b.function

    def _define_advance(self) -> ir.Function:
        """Write pending results up to a share of them, a fixed-point number: ALL is 1.0."""
        b = self.w.internal("advance", [PTR, I64])
        pending, share = b.arguments
        total = pending[Pending.TOTAL]
        target = total * share // ALL
        test, body, after = (b.append_basic_block(n) for n in ("test", "body", "after"))
        b.branch(test)
        b.position_at_end(test)
        done = pending[Pending.DONE]
        b.cbranch(done < target, body, after)
        b.position_at_end(body)
        record = pending.of(PTR)[Pending.CURRENT]
        start, blocks = record[Field.NEXT], record[Field.BLOCKS]
        wanted = start + (target - done)
        last = wanted >= blocks
        stop = b.select(last, blocks, wanted)
        record[Field.NEXT] = stop
        pending[Pending.DONE] = done + (stop - start)
        shifts = record[Field.SHIFTS]
        for kind, move in self.rows.blocks.items():
            with b.if_then(shifts == kind):
                b.call(move, [record, start, stop])
        with b.if_then(last):
            b.call(self.rows.end, [record])
            pending[Pending.CURRENT] = record + self.rows.size
        b.branch(test)
        b.position_at_end(after)
        b.ret_void()
        return b.function
