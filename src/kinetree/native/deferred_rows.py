"""Writing the rows of one operand past the caches, a few blocks at a time, as LLVM IR.

Streaming wants whole aligned vectors. Rows are cut into blocks of columns from an *origin* on, and
each row has a *shift*, the columns from there to its first aligned one. If rows lie whole vectors
apart, the origin is chosen such that there is no shift. If they lie half vectors apart, every other
row is shifted by half a block. Else a vector is made of two blocks, the one before and the one at
hand. If rows follow one another, the vector across the end of one and the start of the next is made
of both, also if that is the next tile's; what belongs to no whole vector is written the usual way.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.native.deferred_record import Group, Record, Records, Shifts
from kinetree.native.ir import (
    I32,
    I64,
    PTR,
    Writer,
    element,
    entry_alloca,
    integer,
    load,
    loop,
    offset,
    store,
)
from kinetree.native.transpose import Tiles


class Rows(Records):
    """The functions that stream an operand of one type.

    open(record) before the first tile; begin(record, rows, step, tile, index, columns) when a tile
    is computed; blocks[its shifts](record, start, stop) until all its blocks are written, then
    end(record); close(record) behind the last tile.
    """

    def __init__(self, writer: Writer, tiles: Tiles) -> None:
        super().__init__(writer, tiles)
        self.halving = writer.lanes >= 4  # half a vector is then whole pairs of columns
        self.start = self._define_start()
        self.begin = self._define_begin()
        kinds = (Shifts.NONE, Shifts.ODD, Shifts.EVEN) if self.halving else (Shifts.NONE,)
        self.blocks = {shifts: self._define_blocks(shifts) for shifts in kinds}
        self.blocks[Shifts.ANY] = self._define_blocks_of_any()
        self.end = self._define_end()

    def open(self, b: ir.IRBuilder, record: Any) -> None:
        store(b, integer(0), record, Record.LEFT)

    def close(self, b: ir.IRBuilder, record: Any) -> None:
        """Write what the last tile left."""
        place, count = load(b, PTR, record, Record.LEFT), load(b, I64, record, Record.COUNT)
        with b.if_then(b.icmp_unsigned("!=", b.ptrtoint(place, I64), integer(0))):
            left = self._left(b, record)
            with loop(b, 0, count) as at:
                store(b, load(b, self.w.scalar, left, at), place, at)

    def _define_begin(self) -> ir.Function:
        """Make a record; what is to be written at the start of rows is written."""
        f, b = self.w.internal("begin", [PTR, PTR, I64, PTR, PTR, I64])
        f.attributes.add("noinline")
        record, rows, step, tile, index, columns = f.args
        size, lanes, item = self.w.vector_size, self.w.lanes, self.w.item
        apart = b.and_(step, integer(size - 1))
        own = b.udiv(self._beyond(b, rows), integer(item))
        in_half = b.and_(own, integer(lanes // 2 - 1))
        none = b.icmp_signed("==", apart, integer(0))
        halves = b.icmp_signed("==", apart, integer(size // 2 if self.halving else size))
        odd = b.icmp_signed("==", own, in_half)
        shifts, origin = (
            b.select(none, if_none, b.select(halves, if_halves, if_any))
            for if_none, if_halves, if_any in (
                (
                    integer(Shifts.NONE),
                    b.select(odd, integer(Shifts.ODD), integer(Shifts.EVEN)),
                    integer(Shifts.ANY),
                ),
                (own, in_half, integer(0)),
            )
        )
        left = b.sub(columns, origin)
        blocks = b.udiv(b.sub(left, integer(1)), integer(lanes))
        dense = b.icmp_signed("==", step, b.mul(columns, integer(item)))
        for field, value in (
            (Record.ROWS, element(b, self.w.scalar, rows, origin)),
            (Record.STEP, step),
            (Record.TILE, tile),
            (Record.INDEX, element(b, I32, index, origin)),
            (Record.COLUMNS, left),
            (Record.ORIGIN, origin),
            (Record.SHIFTS, shifts),
            (Record.DENSE, b.zext(dense, I64)),
            (Record.NEXT, integer(0)),
            (Record.BLOCKS, blocks),
        ):
            store(b, value, record, field)
        b.call(self.start, [record])
        b.ret_void()
        return f

    def _define_start(self) -> ir.Function:
        """Find the shift of each row; write the columns before it that no other row completes."""
        f, b = self.w.internal("start", [PTR])
        (record,) = f.args
        rows, step = load(b, PTR, record, Record.ROWS), load(b, I64, record, Record.STEP)
        tile, index = load(b, PTR, record, Record.TILE), load(b, PTR, record, Record.INDEX)
        before = b.sub(integer(0), load(b, I64, record, Record.ORIGIN))
        first = element(b, I32, index, before)
        for lane, values in enumerate(self.tiles.block(b, tile, first, self.w.lanes)):
            self._keep(b, values, record, Group.FIRST, lane)
        some = b.icmp_signed("==", load(b, I64, record, Record.SHIFTS), integer(Shifts.ANY))
        with b.if_then(some):
            self._find_places(b, record)
        size, lanes = integer(self.w.vector_size), integer(self.w.lanes)
        dense = b.icmp_signed("!=", load(b, I64, record, Record.DENSE), integer(0))
        left = load(b, I64, record, Record.LEFT)
        place = b.sub(b.add(b.ptrtoint(rows, I64), self._beyond(b, rows)), size)
        with b.if_else(b.icmp_unsigned("==", left, place)) as (complete, alone):
            with complete:
                store(b, integer(0), record, Record.LEFT)
                vector = self._left(b, record)
                kept = self._kept(b, record, Group.FIRST, 0)
                at = element(b, self.w.scalar, vector, load(b, I64, record, Record.COUNT))
                b.store(kept, at, align=self.w.item)
                values = b.load(vector, typ=self.w.vector, align=self.w.vector_size)
                self._stream(b, values, b.inttoptr(place, PTR))
            with alone, loop(b, 0, b.select(dense, integer(1), lanes)) as lane:
                row = offset(b, rows, b.mul(step, lane))
                shift = b.udiv(self._beyond(b, row), integer(self.w.item))
                with loop(b, before, shift) as column:
                    values = self.tiles.place(b, tile, index, column)
                    store(b, load(b, self.w.scalar, values, lane), row, column)
        b.ret_void()
        return f

    def _find_places(self, b: ir.IRBuilder, record: Any) -> None:
        """The first aligned place of each row, and its shift as indices."""
        rows, step = load(b, PTR, record, Record.ROWS), load(b, I64, record, Record.STEP)
        for lane in range(self.w.lanes):
            row = offset(b, rows, b.mul(step, integer(lane)))
            beyond = self._beyond(b, row)
            store(b, offset(b, row, beyond), self._at(b, record, Group.PLACES, 0), lane)
            self._keep_shift(b, b.udiv(beyond, integer(self.w.item)), record, lane)

    def _define_blocks(self, shifts: Shifts) -> ir.Function:
        """Write blocks start..stop; of shifted rows, those half a block before them."""
        f, b = self.w.internal(f"blocks_{shifts.name.lower()}", [PTR, I64, I64])
        f.attributes.add("noinline")
        record, start, stop = f.args
        lanes, half = self.w.lanes, self.w.lanes // 2
        rows, step = load(b, PTR, record, Record.ROWS), load(b, I64, record, Record.STEP)
        before = [entry_alloca(b, self.w.vector) for _ in range(half // 2)]  # pairs, shifted rows
        odd = shifts == Shifts.ODD

        def keep(pairs: list[Any]) -> None:
            for values, place in zip(pairs, before, strict=True):
                b.store(values, place)

        def write(place: Any, first: int, pairs: list[Any]) -> None:
            for row, values in enumerate(self.tiles.rows(b, pairs)):
                self._stream(b, values, offset(b, place, b.mul(step, integer(first + 2 * row))))

        if shifts != Shifts.NONE:  # before the first block there is nothing
            block = b.select(b.icmp_signed(">", start, integer(0)), start, integer(1))
            columns = self._columns(b, record, block, -half)
            keep(self.tiles.pairs(b, *columns, half, odd))
        with loop(b, start, stop) as block:
            at, columns = element(b, self.w.vector, rows, block), self._columns(b, record, block)
            even_pairs, odd_pairs = (
                self.tiles.pairs(b, *columns, lanes, parity) for parity in (False, True)
            )
            if shifts != Shifts.EVEN:
                write(at, 0, even_pairs)
            if shifts != Shifts.ODD:
                write(at, 1, odd_pairs)
            if shifts != Shifts.NONE:
                own = odd_pairs if odd else even_pairs
                pairs = [b.load(place, typ=self.w.vector) for place in before] + own[: half // 2]
                keep(own[half // 2 :])
                with b.if_then(b.icmp_signed(">", block, integer(0))):
                    write(element(b, self.w.scalar, at, -half), int(odd), pairs)
        b.ret_void()
        return f

    def _define_blocks_of_any(self) -> ir.Function:
        """Read blocks start..stop of rows with any shifts; write the vectors they complete."""
        f, b = self.w.internal("blocks_any", [PTR, I64, I64])
        f.attributes.add("noinline")
        record, start, stop = f.args
        lanes = range(self.w.lanes)
        last = [entry_alloca(b, self.w.vector) for _ in lanes]
        before = b.select(b.icmp_signed(">", start, integer(0)), b.sub(start, integer(1)), start)
        for lane, values in enumerate(self._block(b, record, before)):
            b.store(values, last[lane])
        with loop(b, start, stop) as block:
            values = self._block(b, record, block)
            with b.if_then(b.icmp_signed(">", block, integer(0))):
                for lane in lanes:
                    place = load(b, PTR, self._at(b, record, Group.PLACES, 0), lane)
                    at = element(b, self.w.vector, place, b.sub(block, integer(1)))
                    one = b.load(last[lane], typ=self.w.vector)
                    self._stream(b, self._join(b, record, lane, one, values[lane]), at)
            for lane in lanes:
                b.store(values[lane], last[lane])
        b.ret_void()
        return f

    def _define_end(self) -> ir.Function:
        """Write what is left of the rows: the last blocks, and joints between rows."""
        f, b = self.w.internal("end", [PTR])
        f.attributes.add("noinline")
        (record,) = f.args
        lanes, item = self.w.lanes, self.w.item
        shifts = load(b, I64, record, Record.SHIFTS)
        some = b.icmp_signed("!=", shifts, integer(Shifts.ANY))
        dense = b.icmp_signed("!=", load(b, I64, record, Record.DENSE), integer(0))
        with b.if_then(b.and_(some, dense)):
            self._end_dense(b, record, shifts)
            b.ret_void()
        blocks = load(b, I64, record, Record.BLOCKS)
        done = b.mul(blocks, integer(lanes))
        # in a row's room: its last whole block, what is left of it, the start of the next row
        rooms = entry_alloca(b, self.w.vector, 3 * lanes)
        for k, block in enumerate((b.sub(blocks, integer(1)), blocks)):
            for lane, values in enumerate(self._block(b, record, block)):
                store(b, values, rooms, 3 * lane + k)
        end = b.sub(b.add(load(b, I64, record, Record.COLUMNS), integer(lanes)), done)
        rows, step = load(b, PTR, record, Record.ROWS), load(b, I64, record, Record.STEP)
        before = load(b, I64, record, Record.ORIGIN)
        # all rooms are filled before any is read: what is just being written is slow to read
        for lane in range(lanes - 1):
            start = self._kept(b, record, Group.FIRST, lane + 1)
            b.store(start, element(b, self.w.scalar, self._room(b, rooms, lane), end), align=item)
        after = entry_alloca(b, I64)
        with loop(b, 0, lanes) as lane:
            room = self._room(b, rooms, lane)
            row = offset(b, rows, b.mul(step, lane))
            following = b.add(lane, integer(1))
            b.store(integer(0), after)
            with b.if_then(b.and_(dense, b.icmp_signed("<", following, integer(lanes)))):
                shift = b.udiv(self._beyond(b, offset(b, row, step)), integer(item))
                b.store(b.add(before, shift), after)
            shift = b.udiv(self._beyond(b, row), integer(item))
            none = b.and_(some, b.icmp_signed("==", shift, integer(0)))
            begin = b.select(none, integer(lanes), shift)
            complete = b.sub(b.add(end, b.load(after, typ=I64)), begin)
            stop = b.add(begin, b.and_(complete, integer(-lanes)))
            origin = element(b, self.w.scalar, row, b.sub(done, integer(lanes)))  # of the room
            with loop(b, begin, stop, lanes) as at:
                place = element(b, self.w.scalar, room, at)
                values = b.load(place, typ=self.w.vector, align=item)
                self._stream(b, values, element(b, self.w.scalar, origin, at))
            # of the last row, the next tile may complete it
            last = b.icmp_signed("==", following, integer(lanes))
            with b.if_else(b.and_(dense, last)) as (leave, write):
                with leave:
                    place = element(b, self.w.scalar, room, stop)
                    values = b.load(place, typ=self.w.vector, align=item)
                    b.store(values, self._left(b, record), align=self.w.vector_size)
                    count = b.sub(end, stop)
                    some = b.icmp_signed(">", count, integer(0))
                    place = b.ptrtoint(element(b, self.w.scalar, origin, stop), I64)
                    store(b, b.select(some, place, integer(0)), record, Record.LEFT)
                    store(b, count, record, Record.COUNT)
                with write, loop(b, stop, end) as at:
                    store(b, load(b, self.w.scalar, room, at), origin, at)
        b.ret_void()
        return f

    def _end_dense(self, b: ir.IRBuilder, record: Any, shifts: Any) -> None:
        """Write the vectors across the ends of rows that follow one another: one for each.

        Such a vector has what is left of the row, the end of its last block, and the start of the
        next row.
        """
        lanes, half = self.w.lanes, integer(self.w.lanes // 2)
        origin, columns = (load(b, I64, record, k) for k in (Record.ORIGIN, Record.COLUMNS))
        rows, step = load(b, PTR, record, Record.ROWS), load(b, I64, record, Record.STEP)
        tile, index = load(b, PTR, record, Record.TILE), load(b, PTR, record, Record.INDEX)
        begin = b.sub(columns, integer(lanes))
        ends = self.tiles.block(b, tile, element(b, I32, index, begin), lanes)
        used = []  # columns of the last block that are written, of even and of odd rows
        for parity, other in enumerate((Shifts.ODD, Shifts.EVEN)):
            beyond = b.select(b.icmp_signed("==", shifts, integer(other)), half, integer(0))
            used.append(b.add(origin, beyond))
            self._keep_shift(b, used[parity], record, parity)

        def place(lane: int) -> Any:
            row = offset(b, rows, b.mul(step, integer(lane)))
            return element(b, self.w.scalar, row, b.add(begin, used[lane % 2]))

        for lane, values in enumerate(ends[:-1]):
            start = self._kept(b, record, Group.FIRST, lane + 1)
            self._stream(b, self._join(b, record, lane % 2, values, start), place(lane))
        values = self._join(b, record, 1, ends[-1], ends[-1])
        with b.if_else(b.icmp_signed("==", used[1], integer(0))) as (whole, leave):
            with whole:
                self._stream(b, values, place(lanes - 1))
                store(b, integer(0), record, Record.LEFT)
            with leave:  # the next tile may complete it
                b.store(values, self._left(b, record), align=self.w.vector_size)
                store(b, b.ptrtoint(place(lanes - 1), I64), record, Record.LEFT)
                store(b, b.sub(integer(lanes), used[1]), record, Record.COUNT)

    def _room(self, b: ir.IRBuilder, rooms: Any, lane: Any) -> Any:
        lane = integer(lane) if isinstance(lane, int) else lane
        return element(b, self.w.vector, rooms, b.mul(lane, integer(3)))
