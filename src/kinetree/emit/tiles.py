"""Moving tiles, as LLVM IR: rows of states to lanes side by side, and back.

A tile is as many states as a vector has lanes. Its rows may lie any number of bytes apart; each is
one state's elements in C order. Blocks of columns are read from all rows, transposed with vector
shuffles, and laid down as one vector a column; results go the other way, through an index, because
what stands twice in a result is computed once.

Large results are streamed past the caches, which they would only flush.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.emit.building import (
    I8,
    I32,
    I64,
    PTR,
    VOID,
    Writer,
    element,
    entry_alloca,
    external,
    integer,
    load,
    loop,
    offset,
)

PANEL = 64  # columns that are streamed at once
WHOLE_BYTES = 1 << 14  # tiles up to this size are streamed as a whole
CACHE_LINE = 64  # bytes; where it is another number, only the fetching is less apt


class Tiles:
    """The functions that move tiles of one type.

    read_tile(rows, step, tile, columns), write_tile and stream_tile(rows, step, tile, index,
    columns), fetch and fetch_to_write(rows, step, columns): `rows` is the first row, `step` the
    bytes to the next, `index` where each column's vector lies in the tile, in bytes.
    """

    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.reads = {width: self._define_read(width) for width in self._widths()}
        self.writes = {width: self._define_write(width) for width in self._widths()}
        self.aligned = self._define_write(writer.lanes, aligned=True)
        self.read_tile = self._define_read_tile()
        self.write_any = self._define_write_any()
        self.write_tile = self._define_write_tile()
        self.stream_whole = self._define_stream_whole()
        self.stream_tile = self._define_stream_tile()
        self.fetch = self._define_fetch("fetch", writing=False)
        self.fetch_to_write = self._define_fetch("fetch_to_write", writing=True)

    def _widths(self) -> list[int]:
        """The widths of blocks of columns: powers of two up to the lanes."""
        return [1 << k for k in range(self.w.lanes.bit_length())]

    def _define_read(self, width: int) -> ir.Function:
        """rows[lane][column : column + width] -> tile[column : column + width][lane]."""
        f, b = self.w.internal(f"read_{width}", [PTR, I64, PTR, I64])
        rows, step, tile, column = f.args
        vector = ir.VectorType(self.w.scalar, width)
        parts = []
        for lane in range(self.w.lanes):
            at = element(b, self.w.scalar, offset(b, rows, b.mul(step, integer(lane))), column)
            parts.append(b.load(at, typ=vector, align=self.w.item))
        # side by side, as wide as the tile: rows p, p + width, p + 2 width, ...
        parts = [self._join(b, parts[p::width]) for p in range(width)]
        for j, lanes in enumerate(self._transpose(b, parts, width)):
            self._store_lanes(b, lanes, tile, b.add(column, integer(j)))
        b.ret_void()
        return f

    def _define_write(self, width: int, aligned: bool = False) -> ir.Function:
        """tile[index[column : column + width]][lane] -> rows[lane][column : column + width]."""
        name = f"write_{'aligned' if aligned else width}"
        f, b = self.w.internal(name, [PTR, I64, PTR, PTR, I64])
        f.attributes.add("noinline")
        rows, step, tile, index, column = f.args
        parts = []
        for j in range(width):
            place = offset(b, tile, load(b, I64, index, b.add(column, integer(j))))
            parts.append(b.load(place, typ=self.w.vector, align=self.w.vector_size))
        parts = self._transpose(b, parts, width)
        for lane in range(self.w.lanes):
            k, p = divmod(lane, width)
            at = element(b, self.w.scalar, offset(b, rows, b.mul(step, integer(lane))), column)
            mask = list(range(k * width, (k + 1) * width))
            align = self.w.vector_size if aligned else self.w.item
            b.store(self._pick(b, parts[p], parts[p], mask), at, align=align)
        b.ret_void()
        return f

    def _transpose(self, b: ir.IRBuilder, parts: list[Any], width: int) -> list[Any]:
        """Transpose each width x width block of `width` vectors of all lanes."""
        distance = width // 2
        while distance:
            swapped = list(parts)
            for i in range(width):
                if not i & distance:
                    j = i | distance
                    swapped[i] = self._shuffle(b, parts[i], parts[j], distance, upper=False)
                    swapped[j] = self._shuffle(b, parts[i], parts[j], distance, upper=True)
            parts = swapped
            distance //= 2
        return parts

    def _shuffle(self, b: ir.IRBuilder, x: Any, y: Any, distance: int, upper: bool) -> Any:
        """Exchange the off-diagonal halves of 2 x 2 blocks of `distance` lanes."""
        n = x.type.count
        mask = []
        for k in range(n):
            if upper:
                mask.append(k + distance if not k & distance else n + k)
            else:
                mask.append(n + k - distance if k & distance else k)
        return self._pick(b, x, y, mask)

    def _join(self, b: ir.IRBuilder, vectors: list[Any]) -> Any:
        """Vectors one after the other."""
        while len(vectors) > 1:
            mask = list(range(2 * vectors[0].type.count))
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self._pick(b, x, y, mask) for x, y in pairs]
        return vectors[0]

    def _pick(self, b: ir.IRBuilder, x: Any, y: Any, mask: list[int]) -> Any:
        return b.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, len(mask)), mask))

    def _store_lanes(self, b: ir.IRBuilder, value: Any, tile: Any, index: Any) -> None:
        at = element(b, self.w.scalar, tile, b.mul(index, integer(self.w.lanes)))
        b.store(value, at, align=self.w.vector_size)

    def _define_read_tile(self) -> ir.Function:
        """Read a whole operand."""
        f, b = self.w.internal("read_tile", [PTR, I64, PTR, I64])
        *between, columns = f.args
        return self._in_blocks(f, b, self.reads, between, columns)

    def _define_write_any(self) -> ir.Function:
        """Write a whole operand."""
        f, b = self.w.internal("write_any", [PTR, I64, PTR, PTR, I64])
        *between, columns = f.args
        return self._in_blocks(f, b, self.writes, between, columns)

    def _in_blocks(
        self,
        f: ir.Function,
        b: ir.IRBuilder,
        moves: dict[int, ir.Function],
        between: list[Any],
        columns: Any,
    ) -> ir.Function:
        """Move blocks of columns as wide as fit, the last one overlapping."""
        f.attributes.add("noinline")
        done = b.append_basic_block("done")
        for width in reversed(self._widths()):
            fits, smaller = b.append_basic_block(f"fits{width}"), b.append_basic_block("smaller")
            b.cbranch(b.icmp_signed(">=", columns, integer(width)), fits, smaller)
            b.position_at_end(fits)
            last = b.sub(columns, integer(width))
            with loop(b, 0, columns, width) as column:
                column = b.select(b.icmp_signed("<", column, last), column, last)
                b.call(moves[width], [*between, column])
            b.branch(done)
            b.position_at_end(smaller)
        b.branch(done)
        b.position_at_end(done)
        b.ret_void()
        return f

    def _define_write_tile(self) -> ir.Function:
        """Write a whole operand, in aligned vectors if its rows allow it."""
        f, b = self.w.internal("write_tile", [PTR, I64, PTR, PTR, I64])
        f.attributes.add("noinline")
        *between, columns = f.args
        rows, step = between[:2]
        vector = self.w.vector_size
        last = b.sub(columns, integer(self.w.lanes))
        wide = b.icmp_signed(">=", last, integer(0))
        whole = b.icmp_signed("==", b.and_(step, integer(vector - 1)), integer(0))
        with b.if_else(b.and_(wide, whole)) as (regular, otherwise):
            with regular:
                # to the first aligned column, along, and to the end, overlapping
                beyond = b.and_(b.sub(integer(0), b.ptrtoint(rows, I64)), integer(vector - 1))
                start = b.udiv(beyond, integer(self.w.item))
                b.call(self.writes[self.w.lanes], [*between, integer(0)])
                with loop(b, start, b.add(last, integer(1)), self.w.lanes) as column:
                    b.call(self.aligned, [*between, column])
                b.call(self.writes[self.w.lanes], [*between, last])
            with otherwise:
                b.call(self.write_any, [*between, columns])
        b.ret_void()
        return f

    def _define_stream_whole(self) -> ir.Function:
        """Write a whole operand past the caches, by a copy of it.

        For rows that follow one another: they are one stretch, of which all but the ends are
        aligned vectors. The copy must fit into a cache.
        """
        f, b = self.w.internal("stream_whole", [PTR, I64, PTR, PTR, I64])
        f.attributes.add("noinline")
        rows, step, tile, index, columns = f.args
        size, item = self.w.vector_size, self.w.item
        room = b.ptrtoint(entry_alloca(b, I8, WHOLE_BYTES + 2 * size), I64)
        shift = b.and_(b.ptrtoint(rows, I64), integer(size - 1))
        start = b.and_(b.add(room, integer(size - 1)), integer(-size))
        copy = b.inttoptr(start, PTR)
        b.call(self.write_tile, [copy, step, tile, index, columns])
        count = b.mul(step, integer(self.w.lanes))
        head = b.and_(b.sub(integer(0), shift), integer(size - 1))
        whole = b.add(head, b.and_(b.sub(count, head), integer(-size)))
        for begin, end in ((integer(0), head), (whole, count)):
            with loop(b, begin, end, item) as at:
                value = b.load(offset(b, copy, at), typ=self.w.scalar)
                b.store(value, offset(b, rows, at))
        with loop(b, head, whole, size) as at:
            values = b.load(offset(b, copy, at), typ=self.w.vector, align=item)
            self._stream(b, values, offset(b, rows, at))
        b.ret_void()
        return f

    def _define_stream_tile(self) -> ir.Function:
        """Write a whole operand past the caches, in panels of columns.

        Streaming wants whole aligned vectors that follow one another. A panel is transposed into
        a buffer, behind the last vector of the panel before, and each row is copied from there,
        from its own first aligned column on. The ends of the rows are written the usual way.
        """
        f, b = self.w.internal("stream_tile", [PTR, I64, PTR, PTR, I64])
        f.attributes.add("noinline")
        rows, step, tile, index, columns = f.args
        vector, size = self.w.vector, self.w.vector_size
        dense = b.icmp_signed("==", step, b.mul(columns, integer(self.w.item)))
        little = b.icmp_signed("<=", b.mul(step, integer(self.w.lanes)), integer(WHOLE_BYTES))
        with b.if_then(b.and_(dense, little)):
            b.call(self.stream_whole, f.args)
            b.ret_void()
        pitch = (PANEL + self.w.lanes) * self.w.item
        room = entry_alloca(b, I8, pitch * self.w.lanes + size)
        bits = b.and_(b.add(b.ptrtoint(room, I64), integer(size - 1)), integer(-size))
        buffer = b.inttoptr(bits, PTR)
        panel = offset(b, buffer, integer(size))
        # the first aligned column, if it is the same for all rows, else beyond all of theirs
        beyond = b.and_(b.sub(integer(0), b.ptrtoint(rows, I64)), integer(size - 1))
        alike = b.icmp_signed("==", b.and_(step, integer(size - 1)), integer(0))
        own = b.udiv(beyond, integer(self.w.item))
        head = b.select(alike, own, integer(self.w.lanes))
        b.call(self.write_any, [rows, step, tile, index, head])
        whole = b.and_(columns, integer(-PANEL))
        with loop(b, 0, whole, PANEL) as column:
            own_index = element(b, I64, index, column)
            with loop(b, 0, PANEL, self.w.lanes) as inner:
                b.call(self.aligned, [panel, integer(pitch), tile, own_index, inner])
            for lane in range(self.w.lanes):
                row = offset(b, rows, b.mul(step, integer(lane)))
                shift = b.and_(b.sub(integer(0), b.ptrtoint(row, I64)), integer(size - 1))
                source = offset(b, offset(b, buffer, integer(lane * pitch)), shift)
                behind = b.sub(b.mul(column, integer(self.w.item)), integer(size))
                sink = offset(b, offset(b, row, behind), shift)
                for k in range(PANEL // self.w.lanes):
                    values = b.load(element(b, vector, source, k), typ=vector, align=self.w.item)
                    place = element(b, vector, sink, k)
                    if k == 0:  # before the first panel there is nothing
                        with b.if_then(b.icmp_signed(">", column, integer(0))):
                            self._stream(b, values, place)
                    else:
                        self._stream(b, values, place)
                last = element(b, vector, offset(b, buffer, integer(lane * pitch)), 0)
                end = element(b, vector, last, PANEL // self.w.lanes)
                b.store(b.load(end, typ=vector, align=size), last, align=size)
        # what is left of the rows: whole vectors as before, then single elements
        rest = b.sub(columns, whole)
        b.call(self.write_any, [panel, integer(pitch), tile, element(b, I64, index, whole), rest])
        behind = b.sub(b.mul(whole, integer(self.w.item)), integer(size))
        count = b.add(b.mul(rest, integer(self.w.item)), integer(size))
        with loop(b, 0, self.w.lanes) as lane:
            row = offset(b, offset(b, rows, b.mul(step, lane)), behind)
            source = offset(b, buffer, b.mul(lane, integer(pitch)))
            shift = b.and_(b.sub(integer(0), b.ptrtoint(row, I64)), integer(size - 1))
            end = b.add(shift, b.and_(b.sub(count, shift), integer(-size)))
            with loop(b, shift, end, size) as at:
                values = b.load(offset(b, source, at), typ=vector, align=self.w.item)
                self._stream(b, values, offset(b, row, at))
            with loop(b, end, count, self.w.item) as at:
                b.store(b.load(offset(b, source, at), typ=self.w.scalar), offset(b, row, at))
        b.ret_void()
        return f

    def _stream(self, b: ir.IRBuilder, values: Any, place: Any) -> None:
        written = b.store(values, place, align=self.w.vector_size)
        written.set_metadata("nontemporal", self.w.module.add_metadata([I32(1)]))

    def _define_fetch(self, what: str, writing: bool) -> ir.Function:
        """Ask for the rows of a tile before they are needed, if they follow one another."""
        f, b = self.w.internal(what, [PTR, I64, I64])
        rows, step, columns = f.args
        fetch = external(self.w.module, "llvm.prefetch.p0", VOID, [PTR, I32, I32, I32])
        dense = b.icmp_signed("==", step, b.mul(columns, integer(self.w.item)))
        stop = b.mul(step, integer(self.w.lanes))
        with b.if_then(dense), loop(b, 0, stop, CACHE_LINE) as at:
            b.call(fetch, [offset(b, rows, at), I32(int(writing)), I32(3), I32(1)])
        b.ret_void()
        return f
