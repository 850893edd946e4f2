"""The loop around a body, as LLVM IR: NumPy's arrays in, lanes of states, NumPy's arrays out.

One driver serves every kernel of a type. It has two entries. The inner loop that NumPy calls,

    void kinetree_loop_T(char **args, i64 *dims, i64 *steps, i64 *description)

and a Python function for the common single state, which takes plain arrays of one state and gives
NotImplemented for anything else, so that NumPy's machinery need not be started for it,

    PyObject *kinetree_call_T(PyObject *capsule, PyObject **args, i64 count)

The loop works on *tiles*, as many states as a vector has lanes: the rows of a tile are read and
transposed so that each element's lanes lie side by side, the body runs, the results are transposed
back. No byte outside the arrays is touched: operands whose elements do not lie in C order, and the
last tile of a batch if it is not full, go through packed copies of their rows, the last state
repeated to fill the lanes. Rows that lie a whole number of vectors apart are written in aligned
vectors. A single state goes to the one-lane body without any copying.

With a pool of threads (`kinetree.emit.pool`), a long batch is cut into blocks that the calling
thread and the workers share. Which thread takes a block changes nothing in its results.

The description of a kernel is an array of 64-bit integers, laid out by `Field` and then, for each
operand, `OPERAND_FIELDS` numbers: its elements, its core axes, and their lengths, ones in front.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from llvmlite import ir

from kinetree.emit.building import (
    I1,
    I8,
    I32,
    I64,
    PTR,
    VOID,
    element,
    entry_alloca,
    external,
    function,
    integer,
    load,
    loop,
    offset,
    store,
)
from kinetree.emit.llvm import Target
from kinetree.emit.pool import share

# where an object keeps its type and an array its fields, in bytes, as compiled extensions see them
_HEADER = object.__basicsize__
OBJECT_TYPE = integer(_HEADER - 8)
ARRAY_DATA, ARRAY_AXES, ARRAY_LENGTHS = (integer(_HEADER + 8 * k) for k in (0, 1, 2))
ARRAY_DTYPE, ARRAY_FLAGS = (integer(_HEADER + 8 * k) for k in (5, 6))
PLAIN_FLAGS = 0x0101  # in C order, aligned

MAX_AXES = 4
OPERAND_FIELDS = 2 + MAX_AXES
STACK_BYTES = 32768
STREAM_BYTES = 1 << 24  # results larger than this go past the caches, which they would only flush
PANEL = 64  # columns that are streamed at once


class Field(IntEnum):
    """The head of a kernel's description."""

    WIDE = 0  # address of the body for a tile
    WIDE_CONSTANTS = 1  # address of what writes a tile's constant results
    INDEX = 2  # address of where the results of a tile lie
    ONE = 3  # address of the body for one state
    ONE_CONSTANTS = 4
    INPUTS = 5
    OPERANDS = 6
    WIDE_SCRATCH = 7  # elements of scratch a lane
    ONE_SCRATCH = 8
    RESULTS = 9  # distinct results of a tile
    INPUT_ELEMENTS = 10  # of all inputs together
    ELEMENTS = 11  # of all operands together
    LARGEST = 12  # elements of the largest operand
    BLOCK = 13  # states a thread takes at once
    ARRAY_TYPE = 14  # address of numpy.ndarray
    DTYPE = 15  # address of the arrays' dtype
    NOT_IMPLEMENTED = 16  # address of NotImplemented
    HEAD = 17


# how an operand is moved
DIRECT, PACKED, STREAMED = 0, 1, 2


def define_driver(module: ir.Module, target: Target) -> None:
    """Add the driver for one type to a module that has the pool."""
    _Driver(module, target)


