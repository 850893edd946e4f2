"""Writing large results past the caches while the next tile is computed, as LLVM IR.

Large results would only flush the caches, so they are streamed, and memory takes much longer to
accept a tile of them than it takes to hand it over. A tile's results are therefore left *pending*:
between its chunks, the body of the next tile calls

    void kinetree_advance_T(ptr pending, i64 share)

which writes them up to some share of all. A few vectors at a time then go out while the arithmetic
goes on.

Streaming wants whole aligned vectors. Rows whose first aligned column is the same are written in
blocks of columns from there on, their ends the usual way. Otherwise each row has a *shift*, the
columns before its first aligned one: a vector of it is made of two blocks, the one before and the
one at hand, and if rows follow one another, the vector across the end of one and the start of the
next is made of both.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from llvmlite import ir

from kinetree.emit.building import (
    I32,
    I64,
    PTR,
    Writer,
    element,
    entry_alloca,
    external,
    integer,
    load,
    loop,
    offset,
    store,
)
from kinetree.emit.layout import ALL
from kinetree.emit.tiles import Tiles


class Pending(IntEnum):
    """The head of what is pending; records follow it."""

    TOTAL = 0  # blocks of all records
    DONE = 1  # of these, written
    CURRENT = 2  # address of the record that is being written
    END = 3  # address behind the last record


class Record(IntEnum):
    """One operand of a tile, in 64-bit fields; its vectors follow."""

    ROWS = 0
    STEP = 1
    TILE = 2
    INDEX = 3
    COLUMNS = 4
    ALIKE = 5  # whether all rows have the same first aligned column
    DENSE = 6  # whether rows follow one another
    NEXT = 7  # the block to be written next
    BLOCKS = 8  # blocks until the end, which is written by itself


class Streams:
    """The functions that stream tiles of one type.

    clear(pending); put(pending, rows, step, tile, index, columns) adds an operand;
    advance(pending, share). `room(operands)` is how many elements `pending` needs, aligned.
    """

    def __init__(self, writer: Writer, tiles: Tiles) -> None:
        self.w, self.tiles = writer, tiles
        size = writer.vector_size
        self.vectors = -(-8 * len(Record) // size)  # where a record's vectors begin
        self.record = size * (self.vectors + 4 * writer.lanes)
        self.head = size * -(-8 * len(Pending) // size)
        self.clear = self._define_clear()
        self.start = self._define_start()
        self.put = self._define_put()
        self.blocks_alike = self._define_blocks_alike()
        self.blocks_shifted = self._define_blocks_shifted()
        self.end_alike = self._define_end_alike()
        self.end_shifted = self._define_end_shifted()
        self.advance = self._define_advance()

    def room(self, b: ir.IRBuilder, operands: Any) -> Any:
        """The elements that some operands need."""
        item = self.w.item
        return b.add(integer(self.head // item), b.mul(operands, integer(self.record // item)))

    # of each row: the first block, the last one read, its shift as indices, its first aligned place

    def _firsts(self, b: ir.IRBuilder, record: Any, lane: Any) -> Any:
        return element(b, self.w.vector, self._vectors(b, record, 0), lane)

    def _lasts(self, b: ir.IRBuilder, record: Any, lane: Any) -> Any:
        return element(b, self.w.vector, self._vectors(b, record, 1), lane)

    def _indices(self, b: ir.IRBuilder, record: Any, lane: Any) -> Any:
        return element(b, self.w.vector, self._vectors(b, record, 2), lane)

    def _places(self, b: ir.IRBuilder, record: Any) -> Any:
        return self._vectors(b, record, 3)

    def _vectors(self, b: ir.IRBuilder, record: Any, group: int) -> Any:
        start = self.w.vector_size * (self.vectors + group * self.w.lanes)
        return offset(b, record, integer(start))

    def _define_clear(self) -> ir.Function:
        f, b = self.w.internal("clear", [PTR])
        (pending,) = f.args
        first = offset(b, pending, integer(self.head))
        for field, value in (
            (Pending.TOTAL, integer(0)),
            (Pending.DONE, integer(0)),
            (Pending.CURRENT, first),
            (Pending.END, first),
        ):
            store(b, value, pending, field)
        b.ret_void()
        return f

    def _define_put(self) -> ir.Function:
        """Add an operand of a tile; what is to be written at the start of rows is written."""
        f, b = self.w.internal("put", [PTR, PTR, I64, PTR, PTR, I64])
        f.attributes.add("noinline")
        pending, rows, step, tile, index, columns = f.args
        record = load(b, PTR, pending, Pending.END)
        store(b, offset(b, record, integer(self.record)), pending, Pending.END)
        size, lanes, item = self.w.vector_size, self.w.lanes, self.w.item
        alike = b.icmp_signed("==", b.and_(step, integer(size - 1)), integer(0))
        dense = b.icmp_signed("==", step, b.mul(columns, integer(item)))
        own = b.udiv(self._beyond(b, rows), integer(item))
        # rows alike begin at their first aligned column
        begin = b.select(alike, own, integer(0))
        first, own_index = element(b, self.w.scalar, rows, begin), element(b, I64, index, begin)
        left = b.sub(columns, begin)
        whole = b.udiv(left, integer(lanes))
        but_last = b.udiv(b.sub(left, integer(1)), integer(lanes))
        blocks = b.select(alike, whole, but_last)
        for field, value in (
            (Record.ROWS, first),
            (Record.STEP, step),
            (Record.TILE, tile),
            (Record.INDEX, own_index),
            (Record.COLUMNS, left),
            (Record.ALIKE, b.zext(alike, I64)),
            (Record.DENSE, b.zext(dense, I64)),
            (Record.NEXT, integer(0)),
            (Record.BLOCKS, blocks),
        ):
            store(b, value, record, field)
        total = b.add(load(b, I64, pending, Pending.TOTAL), blocks)
        store(b, total, pending, Pending.TOTAL)
        with b.if_else(alike) as (at_once, otherwise):
            with at_once:
                b.call(self.tiles.write_any, [rows, step, tile, index, own])
            with otherwise:
                b.call(self.start, [record])
        b.ret_void()
        return f

    def _beyond(self, b: ir.IRBuilder, place: Any) -> Any:
        """The bytes from a place to the next aligned one."""
        return b.and_(b.sub(integer(0), b.ptrtoint(place, I64)), integer(self.w.vector_size - 1))

    def _define_start(self) -> ir.Function:
        """Find the shift of each row; write the columns before it that no other row completes."""
        f, b = self.w.internal("start", [PTR])
        (record,) = f.args
        rows, step, tile, index = (
            load(b, kind, record, field)
            for kind, field in zip(
                (PTR, I64, PTR, PTR),
                (Record.ROWS, Record.STEP, Record.TILE, Record.INDEX),
                strict=True,
            )
        )
        whole = ir.IntType(8 * self.w.item)
        counts = ir.VectorType(whole, self.w.lanes)
        count_up = ir.Constant(counts, list(range(self.w.lanes)))
        for lane in range(self.w.lanes):
            row = offset(b, rows, b.mul(step, integer(lane)))
            beyond = self._beyond(b, row)
            shift = b.udiv(beyond, integer(self.w.item))
            store(b, offset(b, row, beyond), self._places(b, record), lane)
            narrow = shift if whole is I64 else b.trunc(shift, whole)
            one = b.insert_element(ir.Constant(counts, ir.Undefined), narrow, I32(0))
            every = ir.Constant(ir.VectorType(I32, self.w.lanes), [0] * self.w.lanes)
            indices = b.add(b.shuffle_vector(one, one, every), count_up)
            b.store(indices, self._indices(b, record, lane), align=self.w.vector_size)
        dense = b.icmp_signed("!=", load(b, I64, record, Record.DENSE), integer(0))
        with b.if_else(dense) as (joined, apart):
            with joined:  # only the first row has none before it
                head = b.udiv(self._beyond(b, rows), integer(self.w.item))
                with loop(b, 0, head) as column:
                    value = b.load(offset(b, tile, load(b, I64, index, column)), typ=self.w.scalar)
                    store(b, value, rows, column)
            with apart:
                lanes = integer(self.w.lanes)
                b.call(self.tiles.write_any, [rows, step, tile, index, lanes])
        b.ret_void()
        return f

    def _block(self, b: ir.IRBuilder, record: Any, block: Any) -> list[Any]:
        """A block of columns of all rows, as a vector a row."""
        tile, index = load(b, PTR, record, Record.TILE), load(b, PTR, record, Record.INDEX)
        own = element(b, I64, index, b.mul(block, integer(self.w.lanes)))
        return self.tiles.block(b, tile, own, self.w.lanes)

    def _define_blocks_alike(self) -> ir.Function:
        """Write blocks from..to of rows whose blocks are aligned."""
        f, b = self.w.internal("blocks_alike", [PTR, I64, I64])
        f.attributes.add("noinline")
        record, start, stop = f.args
        rows, step = load(b, PTR, record, Record.ROWS), load(b, I64, record, Record.STEP)
        with loop(b, start, stop) as block:
            at = element(b, self.w.vector, rows, block)
            for lane, values in enumerate(self._block(b, record, block)):
                self._stream(b, values, offset(b, at, b.mul(step, integer(lane))))
        b.ret_void()
        return f

    def _define_blocks_shifted(self) -> ir.Function:
        """Read blocks from..to of rows with shifts; write the vectors they complete."""
        f, b = self.w.internal("blocks_shifted", [PTR, I64, I64])
        f.attributes.add("noinline")
        record, start, stop = f.args
        size, lanes = self.w.vector_size, range(self.w.lanes)
        last = [entry_alloca(b, self.w.vector) for _ in lanes]
        for lane in lanes:
            kept = b.load(self._lasts(b, record, lane), typ=self.w.vector, align=size)
            b.store(kept, last[lane])
        with loop(b, start, stop) as block:
            values = self._block(b, record, block)
            first = b.icmp_signed("==", block, integer(0))
            with b.if_else(first) as (keep, write):
                with keep:
                    for lane in lanes:
                        b.store(values[lane], self._firsts(b, record, lane), align=size)
                with write:
                    for lane in lanes:
                        place = load(b, PTR, self._places(b, record), lane)
                        at = element(b, self.w.vector, place, b.sub(block, integer(1)))
                        before = b.load(last[lane], typ=self.w.vector)
                        joined = self._join(b, record, lane, before, values[lane])
                        self._stream(b, joined, at)
            for lane in lanes:
                b.store(values[lane], last[lane])
        for lane in lanes:
            kept = b.load(last[lane], typ=self.w.vector)
            b.store(kept, self._lasts(b, record, lane), align=size)
        b.ret_void()
        return f

    def _join(self, b: ir.IRBuilder, record: Any, lane: int, x: Any, y: Any) -> Any:
        """The vector that begins, a row's shift behind its start, in x and ends in y."""
        size = self.w.vector_size
        if size == 64:  # AVX-512 has an instruction for it
            name = f"llvm.x86.avx512.vpermi2var.{'pd' if self.w.item == 8 else 'ps'}.512"
            counts = ir.VectorType(ir.IntType(8 * self.w.item), self.w.lanes)
            indices = b.load(self._indices(b, record, lane), typ=counts, align=size)
            kinds = [self.w.vector, counts, self.w.vector]
            return b.call(external(self.w.module, name, self.w.vector, kinds), [x, indices, y])
        both = entry_alloca(b, self.w.vector, 2)
        store(b, x, both, 0)
        store(b, y, both, 1)
        shift = load(b, ir.IntType(8 * self.w.item), self._indices(b, record, lane))
        return b.load(element(b, self.w.scalar, both, shift), typ=self.w.vector, align=self.w.item)

    def _define_end_alike(self) -> ir.Function:
        """Write the columns behind the last whole block."""
        f, b = self.w.internal("end_alike", [PTR])
        (record,) = f.args
        done = b.mul(load(b, I64, record, Record.BLOCKS), integer(self.w.lanes))
        b.call(
            self.tiles.write_any,
            [
                element(b, self.w.scalar, load(b, PTR, record, Record.ROWS), done),
                load(b, I64, record, Record.STEP),
                load(b, PTR, record, Record.TILE),
                element(b, I64, load(b, PTR, record, Record.INDEX), done),
                b.sub(load(b, I64, record, Record.COLUMNS), done),
            ],
        )
        b.ret_void()
        return f

    def _define_end_shifted(self) -> ir.Function:
        """Write what is left of rows with shifts: the last two blocks, and joints between rows."""
        f, b = self.w.internal("end_shifted", [PTR])
        f.attributes.add("noinline")
        (record,) = f.args
        size, lanes = self.w.vector_size, self.w.lanes
        done = load(b, I64, record, Record.BLOCKS)
        ends = entry_alloca(b, self.w.vector, lanes)
        for lane, values in enumerate(self._block(b, record, done)):
            store(b, values, ends, lane)
        room = entry_alloca(b, self.w.vector, 3)
        columns = load(b, I64, record, Record.COLUMNS)
        # in `room`: the last whole block, what is left of the row, the start of the next one
        end = b.sub(b.add(columns, integer(lanes)), b.mul(done, integer(lanes)))
        rows, step = load(b, PTR, record, Record.ROWS), load(b, I64, record, Record.STEP)
        dense = b.icmp_signed("!=", load(b, I64, record, Record.DENSE), integer(0))
        with loop(b, 0, lanes) as lane:
            kept = b.load(self._lasts(b, record, lane), typ=self.w.vector, align=size)
            store(b, kept, room, 0)
            store(b, load(b, self.w.vector, ends, lane), room, 1)
            following = b.add(lane, integer(1))
            joined = b.and_(dense, b.icmp_signed("<", following, integer(lanes)))
            row = offset(b, rows, b.mul(step, lane))
            after = entry_alloca(b, I64)
            b.store(integer(0), after)
            with b.if_then(joined):
                start = b.load(self._firsts(b, record, following), typ=self.w.vector, align=size)
                b.store(start, element(b, self.w.scalar, room, end), align=self.w.item)
                b.store(b.udiv(self._beyond(b, offset(b, row, step)), integer(self.w.item)), after)
            shift = b.udiv(self._beyond(b, row), integer(self.w.item))
            complete = b.sub(b.add(end, b.load(after, typ=I64)), shift)
            stop = b.add(shift, b.and_(complete, integer(-lanes)))
            column = b.mul(b.sub(done, integer(1)), integer(lanes))
            origin = element(b, self.w.scalar, row, column)  # where room begins
            with loop(b, shift, stop, lanes) as at:
                place = element(b, self.w.scalar, room, at)
                values = b.load(place, typ=self.w.vector, align=self.w.item)
                self._stream(b, values, element(b, self.w.scalar, origin, at))
            with loop(b, stop, end) as at:
                store(b, load(b, self.w.scalar, room, at), origin, at)
        b.ret_void()
        return f

    def _define_advance(self) -> ir.Function:
        """Write what is pending up to some share of it."""
        f, b = self.w.public("advance", [PTR, I64])
        pending, share = f.args
        total = load(b, I64, pending, Pending.TOTAL)
        target = b.udiv(b.mul(total, share), integer(ALL))
        test, body, after = (b.append_basic_block(n) for n in ("test", "body", "after"))
        b.branch(test)
        b.position_at_end(test)
        done = load(b, I64, pending, Pending.DONE)
        b.cbranch(b.icmp_signed("<", done, target), body, after)
        b.position_at_end(body)
        record = load(b, PTR, pending, Pending.CURRENT)
        start, blocks = load(b, I64, record, Record.NEXT), load(b, I64, record, Record.BLOCKS)
        wanted = b.add(start, b.sub(target, done))
        last = b.icmp_signed(">=", wanted, blocks)
        stop = b.select(last, blocks, wanted)
        store(b, stop, record, Record.NEXT)
        store(b, b.add(done, b.sub(stop, start)), pending, Pending.DONE)
        alike = b.icmp_signed("!=", load(b, I64, record, Record.ALIKE), integer(0))
        with b.if_else(alike) as (aligned, shifted):
            for case, move, end in (
                (aligned, self.blocks_alike, self.end_alike),
                (shifted, self.blocks_shifted, self.end_shifted),
            ):
                with case:
                    b.call(move, [record, start, stop])
                    with b.if_then(last):
                        b.call(end, [record])
        with b.if_then(last):
            store(b, offset(b, record, integer(self.record)), pending, Pending.CURRENT)
        b.branch(test)
        b.position_at_end(after)
        b.ret_void()
        return f

    def _stream(self, b: ir.IRBuilder, values: Any, place: Any) -> None:
        written = b.store(values, place, align=self.w.vector_size)
        written.set_metadata("nontemporal", self.w.module.add_metadata([I32(1)]))
