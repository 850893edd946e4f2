"""Moving tiles, as LLVM IR: rows of states to lanes side by side, and back.

A tile is as many states as a vector has lanes. Its rows may lie any number of bytes apart; each is
one state's elements in C order. Blocks of columns are read from all rows, transposed with vector
shuffles, and stored as one vector a column. Results go the other way, through an index, because
duplicate results are computed once.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.ir import (
    I32,
    I64,
    PTR,
    VOID,
    Builder,
    Writer,
    external,
    integer,
    loop,
)

CACHE_LINE = 64  # bytes; where lines are longer, only prefetches are wasted


class Transposes:
    """The functions that read and write tiles of one type, transposing them.

    read_tile(rows, step, tile, columns), write_tile(rows, step, tile, index, columns), fetch and
    fetch_to_write(rows, step, columns): `rows` is the first row, `step` the bytes to the next,
    `index` where each column's vector lies in the tile, in bytes. 32-bit on purpose: a 64-bit index
    advances in step with the output rows, and processors that match only the low bits of addresses
    (4 KiB aliasing) then stall its loads on those stores.
    """

    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.reads = {width: self._define_read(width) for width in self._widths()}
        self.writes = {width: self._define_write(width) for width in self._widths()}
        self.aligned = self._define_write(writer.lanes, aligned=True)
        self.read_tile = self._define_read_tile()
        self.write_any = self._define_write_any()
        self.write_tile = self._define_write_tile()
        self.fetch = self._define_fetch("fetch", writing=False)
        self.fetch_to_write = self._define_fetch("fetch_to_write", writing=True)

    def _widths(self) -> list[int]:
        """The widths of blocks of columns: powers of two up to the lanes."""
        return [1 << k for k in range(self.w.lanes.bit_length())]

    def _define_read(self, width: int) -> ir.Function:
        """rows[lane][column : column + width] -> tile[column : column + width][lane]."""
        b = self.w.internal(f"read_{width}", [PTR, I64, PTR, I64])
        rows, step, tile, column = b.arguments
        vector = ir.VectorType(self.w.scalar, width)
        parts = []
        for lane in range(self.w.lanes):
            at = (rows + step * lane).of(self.w.scalar).at(column)
            parts.append(b.load(at, typ=vector, align=self.w.item))
        # side by side, as wide as the tile: rows p, p + width, p + 2 width, ...
        parts = [self._join(b, parts[p::width]) for p in range(width)]
        for j, lanes in enumerate(self._transpose(b, parts, width)):
            self._store_lanes(b, lanes, tile, column + j)
        b.ret_void()
        return b.function

    def _define_write(self, width: int, aligned: bool = False) -> ir.Function:
        """tile[index[column : column + width]][lane] -> rows[lane][column : column + width]."""
        name = f"write_{'aligned' if aligned else width}"
        b = self.w.internal(name, [PTR, I64, PTR, PTR, I64])
        b.function.attributes.add("noinline")
        rows, step, tile, index, column = b.arguments
        parts = self.block(b, tile, index.of(I32).at(column), width)
        for lane in range(self.w.lanes):
            k, p = divmod(lane, width)
            at = (rows + step * lane).of(self.w.scalar).at(column)
            mask = list(range(k * width, (k + 1) * width))
            align = self.w.vector_size if aligned else self.w.item
            b.store(self._pick(b, parts[p], parts[p], mask), at, align=align)
        b.ret_void()
        return b.function

    def place(self, b: Builder, tile: Any, index: Any, column: Any) -> Any:
        """The address of a column of a tile."""
        return tile + b.zext(index.of(I32)[column], I64)

    def block(self, b: Builder, tile: Any, index: Any, width: int) -> list[Any]:
        """`width` columns of a tile, transposed: vector p holds rows p, p + width, ..."""
        parts = []
        for j in range(width):
            place = self.place(b, tile, index, j)
            parts.append(b.load(place, typ=self.w.vector, align=self.w.vector_size))
        return self._transpose(b, parts, width)

    def pairs(self, b: Builder, tile: Any, index: Any, count: int, odd: bool) -> list[Any]:
        """`count` columns of a tile in pairs: of every other row, its elements in both columns."""
        kind, align = self.w.vector, self.w.vector_size
        places = [self.place(b, tile, index, j) for j in range(count)]
        columns = [b.load(place, typ=kind, align=align) for place in places]
        both = zip(columns[::2], columns[1::2], strict=True)
        return [self._shuffle(b, x, y, 1, upper=odd) for x, y in both]

    def rows(self, b: Builder, pairs: list[Any]) -> list[Any]:
        """Every other row, from its pairs of as many columns as a tile has lanes.

        Each step takes, of two vectors, every other stretch of lanes: the first half of both and
        the second, then their quarters, down to pairs.
        """
        groups, stretch = [pairs], self.w.lanes // 2
        while stretch > 1:
            groups = [
                [
                    self._every_other(b, *two, stretch, upper)
                    for two in zip(g[::2], g[1::2], strict=True)
                ]
                for g in groups
                for upper in (False, True)
            ]
            stretch //= 2
        return [row for (row,) in groups]

    def _transpose(self, b: Builder, parts: list[Any], width: int) -> list[Any]:
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

    def _shuffle(self, b: Builder, x: Any, y: Any, distance: int, upper: bool) -> Any:
        """Exchange the off-diagonal halves of 2 x 2 blocks of `distance` lanes."""
        n = x.type.count
        mask = []
        for k in range(n):
            if upper:
                mask.append(k + distance if not k & distance else n + k)
            else:
                mask.append(n + k - distance if k & distance else k)
        return self._pick(b, x, y, mask)

    def _every_other(self, b: Builder, x: Any, y: Any, stretch: int, upper: bool) -> Any:
        """Every other stretch of lanes of x followed by y."""
        mask = [k for k in range(2 * self.w.lanes) if bool(k & stretch) == upper]
        return self._pick(b, x, y, mask)

    def _join(self, b: Builder, vectors: list[Any]) -> Any:
        """Several vectors concatenated."""
        while len(vectors) > 1:
            mask = list(range(2 * vectors[0].type.count))
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self._pick(b, x, y, mask) for x, y in pairs]
        return vectors[0]

    def _pick(self, b: Builder, x: Any, y: Any, mask: list[int]) -> Any:
        return b.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, len(mask)), mask))

    def _store_lanes(self, b: Builder, value: Any, tile: Any, index: Any) -> None:
        at = tile.of(self.w.scalar).at(index * self.w.lanes)
        b.store(value, at, align=self.w.vector_size)

    def _define_read_tile(self) -> ir.Function:
        """Read a whole operand."""
        b = self.w.internal("read_tile", [PTR, I64, PTR, I64])
        *between, columns = b.arguments
        return self._in_blocks(b, self.reads, between, columns)

    def _define_write_any(self) -> ir.Function:
        """Write a whole operand."""
        b = self.w.internal("write_any", [PTR, I64, PTR, PTR, I64])
        *between, columns = b.arguments
        return self._in_blocks(b, self.writes, between, columns)

    def _in_blocks(
        self,
        b: Builder,
        moves: dict[int, ir.Function],
        between: list[Any],
        columns: Any,
    ) -> ir.Function:
        """Move blocks of columns as wide as fit, the last one overlapping."""
        b.function.attributes.add("noinline")
        done = b.append_basic_block("done")
        for width in reversed(self._widths()):
            fits, smaller = b.append_basic_block(f"fits{width}"), b.append_basic_block("smaller")
            b.cbranch(columns >= width, fits, smaller)
            b.position_at_end(fits)
            last = columns - width
            with loop(b, 0, columns, width) as column:
                column = b.select(column < last, column, last)
                b.call(moves[width], [*between, column])
            b.branch(done)
            b.position_at_end(smaller)
        b.branch(done)
        b.position_at_end(done)
        b.ret_void()
        return b.function

    def _define_write_tile(self) -> ir.Function:
        """Write a whole operand, in aligned vectors if its rows allow it."""
        b = self.w.internal("write_tile", [PTR, I64, PTR, PTR, I64])
        b.function.attributes.add("noinline")
        *between, columns = b.arguments
        rows, step = between[:2]
        vector = self.w.vector_size
        last = columns - self.w.lanes
        wide = last >= 0
        whole = step & vector - 1 == 0
        with b.if_else(wide & whole) as (regular, otherwise):
            with regular:
                # to the first aligned column, along, and to the end, overlapping
                beyond = -rows.address & vector - 1
                start = beyond // self.w.item
                b.call(self.writes[self.w.lanes], [*between, integer(0)])
                with loop(b, start, last + 1, self.w.lanes) as column:
                    b.call(self.aligned, [*between, column])
                b.call(self.writes[self.w.lanes], [*between, last])
            with otherwise:
                b.call(self.write_any, [*between, columns])
        b.ret_void()
        return b.function

    def _define_fetch(self, what: str, writing: bool) -> ir.Function:
        """Prefetch the rows of a tile, if they follow one another."""
        b = self.w.internal(what, [PTR, I64, I64])
        rows, step, columns = b.arguments
        fetch = external(self.w.module, "llvm.prefetch.p0", VOID, [PTR, I32, I32, I32])
        dense = step == columns * self.w.item
        stop = step * self.w.lanes
        with b.if_then(dense), loop(b, 0, stop, CACHE_LINE) as at:
            b.call(fetch, [rows + at, I32(int(writing)), I32(3), I32(1)])
        b.ret_void()
        return b.function