class _Driver:
    def __init__(self, module: ir.Module, target: Target) -> None:
        self.module, self.target, self.lanes = module, target, target.lanes
        self.scalar = ir.DoubleType() if target.type == "double" else ir.FloatType()
        self.item = target.itemsize
        self.reads = {width: self._define_read(width) for width in self._widths()}
        self.writes = {width: self._define_write(width) for width in self._widths()}
        self.aligned = self._define_write(self.lanes, aligned=True)
        self.read_tile = self._define_read_tile()
        self.write_any = self._define_write_any()
        self.write_tile = self._define_write_tile()
        self.stream_tile = self._define_stream_tile()
        self.pack = self._define_copy("pack", packing=True)
        self.unpack = self._define_copy("unpack", packing=False)
        self.pack_tile = self._define_copy_tile("pack", packing=True)
        self.unpack_tile = self._define_copy_tile("unpack", packing=False)
        self.run_one = self._define_run_one()
        self.run_tiles = self._define_run_tiles()
        self._define_loop()
        self._define_call()

    def _name(self, what: str) -> str:
        return f"kinetree_{what}_{self.target.type}"

    def _internal(self, what: str, arguments: list[Any], result: Any = VOID) -> Any:
        return function(self.module, self._name(what), result, arguments, internal=True)

    # transposing blocks of a tile

    def _widths(self) -> list[int]:
        """The widths of blocks of columns: powers of two up to the lanes."""
        return [1 << k for k in range(self.lanes.bit_length())]

    def _define_read(self, width: int) -> ir.Function:
        """rows[lane][column : column + width] -> tile[column : column + width][lane]."""
        f, b = self._internal(f"read_{width}", [PTR, I64, PTR, I64])
        rows, step, tile, column = f.args
        vector = ir.VectorType(self.scalar, width)
        parts = []
        for lane in range(self.lanes):
            at = element(b, self.scalar, offset(b, rows, b.mul(step, integer(lane))), column)
            parts.append(b.load(at, typ=vector, align=self.item))
        # side by side, as wide as the tile: rows p, p + width, p + 2 width, ...
        parts = [self._join(b, parts[p::width]) for p in range(width)]
        for j, lanes in enumerate(self._transpose(b, parts, width)):
            self._store_lanes(b, lanes, tile, b.add(column, integer(j)))
        b.ret_void()
        return f

    def _define_write(self, width: int, aligned: bool = False) -> ir.Function:
        """tile[index[column : column + width]][lane] -> rows[lane][column : column + width]."""
        name = f"write_{'aligned' if aligned else width}"
        f, b = self._internal(name, [PTR, I64, PTR, PTR, I64])
        rows, step, tile, index, column = f.args
        parts = []
        for j in range(width):
            place = offset(b, tile, load(b, I64, index, b.add(column, integer(j))))
            vector = ir.VectorType(self.scalar, self.lanes)
            parts.append(b.load(place, typ=vector, align=self.item * self.lanes))
        parts = self._transpose(b, parts, width)
        for lane in range(self.lanes):
            k, p = divmod(lane, width)
            at = element(b, self.scalar, offset(b, rows, b.mul(step, integer(lane))), column)
            mask = list(range(k * width, (k + 1) * width))
            align = self.item * self.lanes if aligned else self.item
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
        at = element(b, self.scalar, tile, b.mul(index, integer(self.lanes)))
        b.store(value, at, align=self.item * self.lanes)

    def _define_read_tile(self) -> ir.Function:
        """Read a whole operand."""
        f, b = self._internal("read_tile", [PTR, I64, PTR, I64])
        *between, columns = f.args
        return self._in_blocks(f, b, self.reads, between, columns)

    def _define_write_any(self) -> ir.Function:
        """Write a whole operand."""
        f, b = self._internal("write_any", [PTR, I64, PTR, PTR, I64])
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
        f, b = self._internal("write_tile", [PTR, I64, PTR, PTR, I64])
        f.attributes.add("noinline")
        *between, columns = f.args
        rows, step = between[:2]
        vector = self.item * self.lanes
        last = b.sub(columns, integer(self.lanes))
        wide = b.icmp_signed(">=", last, integer(0))
        whole = b.icmp_signed("==", b.and_(step, integer(vector - 1)), integer(0))
        with b.if_else(b.and_(wide, whole)) as (regular, otherwise):
            with regular:
                # to the first aligned column, along, and to the end, overlapping
                beyond = b.and_(b.sub(integer(0), b.ptrtoint(rows, I64)), integer(vector - 1))
                start = b.udiv(beyond, integer(self.item))
                b.call(self.writes[self.lanes], [*between, integer(0)])
                with loop(b, start, b.add(last, integer(1)), self.lanes) as column:
                    b.call(self.aligned, [*between, column])
                b.call(self.writes[self.lanes], [*between, last])
            with otherwise:
                b.call(self.write_any, [*between, columns])
        b.ret_void()
        return f

    def _define_stream_tile(self) -> ir.Function:
        """Write a whole operand past the caches, in panels of columns.

        Streaming wants whole aligned vectors that follow one another. A panel is transposed into
        a buffer, behind the last vector of the panel before, and each row is copied from there,
        from its own first aligned column on. The ends of the rows are written the usual way.
        """
        f, b = self._internal("stream_tile", [PTR, I64, PTR, PTR, I64])
        f.attributes.add("noinline")
        rows, step, tile, index, columns = f.args
        vector = ir.VectorType(self.scalar, self.lanes)
        size = self.item * self.lanes
        pitch = (PANEL + self.lanes) * self.item
        room = entry_alloca(b, I8, pitch * self.lanes + size)
        bits = b.and_(b.add(b.ptrtoint(room, I64), integer(size - 1)), integer(-size))
        buffer = b.inttoptr(bits, PTR)
        panel = offset(b, buffer, integer(size))
        # the first aligned column, if it is the same for all rows, else beyond all of theirs
        beyond = b.and_(b.sub(integer(0), b.ptrtoint(rows, I64)), integer(size - 1))
        alike = b.icmp_signed("==", b.and_(step, integer(size - 1)), integer(0))
        own = b.udiv(beyond, integer(self.item))
        head = b.select(alike, own, integer(self.lanes))
        b.call(self.write_any, [rows, step, tile, index, head])
        whole = b.and_(columns, integer(-PANEL))
        with loop(b, 0, whole, PANEL) as column:
            own_index = element(b, I64, index, column)
            with loop(b, 0, PANEL, self.lanes) as inner:
                b.call(self.aligned, [panel, integer(pitch), tile, own_index, inner])
            for lane in range(self.lanes):
                row = offset(b, rows, b.mul(step, integer(lane)))
                shift = b.and_(b.sub(integer(0), b.ptrtoint(row, I64)), integer(size - 1))
                source = offset(b, offset(b, buffer, integer(lane * pitch)), shift)
                behind = b.sub(b.mul(column, integer(self.item)), integer(size))
                sink = offset(b, offset(b, row, behind), shift)
                for k in range(PANEL // self.lanes):
                    values = b.load(element(b, vector, source, k), typ=vector, align=self.item)
                    place = element(b, vector, sink, k)
                    if k == 0:  # before the first panel there is nothing
                        with b.if_then(b.icmp_signed(">", column, integer(0))):
                            self._stream(b, values, place)
                    else:
                        self._stream(b, values, place)
                last = element(b, vector, offset(b, buffer, integer(lane * pitch)), 0)
                end = element(b, vector, last, PANEL // self.lanes)
                b.store(b.load(end, typ=vector, align=size), last, align=size)
        left = b.add(b.sub(whole, integer(self.lanes)), b.select(alike, own, integer(0)))
        tail, rest = element(b, self.scalar, rows, left), b.sub(columns, left)
        b.call(self.write_any, [tail, step, tile, element(b, I64, index, left), rest])
        b.ret_void()
        return f

    def _stream(self, b: ir.IRBuilder, values: Any, place: Any) -> None:
        written = b.store(values, place, align=self.item * self.lanes)
        written.set_metadata("nontemporal", self.module.add_metadata([I32(1)]))

    # operands that are not in C order

    def _define_copy(self, what: str, packing: bool) -> ir.Function:
        """Copy one state of an operand between its strided place and a packed row."""
        f, b = self._internal(what, [PTR, PTR, PTR, PTR])
        f.attributes.add("noinline")
        place, row, operand, strides = f.args
        lengths = [load(b, I64, operand, 2 + k) for k in range(MAX_AXES)]
        steps = [load(b, I64, strides, k) for k in range(MAX_AXES)]
        cursor = entry_alloca(b, PTR)
        b.store(row, cursor)
        self._copy_axes(b, place, cursor, lengths, steps, packing)
        b.ret_void()
        return f

    def _copy_axes(
        self, b: ir.IRBuilder, place: Any, cursor: Any, lengths: Any, steps: Any, packing: bool
    ) -> None:
        if not lengths:
            at = b.load(cursor, typ=PTR)
            source, sink = (place, at) if packing else (at, place)
            b.store(b.load(source, typ=self.scalar), sink)
            b.store(element(b, self.scalar, at, 1), cursor)
            return
        with loop(b, 0, lengths[0]) as i:
            inner = offset(b, place, b.mul(i, steps[0]))
            self._copy_axes(b, inner, cursor, lengths[1:], steps[1:], packing)

    def _operand(self, b: ir.IRBuilder, description: Any, k: Any) -> Any:
        at = b.add(integer(Field.HEAD), b.mul(k, integer(OPERAND_FIELDS)))
        return element(b, I64, description, at)

    def _strides(self, b: ir.IRBuilder, strides: Any, k: Any) -> Any:
        return element(b, I64, strides, b.mul(k, integer(MAX_AXES)))

    # running the bodies

    def _define_run_one(self) -> ir.Function:
        """Run the one-lane body on the state at args.

        modes: for each operand, how it is moved; strides: its MAX_AXES strides.
        Returns 0, or 1 if there was no memory.
        """
        f, b = self._internal("one", [PTR, PTR, PTR, PTR], I32)
        description, args, modes, strides = f.args
        inputs, operands, scratch_size, elements = (
            load(b, I64, description, k)
            for k in (Field.INPUTS, Field.OPERANDS, Field.ONE_SCRATCH, Field.ELEMENTS)
        )
        pointers = b.alloca(PTR, operands)
        row = entry_alloca(b, PTR)
        with self._memory(b, b.add(scratch_size, elements)) as memory:
            b.store(element(b, self.scalar, memory, scratch_size), row)
            with loop(b, 0, operands) as k:
                place = load(b, PTR, args, k)
                store(b, place, pointers, k)
                with self._if_packed(b, modes, k):
                    buffer = b.load(row, typ=PTR)
                    store(b, buffer, pointers, k)
                    operand = self._operand(b, description, k)
                    b.store(element(b, self.scalar, buffer, load(b, I64, operand, 0)), row)
                    with b.if_then(b.icmp_signed("<", k, inputs)):
                        b.call(self.pack, [place, buffer, operand, self._strides(b, strides, k)])
            self._call(b, description, Field.ONE_CONSTANTS, [pointers])
            self._call(b, description, Field.ONE, [pointers, memory])
            with loop(b, inputs, operands) as k, self._if_packed(b, modes, k):
                place, buffer = load(b, PTR, args, k), load(b, PTR, pointers, k)
                operand = self._operand(b, description, k)
                b.call(self.unpack, [place, buffer, operand, self._strides(b, strides, k)])
        return f

    def _define_run_tiles(self) -> ir.Function:
        """Run the wide body on states begin..end of n, begin at a tile's start.

        Returns 0, or 1 if there was no memory.
        """
        f, b = self._internal("tiles", [PTR, PTR, PTR, PTR, PTR, I64, I64, I64], I32)
        description, args, steps, modes, strides, begin, end, n = f.args
        inputs, operands, scratch_size, elements, results, largest = (
            load(b, I64, description, k)
            for k in (
                Field.INPUTS,
                Field.OPERANDS,
                Field.WIDE_SCRATCH,
                Field.INPUT_ELEMENTS,
                Field.RESULTS,
                Field.LARGEST,
            )
        )
        lanes = integer(self.lanes)
        pointers = b.alloca(PTR, b.add(inputs, integer(1)))
        next_tile, first = entry_alloca(b, PTR), entry_alloca(b, I64)
        total = b.add(b.add(scratch_size, elements), b.add(results, largest))
        with self._memory(b, b.mul(total, lanes)) as scratch:
            # scratch, the tiles of the inputs, the results, packed rows
            b.store(element(b, self.scalar, scratch, b.mul(scratch_size, lanes)), next_tile)
            with loop(b, 0, inputs) as k:
                tile = b.load(next_tile, typ=PTR)
                store(b, tile, pointers, k)
                size = load(b, I64, self._operand(b, description, k), 0)
                b.store(element(b, self.scalar, tile, b.mul(size, lanes)), next_tile)
            result_tile = b.load(next_tile, typ=PTR)
            store(b, result_tile, pointers, inputs)
            buffer = element(b, self.scalar, result_tile, b.mul(results, lanes))
            self._call(b, description, Field.WIDE_CONSTANTS, [pointers])
            index = b.load(element(b, I64, description, Field.INDEX), typ=PTR)

            def each(start: Any, stop: Any, i: Any, packing: bool, move: Any) -> None:
                """Move operands start..stop of the tile at state i, by copies where need be."""
                rest = b.sub(n, i)
                full = b.icmp_signed(">=", rest, lanes)
                states = b.select(full, lanes, rest)
                with loop(b, start, stop) as k:
                    operand = self._operand(b, description, k)
                    size, step = load(b, I64, operand, 0), load(b, I64, steps, k)
                    base = offset(b, load(b, PTR, args, k), b.mul(i, step))
                    plain = b.icmp_signed("!=", load(b, I8, modes, k), I8(PACKED))
                    with b.if_else(b.and_(plain, full)) as (direct, by_copy):
                        with direct:
                            move(k, size, base, step)
                        with by_copy:
                            own = self._strides(b, strides, k)
                            copy = [base, step, buffer, operand, own, states]
                            if packing:
                                b.call(self.pack_tile, copy)
                            move(k, size, buffer, b.mul(size, integer(self.item)))
                            if not packing:
                                b.call(self.unpack_tile, copy)
                    b.store(b.add(b.load(first, typ=I64), size), first)

            def read(k: Any, size: Any, rows: Any, step: Any) -> None:
                b.call(self.read_tile, [rows, step, load(b, PTR, pointers, k), size])

            def write(k: Any, size: Any, rows: Any, step: Any) -> None:
                own_index = element(b, I64, index, b.load(first, typ=I64))
                arguments = [rows, step, result_tile, own_index, size]
                streamed = b.icmp_signed("==", load(b, I8, modes, k), I8(STREAMED))
                with b.if_else(streamed) as (past, through):
                    with past:
                        b.call(self.stream_tile, arguments)
                    with through:
                        b.call(self.write_tile, arguments)

            with loop(b, begin, end, self.lanes) as i:
                each(integer(0), inputs, i, True, read)
                self._call(b, description, Field.WIDE, [pointers, scratch])
                b.store(integer(0), first)
                each(inputs, operands, i, False, write)
            b.fence("seq_cst")  # streamed results are there before anybody is told
        return f

    def _define_copy_tile(self, what: str, packing: bool) -> ir.Function:
        """Copy the states of a tile to packed rows, repeating the last, or back, each once."""
        f, b = self._internal(f"{what}_tile", [PTR, I64, PTR, PTR, PTR, I64])
        f.attributes.add("noinline")
        base, step, buffer, operand, strides, states = f.args
        size, last = load(b, I64, operand, 0), b.sub(states, integer(1))
        with loop(b, 0, self.lanes if packing else states) as lane:
            state = b.select(b.icmp_signed("<", lane, last), lane, last)
            place = offset(b, base, b.mul(state, step))
            row = element(b, self.scalar, buffer, b.mul(lane, size))
            b.call(self.pack if packing else self.unpack, [place, row, operand, strides])
        b.ret_void()
        return f

    @contextmanager
    def _if_packed(self, b: ir.IRBuilder, modes: Any, k: Any) -> Iterator[None]:
        mode = load(b, I8, modes, k)
        with b.if_then(b.icmp_signed("==", mode, I8(PACKED))):
            yield

    def _call(self, b: ir.IRBuilder, description: Any, which: Field, arguments: list[Any]) -> None:
        kind = ir.FunctionType(VOID, [PTR] * len(arguments)).as_pointer()
        b.call(b.load(element(b, I64, description, int(which)), typ=kind), arguments)

    @contextmanager
    def _memory(self, b: ir.IRBuilder, count: Any) -> Iterator[Any]:
        """Aligned room for some elements, from the stack if it is little; then return 0.

        Returns 1 from the function if there is no memory.
        """
        align = self.item * self.lanes
        stack = entry_alloca(b, I8, STACK_BYTES + align)
        size = b.mul(count, integer(self.item))
        large = b.icmp_signed(">", size, integer(STACK_BYTES))
        start = entry_alloca(b, PTR)
        b.store(stack, start)
        with b.if_then(large, likely=False):
            allocate = external(self.module, "kinetree_allocate", PTR, [I64])
            taken = b.call(allocate, [b.add(size, integer(align))])
            b.store(taken, start)
            with b.if_then(b.icmp_unsigned("==", b.ptrtoint(taken, I64), integer(0))):
                b.ret(I32(1))
        raw = b.load(start, typ=PTR)
        bits = b.add(b.ptrtoint(raw, I64), integer(align - 1))
        yield b.inttoptr(b.and_(bits, integer(-align)), PTR)
        with b.if_then(large, likely=False):
            b.call(external(self.module, "kinetree_free", VOID, [PTR]), [raw])
        b.ret(I32(0))

    # what NumPy calls

    def _define_loop(self) -> None:
        f, b = function(self.module, self._name("loop"), VOID, [PTR, PTR, PTR, PTR])
        args, dims, steps, description = f.args
        n = load(b, I64, dims, 0)
        operands = load(b, I64, description, Field.OPERANDS)
        modes = b.alloca(I8, operands)
        strides = b.alloca(I64, b.mul(operands, integer(MAX_AXES)))
        self._find_modes(b, description, element(b, I64, steps, operands), n, modes, strides)
        status = entry_alloca(b, I32)
        b.store(I32(0), status)
        with b.if_else(b.icmp_signed("==", n, integer(1))) as (single, several):
            with single:
                b.store(b.call(self.run_one, [description, args, modes, strides]), status)
            with several:
                job = [description, args, steps, modes, strides]
                block = load(b, I64, description, Field.BLOCK)
                shared = share(self.module, b, self.run_tiles, job, n, block)
                with b.if_else(b.icmp_signed("<", shared, I32(0))) as (alone, together):
                    with alone:
                        b.store(b.call(self.run_tiles, [*job, integer(0), n, n]), status)
                    with together:
                        b.store(shared, status)
        with b.if_then(b.icmp_signed("!=", b.load(status, typ=I32), I32(0)), likely=False):
            b.call(external(self.module, "kinetree_no_memory", VOID, []), [])
        b.ret_void()

    def _find_modes(
        self, b: ir.IRBuilder, description: Any, core_steps: Any, n: Any, modes: Any, strides: Any
    ) -> None:
        """Lay out each operand's strides, zeros in front, and see how it is to be moved."""
        operands = load(b, I64, description, Field.OPERANDS)
        cursor = entry_alloca(b, PTR)
        expected = entry_alloca(b, I64)
        b.store(core_steps, cursor)
        with loop(b, 0, operands) as k:
            operand, own = self._operand(b, description, k), self._strides(b, strides, k)
            axes = load(b, I64, operand, 1)
            given = b.load(cursor, typ=PTR)
            b.store(element(b, I64, given, axes), cursor)
            b.store(integer(self.item), expected)
            size = load(b, I64, operand, 0)
            in_all = b.mul(b.mul(n, size), integer(self.item))
            large = b.icmp_signed(">=", in_all, integer(STREAM_BYTES))
            large = b.and_(large, b.icmp_signed(">=", size, integer(2 * PANEL)))
            store(b, b.select(large, I8(STREAMED), I8(DIRECT)), modes, k)
            for axis in reversed(range(MAX_AXES)):
                length = load(b, I64, operand, 2 + axis)
                store(b, integer(0), own, axis)
                position = b.add(b.sub(axes, integer(MAX_AXES)), integer(axis))
                with b.if_then(b.icmp_signed(">=", position, integer(0))):
                    stride = load(b, I64, given, position)
                    store(b, stride, own, axis)
                    wanted = b.load(expected, typ=I64)
                    odd = b.icmp_signed("!=", stride, wanted)
                    several = b.icmp_signed("!=", length, integer(1))
                    with b.if_then(b.and_(odd, several)):
                        store(b, I8(PACKED), modes, k)
                    b.store(b.mul(wanted, length), expected)

    # what Python calls

    def _define_call(self) -> None:
        f, b = function(self.module, self._name("call"), PTR, [PTR, PTR, I64])
        capsule, arguments, count = f.args
        get_pointer = external(self.module, "PyCapsule_GetPointer", PTR, [PTR, PTR])
        description = b.call(get_pointer, [capsule, ir.Constant(PTR, None)])
        inputs, operands = (load(b, I64, description, k) for k in (Field.INPUTS, Field.OPERANDS))
        refuse = b.append_basic_block("refuse")

        def unless(condition: Any) -> None:
            go_on = b.append_basic_block("go_on")
            b.cbranch(condition, go_on, refuse)
            b.position_at_end(go_on)

        unless(b.icmp_signed("==", count, inputs))
        unless(b.icmp_signed("==", operands, b.add(inputs, integer(1))))
        pointers = b.alloca(PTR, operands)
        modes = b.alloca(I8, operands)
        with loop(b, 0, inputs) as k:
            array = load(b, PTR, arguments, k)
            operand = self._operand(b, description, k)
            unless(self._is_plain(b, array, description, operand))
            store(b, b.load(offset(b, array, ARRAY_DATA), typ=PTR), pointers, k)
            store(b, I8(DIRECT), modes, k)
        store(b, I8(DIRECT), modes, inputs)
        result = self._new_array(b, description, self._operand(b, description, inputs))
        failed = b.append_basic_block("failed")
        made = b.append_basic_block("made")
        b.cbranch(b.icmp_unsigned("==", b.ptrtoint(result, I64), integer(0)), failed, made)
        b.position_at_end(made)
        store(b, b.load(offset(b, result, ARRAY_DATA), typ=PTR), pointers, inputs)
        status = b.call(self.run_one, [description, pointers, modes, description])
        with b.if_then(b.icmp_signed("!=", status, I32(0)), likely=False):
            b.call(external(self.module, "Py_DecRef", VOID, [PTR]), [result])
            b.ret(b.call(external(self.module, "PyErr_NoMemory", PTR, []), []))
        b.ret(result)
        b.position_at_end(failed)
        b.ret(result)
        b.position_at_end(refuse)
        answer = b.load(element(b, I64, description, Field.NOT_IMPLEMENTED), typ=PTR)
        b.call(external(self.module, "Py_IncRef", VOID, [PTR]), [answer])
        b.ret(answer)

    def _is_plain(self, b: ir.IRBuilder, array: Any, description: Any, operand: Any) -> Any:
        """Whether an object is an aligned array in C order of this type and one state's shape."""
        verdict = entry_alloca(b, I1)
        b.store(I1(0), verdict)
        kind = b.load(offset(b, array, OBJECT_TYPE), typ=I64)
        with b.if_then(b.icmp_signed("==", kind, load(b, I64, description, Field.ARRAY_TYPE))):
            dtype = b.load(offset(b, array, ARRAY_DTYPE), typ=I64)
            flags = b.load(offset(b, array, ARRAY_FLAGS), typ=I32)
            good = b.icmp_signed("==", dtype, load(b, I64, description, Field.DTYPE))
            wanted = b.and_(flags, I32(PLAIN_FLAGS))
            good = b.and_(good, b.icmp_signed("==", wanted, I32(PLAIN_FLAGS)))
            axes = b.sext(b.load(offset(b, array, ARRAY_AXES), typ=I32), I64)
            good = b.and_(good, b.icmp_signed("==", axes, load(b, I64, operand, 1)))
            with b.if_then(good):
                b.store(I1(1), verdict)
                lengths = b.load(offset(b, array, ARRAY_LENGTHS), typ=PTR)
                wanted_lengths = element(b, I64, operand, b.sub(integer(2 + MAX_AXES), axes))
                with loop(b, 0, axes) as axis:
                    length, expected = (
                        load(b, I64, lengths, axis),
                        load(b, I64, wanted_lengths, axis),
                    )
                    with b.if_then(b.icmp_signed("!=", length, expected)):
                        b.store(I1(0), verdict)
        return b.load(verdict, typ=I1)

    def _new_array(self, b: ir.IRBuilder, description: Any, operand: Any) -> Any:
        """A new array for one state of an operand."""
        dtype = b.load(element(b, I64, description, Field.DTYPE), typ=PTR)
        b.call(external(self.module, "Py_IncRef", VOID, [PTR]), [dtype])  # the maker takes it
        kind = b.load(element(b, I64, description, Field.ARRAY_TYPE), typ=PTR)
        axes = load(b, I64, operand, 1)
        lengths = element(b, I64, operand, b.sub(integer(2 + MAX_AXES), axes))
        nothing = ir.Constant(PTR, None)
        arguments = [kind, dtype, b.trunc(axes, I32), lengths, nothing, nothing, I32(0), nothing]
        types = [PTR, PTR, I32, PTR, PTR, PTR, I32, PTR]
        make = external(self.module, "kinetree_new_array", PTR, types)
        return b.call(make, arguments)
