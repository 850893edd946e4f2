"""Non-temporal stores of the rows of one operand, a few blocks at a time, as LLVM IR.

Non-temporal stores need whole aligned vectors. Rows are cut into blocks of columns, counted from an
*origin*. The *shift* of a row is the number of columns from there to its first aligned one.

- If rows are whole vectors apart, the origin is chosen such that no row has a shift.
- If they are half vectors apart, every other row is shifted by half a block.
- Otherwise each vector is joined from two blocks, the previous and the current one.

If rows follow one another in memory, the vector across the end of one and the start of the next is
joined from both, even if the next row belongs to the next tile. Columns that belong to no whole
vector are written by ordinary stores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir

from kinetree.compiler.native.deferred_record import Field, Group, RecordMemory, Shifts
from kinetree.compiler.native.ir import (
    I32,
    I64,
    PTR,
    Builder,
    Writer,
    entry_alloca,
    integer,
    loop,
)
from kinetree.compiler.native.transpose import Transposes


class Tail(NamedTuple):
    """The gathered end of a row: its last whole block, the remainder, the start of the next row.

    memory: the buffer.
    place: its place in the results.
    """

    memory: Any
    place: Any


class DeferredRows(RecordMemory):
    """The functions that write an operand of one type by deferred stores.

    open(record) before the first tile; begin(record, rows, step, tile, index, columns) when a tile
    is computed; blocks[its shifts](record, start, stop) until all its blocks are written, then
    end(record); close(record) after the last tile.
    """

    def __init__(self, writer: Writer, transposes: Transposes) -> None:
        super().__init__(writer, transposes)
        self.halving = writer.lanes >= 4  # half a vector is then whole pairs of columns
        self.start = self._define_start()
        self.begin = self._define_begin()
        kinds = (Shifts.NONE, Shifts.ODD, Shifts.EVEN) if self.halving else (Shifts.NONE,)
        self.blocks = {shifts: self._define_blocks(shifts) for shifts in kinds}
        self.blocks[Shifts.ANY] = self._define_blocks_of_any()
        self.end = self._define_end()

    def open(self, b: Builder, record: Any) -> None:
        record[Field.LEFT] = 0

    def close(self, b: Builder, record: Any) -> None:
        """Write the remaining elements of the last tile."""
        place, count = record.of(PTR)[Field.LEFT], record[Field.COUNT]
        with b.if_then(place.address != 0):
            left = self._left(b, record)
            with loop(b, 0, count) as at:
                place[at] = left.of(self.w.scalar)[at]

    def _define_begin(self) -> ir.Function:
        """Fill a record, and write the unaligned starts of its rows."""
        b = self.w.internal("begin", [PTR, PTR, I64, PTR, PTR, I64])
        b.function.attributes.add("noinline")
        record, rows, step, tile, index, columns = b.arguments
        shifts, origin = self._find_shifts(b, rows, step)
        columns_left = columns - origin
        blocks = (columns_left - 1) // self.w.lanes
        dense = step == columns * self.w.item
        for field, value in (
            (Field.ROWS, rows.of(self.w.scalar).at(origin)),
            (Field.STEP, step),
            (Field.TILE, tile),
            (Field.INDEX, index.of(I32).at(origin)),
            (Field.COLUMNS, columns_left),
            (Field.ORIGIN, origin),
            (Field.SHIFTS, shifts),
            (Field.DENSE, b.zext(dense, I64)),
            (Field.NEXT, integer(0)),
            (Field.BLOCKS, blocks),
        ):
            record[field] = value
        b.call(self.start, [record])
        b.ret_void()
        return b.function

    def _find_shifts(self, b: Builder, rows: Any, step: Any) -> tuple[Any, Any]:
        """Which rows are shifted, and the column that is the origin."""
        size, lanes = self.w.vector_size, self.w.lanes
        apart = step & size - 1
        aligned = self._beyond(b, rows) // self.w.item  # the first aligned column of the first row
        in_half = aligned & lanes // 2 - 1
        whole_vectors = apart == 0
        half_vectors = apart == (size // 2 if self.halving else size)  # `size` never holds
        odd = aligned == in_half
        odd_or_even = b.select(odd, integer(Shifts.ODD), integer(Shifts.EVEN))

        def choose(if_whole: Any, if_half: Any, otherwise: Any) -> Any:
            return b.select(whole_vectors, if_whole, b.select(half_vectors, if_half, otherwise))

        shifts = choose(integer(Shifts.NONE), odd_or_even, integer(Shifts.ANY))
        return shifts, choose(aligned, in_half, integer(0))

    def _define_start(self) -> ir.Function:
        """Find the shift of each row; write the columns before it that no other row completes."""
        b = self.w.internal("start", [PTR])
        (record,) = b.arguments
        rows, step = record.of(PTR)[Field.ROWS], record[Field.STEP]
        tile, index = record.of(PTR)[Field.TILE], record.of(PTR)[Field.INDEX]
        before = -record[Field.ORIGIN]
        first = index.of(I32).at(before)
        for lane, values in enumerate(self.transposes.block(b, tile, first, self.w.lanes)):
            self._keep(b, values, record, Group.FIRST, lane)
        shifted = record[Field.SHIFTS] == Shifts.ANY
        with b.if_then(shifted):
            self._find_places(b, record)
        size, lanes = integer(self.w.vector_size), integer(self.w.lanes)
        dense = record[Field.DENSE] != 0
        left = record[Field.LEFT]
        place = rows.address + self._beyond(b, rows) - size
        with b.if_else(left == place) as (complete, alone):
            with complete:
                self._complete_left(b, record, place)
            with alone, loop(b, 0, b.select(dense, integer(1), lanes)) as k:
                row = rows + step * k
                shift = self._beyond(b, row) // self.w.item
                with loop(b, before, shift) as column:
                    values = self.transposes.place(b, tile, index, column)
                    row[column] = values.of(self.w.scalar)[k]
        b.ret_void()
        return b.function

    def _complete_left(self, b: Builder, record: Any, place: Any) -> None:
        """Append the start of the first row to the vector that the previous tile began."""
        record[Field.LEFT] = 0
        vector = self._left(b, record)
        first_columns = self._kept(b, record, Group.FIRST, 0)
        at = vector.of(self.w.scalar).at(record[Field.COUNT])
        b.store(first_columns, at, align=self.w.item)
        values = b.load(vector, typ=self.w.vector, align=self.w.vector_size)
        self._stream(b, values, b.inttoptr(place, PTR))

    def _find_places(self, b: Builder, record: Any) -> None:
        """The first aligned place of each row, and its shift as indices."""
        rows, step = record.of(PTR)[Field.ROWS], record[Field.STEP]
        for lane in range(self.w.lanes):
            row = rows + step * lane
            beyond = self._beyond(b, row)
            self._at(b, record, Group.PLACES, 0)[lane] = row + beyond
            self._keep_shift(b, beyond // self.w.item, record, lane)

    def _define_blocks(self, shifts: Shifts) -> ir.Function:
        """Write blocks start..stop; of shifted rows, those half a block before them."""
        b = self.w.internal(f"blocks_{shifts.name.lower()}", [PTR, I64, I64])
        b.function.attributes.add("noinline")
        record, start, stop = b.arguments
        lanes, half = self.w.lanes, self.w.lanes // 2
        rows, step = record.of(PTR)[Field.ROWS], record[Field.STEP]
        # pairs of columns of the shifted rows, from the second half of the block before
        kept = [entry_alloca(b, self.w.vector) for _ in range(half // 2)]
        odd = shifts == Shifts.ODD
        if shifts != Shifts.NONE:  # before the first block there is nothing
            block = b.select(start > 0, start, integer(1))
            columns = self._columns(b, record, block, -half)
            _set_all(kept, self.transposes.pairs(b, *columns, half, odd))
        with loop(b, start, stop) as block:
            at, columns = rows.of(self.w.vector).at(block), self._columns(b, record, block)
            even_pairs, odd_pairs = (
                self.transposes.pairs(b, *columns, lanes, parity) for parity in (False, True)
            )
            if shifts != Shifts.EVEN:
                self._stream_rows(b, at, step, 0, even_pairs)
            if shifts != Shifts.ODD:
                self._stream_rows(b, at, step, 1, odd_pairs)
            if shifts != Shifts.NONE:
                current = odd_pairs if odd else even_pairs
                pairs = [place.get(self.w.vector) for place in kept] + current[: half // 2]
                _set_all(kept, current[half // 2 :])
                with b.if_then(block > 0):
                    before = at.of(self.w.scalar).at(-half)
                    self._stream_rows(b, before, step, int(odd), pairs)
        b.ret_void()
        return b.function

    def _stream_rows(self, b: Builder, at: Any, step: Any, first: int, pairs: list[Any]) -> None:
        """Write a vector of every other row, from row `first` on."""
        for row, values in enumerate(self.transposes.rows(b, pairs)):
            self._stream(b, values, at + step * (first + 2 * row))

    def _define_blocks_of_any(self) -> ir.Function:
        """Read blocks start..stop of rows with any shifts; write the vectors they complete."""
        b = self.w.internal("blocks_any", [PTR, I64, I64])
        b.function.attributes.add("noinline")
        record, start, stop = b.arguments
        lanes = range(self.w.lanes)
        last = [entry_alloca(b, self.w.vector) for _ in lanes]
        before = b.select(start > 0, start - 1, start)
        for lane, values in enumerate(self._block(b, record, before)):
            last[lane].set(values)
        with loop(b, start, stop) as block:
            values = self._block(b, record, block)
            with b.if_then(block > 0):
                for lane in lanes:
                    place = self._at(b, record, Group.PLACES, 0).of(PTR)[lane]
                    at = place.of(self.w.vector).at(block - 1)
                    one = last[lane].get(self.w.vector)
                    self._stream(b, self._join(b, record, lane, one, values[lane]), at)
            for lane in lanes:
                last[lane].set(values[lane])
        b.ret_void()
        return b.function

    def _define_end(self) -> ir.Function:
        """Write the ends of the rows: the last blocks, and the vectors across two rows."""
        b = self.w.internal("end", [PTR])
        b.function.attributes.add("noinline")
        (record,) = b.arguments
        shifts = record[Field.SHIFTS]
        regular = shifts != Shifts.ANY
        dense = record[Field.DENSE] != 0
        with b.if_then(regular & dense):
            self._end_dense(b, record, shifts)
            b.ret_void()
        self._write_tails(b, record, regular, dense)
        b.ret_void()
        return b.function

    def _write_tails(self, b: Builder, record: Any, regular: Any, dense: Any) -> None:
        """Write the tail of each row: as many whole vectors as there are, then elements."""
        lanes, item = self.w.lanes, self.w.item
        blocks = record[Field.BLOCKS]
        done = blocks * lanes
        tails = self._read_tails(b, record, blocks)
        end = record[Field.COLUMNS] + lanes - done  # of a row, in its tail
        rows, step = record.of(PTR)[Field.ROWS], record[Field.STEP]
        before = record[Field.ORIGIN]
        self._append_next_rows(b, record, tails, end)
        after = entry_alloca(b, I64)  # columns of the next row that complete this row's last vector
        with loop(b, 0, lanes) as lane:
            memory = self._tail(tails, lane)
            row = rows + step * lane
            following = lane + 1
            after.set(0)
            with b.if_then(dense & (following < lanes)):
                after.set(before + self._beyond(b, row + step) // item)
            shift = self._beyond(b, row) // item
            aligned = regular & (shift == 0)
            begin = b.select(aligned, integer(lanes), shift)
            complete = end + after.get() - begin
            stop = begin + (complete & -lanes)
            tail = Tail(memory, row.of(self.w.scalar).at(done - lanes))
            with loop(b, begin, stop, lanes) as at:
                values = b.load(memory.of(self.w.scalar).at(at), typ=self.w.vector, align=item)
                self._stream(b, values, tail.place.of(self.w.scalar).at(at))
            last = following == lanes
            with b.if_else(dense & last) as (leave, write):
                with leave:  # the next tile may complete the vector
                    self._leave(b, record, tail, stop, end)
                with write, loop(b, stop, end) as at:
                    tail.place[at] = memory.of(self.w.scalar)[at]

    def _read_tails(self, b: Builder, record: Any, blocks: Any) -> Any:
        """Read the last whole block and the remainder of each row into its tail."""
        tails = entry_alloca(b, self.w.vector, 3 * self.w.lanes)
        for k, block in enumerate((blocks - 1, blocks)):
            for lane, values in enumerate(self._block(b, record, block)):
                tails[3 * lane + k] = values
        return tails

    def _append_next_rows(self, b: Builder, record: Any, tails: Any, end: Any) -> None:
        """Append the start of the next row to each tail.

        All tails are filled before any is read: a load would stall on bytes still being stored.
        """
        for lane in range(self.w.lanes - 1):
            start = self._kept(b, record, Group.FIRST, lane + 1)
            place = self._tail(tails, lane).of(self.w.scalar).at(end)
            b.store(start, place, align=self.w.item)

    def _leave(self, b: Builder, record: Any, tail: Tail, stop: Any, end: Any) -> None:
        """Keep elements stop..end of the last row for the next tile."""
        values = b.load(
            tail.memory.of(self.w.scalar).at(stop), typ=self.w.vector, align=self.w.item
        )
        b.store(values, self._left(b, record), align=self.w.vector_size)
        count = end - stop
        begun = count > 0
        place = tail.place.of(self.w.scalar).at(stop).address
        record[Field.LEFT] = b.select(begun, place, integer(0))
        record[Field.COUNT] = count

    def _end_dense(self, b: Builder, record: Any, shifts: Any) -> None:
        """Write the vectors across the ends of rows that follow one another: one for each.

        Such a vector has the end of the row's last block, the row's remainder, and the start of the
        next row.
        """
        lanes, half = self.w.lanes, integer(self.w.lanes // 2)
        origin, columns = (record[k] for k in (Field.ORIGIN, Field.COLUMNS))
        rows, step = record.of(PTR)[Field.ROWS], record[Field.STEP]
        tile, index = record.of(PTR)[Field.TILE], record.of(PTR)[Field.INDEX]
        begin = columns - lanes
        ends = self.transposes.block(b, tile, index.of(I32).at(begin), lanes)
        used = []  # columns of the last block that are written, of even and of odd rows
        for parity, other in enumerate((Shifts.ODD, Shifts.EVEN)):
            beyond = b.select(shifts == other, half, integer(0))
            used.append(origin + beyond)
            self._keep_shift(b, used[parity], record, parity)

        def place(lane: int) -> Any:
            row = rows + step * lane
            return row.of(self.w.scalar).at(begin + used[lane % 2])

        for lane, values in enumerate(ends[:-1]):
            start = self._kept(b, record, Group.FIRST, lane + 1)
            self._stream(b, self._join(b, record, lane % 2, values, start), place(lane))
        values = self._join(b, record, 1, ends[-1], ends[-1])
        with b.if_else(used[1] == 0) as (whole, leave):
            with whole:
                self._stream(b, values, place(lanes - 1))
                record[Field.LEFT] = 0
            with leave:  # the next tile may complete it
                b.store(values, self._left(b, record), align=self.w.vector_size)
                record[Field.LEFT] = place(lanes - 1).address
                record[Field.COUNT] = lanes - used[1]

    def _tail(self, tails: Any, lane: Any) -> Any:
        """The place of the three vectors of a row's tail."""
        return tails.of(self.w.vector).at(lane * 3)


def _set_all(places: list[Any], values: list[Any]) -> None:
    for place, value in zip(places, values, strict=True):
        place.set(value)
