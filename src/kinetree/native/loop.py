"""The loop around a body, as LLVM IR: NumPy's arrays in, lanes of states, NumPy's arrays out.

One driver serves every kernel of a type. Its loop is what NumPy calls,

    void kinetree_loop_T(char **args, i64 *dims, i64 *steps, i64 *description)

and it works on *tiles*, as many states as a vector has lanes (`kinetree.native.transpose`): rows
are read and transposed so that each element's lanes lie side by side, the body runs, the
results are transposed back. No byte outside the arrays is touched: operands whose elements do not
lie in C order, and the last tile of a batch if it is not full, go through packed copies of their
rows (`kinetree.native.packing`), the last state repeated to fill the lanes. A single state goes to
the one-lane body without any copying.

With a pool of threads (`kinetree.native.thread_pool`), a long batch is cut into blocks that the
calling thread and the workers share. Which thread takes a block changes nothing in its results.

The description of a kernel is an array of 64-bit integers, laid out by `Field`, and then
`OPERAND_FIELDS` numbers for each operand.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from kinetree.native.deferred import Streams
from kinetree.native.ir import (
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
    store,
)
from kinetree.native.layout import ALL, MAX_AXES, OPERAND_FIELDS, Field
from kinetree.native.packing import Strided
from kinetree.native.thread_pool import share
from kinetree.native.transpose import Tiles

STACK_BYTES = 32768
STREAM_BYTES = 1 << 23  # results larger than this are streamed,
STREAM_COLUMNS = 128  # if a state has so many elements
FLOAT_EXCEPTIONS = 0x1F  # invalid, zero divide, overflow and underflow of every platform's fenv.h


# how an operand is moved
DIRECT, PACKED, STREAMED = 0, 1, 2


class Driver:
    """The functions that run bodies of one type, defined in a module."""

    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.tiles = Tiles(writer)
        self.streams = Streams(writer, self.tiles)
        self.strided = Strided(writer)
        self.run_one = self._define_run_one()
        self.run_tiles = self._define_run_tiles()
        self._define_loop()

    def _define_run_one(self) -> ir.Function:
        """Run the one-lane body on the state at args.

        modes: for each operand, how it is moved; strides: its MAX_AXES strides.
        Returns 0, or 1 if there was no memory.
        """
        f, b = self.w.internal("one", [PTR, PTR, PTR, PTR], I32)
        description, args, modes, strides = f.args
        inputs, operands, scratch_size, elements = (
            load(b, I64, description, k)
            for k in (Field.INPUTS, Field.OPERANDS, Field.ONE_SCRATCH, Field.ELEMENTS)
        )
        pointers = b.alloca(PTR, operands)
        row = entry_alloca(b, PTR)
        with self._memory(b, b.add(scratch_size, elements)) as memory:
            b.store(element(b, self.w.scalar, memory, scratch_size), row)
            with loop(b, 0, operands) as k:
                place = load(b, PTR, args, k)
                store(b, place, pointers, k)
                with self._if_packed(b, modes, k):
                    buffer = b.load(row, typ=PTR)
                    store(b, buffer, pointers, k)
                    operand = operand_at(b, description, k)
                    b.store(element(b, self.w.scalar, buffer, load(b, I64, operand, 0)), row)
                    with b.if_then(b.icmp_signed("<", k, inputs)):
                        b.call(
                            self.strided.pack, [place, buffer, operand, strides_at(b, strides, k)]
                        )
            self._call(b, description, Field.ONE_CONSTANTS, [pointers])
            table = b.load(element(b, I64, description, Field.ONE), typ=PTR)
            with loop(b, 0, load(b, I64, description, Field.ONE_STEPS)) as step:
                self._step(b, table, step, pointers, memory)
            with loop(b, inputs, operands) as k, self._if_packed(b, modes, k):
                place, buffer = load(b, PTR, args, k), load(b, PTR, pointers, k)
                operand = operand_at(b, description, k)
                b.call(self.strided.unpack, [place, buffer, operand, strides_at(b, strides, k)])
        return f

    def _define_run_tiles(self) -> ir.Function:
        """Run the wide body on states begin..end of n, begin at a tile's start.

        Returns 0, or 1 if there was no memory.
        """
        f, b = self.w.internal("tiles", [PTR, PTR, PTR, PTR, PTR, I64, I64, I64], I32)
        description, args, steps, modes, strides, begin, end, n = f.args
        inputs, operands, scratch_size, elements, results, tiles, largest = (
            load(b, I64, description, k)
            for k in (
                Field.INPUTS,
                Field.OPERANDS,
                Field.WIDE_SCRATCH,
                Field.INPUT_ELEMENTS,
                Field.RESULTS,
                Field.TILES,
                Field.LARGEST,
            )
        )
        lanes = integer(self.w.lanes)
        pointers = b.alloca(PTR, b.add(inputs, integer(1)))
        next_tile, first = entry_alloca(b, PTR), entry_alloca(b, I64)
        total = b.add(b.add(scratch_size, elements), b.add(b.mul(results, tiles), largest))
        count = b.sub(operands, inputs)
        streams = self.streams.room(b, count)
        with self._memory(b, b.add(b.mul(total, lanes), streams)) as scratch:
            # scratch, tiles of the inputs, of the results, packed rows, what is pending
            b.store(element(b, self.w.scalar, scratch, b.mul(scratch_size, lanes)), next_tile)
            with loop(b, 0, inputs) as k:
                tile = b.load(next_tile, typ=PTR)
                store(b, tile, pointers, k)
                size = load(b, I64, operand_at(b, description, k), 0)
                b.store(element(b, self.w.scalar, tile, b.mul(size, lanes)), next_tile)
            spare = entry_alloca(b, PTR)
            b.store(b.load(next_tile, typ=PTR), spare)
            tile_size = b.mul(results, lanes)
            beyond = b.mul(tile_size, b.sub(tiles, integer(1)))  # nothing, if there is but one
            own = element(b, self.w.scalar, b.load(spare, typ=PTR), beyond)
            buffer = element(b, self.w.scalar, own, tile_size)
            pending = element(b, self.w.scalar, buffer, b.mul(largest, lanes))
            b.call(self.streams.open, [pending, count])
            for tile in (b.load(spare, typ=PTR), own):
                store(b, tile, pointers, inputs)
                self._call(b, description, Field.WIDE_CONSTANTS, [pointers])
            index = b.load(element(b, I64, description, Field.INDEX), typ=PTR)
            table = b.load(element(b, I64, description, Field.WIDE), typ=PTR)
            count_of_steps = load(b, I64, description, Field.WIDE_STEPS)
            late = load(b, I64, description, Field.LATE)
            share_of_a_step = b.add(b.udiv(integer(ALL), late), integer(1))

            def each(start: Any, stop: Any, i: Any, packing: bool, move: Any) -> None:
                """Move operands start..stop of the tile at state i, by copies where need be."""
                rest = b.sub(n, i)
                full = b.icmp_signed(">=", rest, lanes)
                states = b.select(full, lanes, rest)
                with loop(b, start, stop) as k:
                    operand = operand_at(b, description, k)
                    size, step = load(b, I64, operand, 0), load(b, I64, steps, k)
                    base = offset(b, load(b, PTR, args, k), b.mul(i, step))
                    plain = b.icmp_signed("!=", load(b, I8, modes, k), I8(PACKED))
                    with b.if_else(b.and_(plain, full)) as (direct, by_copy):
                        with direct:
                            move(k, size, base, step)
                        with by_copy:
                            own = strides_at(b, strides, k)
                            copy = [base, step, buffer, operand, own, states]
                            if packing:
                                b.call(self.strided.pack_tile, copy)
                            move(k, size, buffer, b.mul(size, integer(self.w.item)))
                            if not packing:
                                b.call(self.strided.unpack_tile, copy)
                    b.store(b.add(b.load(first, typ=I64), size), first)

            def read(k: Any, size: Any, rows: Any, step: Any) -> None:
                b.call(self.tiles.read_tile, [rows, step, load(b, PTR, pointers, k), size])
                # the next tile is asked for while this one is worked on
                b.call(self.tiles.fetch, [offset(b, rows, b.mul(step, lanes)), step, size])

            def write(k: Any, size: Any, rows: Any, step: Any) -> None:
                own_index = element(b, I32, index, b.load(first, typ=I64))
                arguments = [rows, step, load(b, PTR, pointers, inputs), own_index, size]
                streamed = b.icmp_signed("==", load(b, I8, modes, k), I8(STREAMED))
                elsewhere = b.icmp_unsigned("!=", rows, buffer)
                with b.if_else(b.and_(streamed, elsewhere)) as (later, now):
                    with later:
                        b.call(self.streams.put, [pending, *arguments])
                    with now:
                        b.call(self.tiles.write_tile, arguments)

            with loop(b, begin, end, self.w.lanes) as i:
                each(integer(0), inputs, i, True, read)
                with loop(b, inputs, operands) as k:  # and so are the places of its results
                    step = load(b, I64, steps, k)
                    size = load(b, I64, operand_at(b, description, k), 0)
                    with b.if_then(b.icmp_signed("==", load(b, I8, modes, k), I8(DIRECT))):
                        base = offset(b, load(b, PTR, args, k), b.mul(i, step))
                        b.call(self.tiles.fetch_to_write, [base, step, size])
                with loop(b, 0, count_of_steps) as step:
                    self._step(b, table, step, pointers, scratch)
                    # results of the tile before go out while this one is computed
                    due = b.mul(b.add(step, integer(1)), share_of_a_step)
                    due = b.select(b.icmp_signed("<", due, integer(ALL)), due, integer(ALL))
                    b.call(self.streams.advance, [pending, due])
                b.call(self.streams.advance, [pending, integer(ALL)])
                b.call(self.streams.clear, [pending])
                b.store(integer(0), first)
                each(inputs, operands, i, False, write)
                written = load(b, PTR, pointers, inputs)
                store(b, b.load(spare, typ=PTR), pointers, inputs)
                b.store(written, spare)
            b.call(self.streams.advance, [pending, integer(ALL)])
            b.call(self.streams.close, [pending, count])
            b.fence("seq_cst")  # streamed results are there before anybody is told
        return f

    @contextmanager
    def _if_packed(self, b: ir.IRBuilder, modes: Any, k: Any) -> Iterator[None]:
        mode = load(b, I8, modes, k)
        with b.if_then(b.icmp_signed("==", mode, I8(PACKED))):
            yield

    def _call(self, b: ir.IRBuilder, description: Any, which: Field, arguments: list[Any]) -> None:
        kind = ir.FunctionType(VOID, [PTR] * len(arguments)).as_pointer()
        b.call(b.load(element(b, I64, description, int(which)), typ=kind), arguments)

    def _step(self, b: ir.IRBuilder, table: Any, k: Any, pointers: Any, scratch: Any) -> None:
        """Call step k of a body."""
        kind = ir.FunctionType(VOID, [PTR, PTR]).as_pointer()
        b.call(b.load(element(b, PTR, table, k), typ=kind), [pointers, scratch])

    @contextmanager
    def _memory(self, b: ir.IRBuilder, count: Any) -> Iterator[Any]:
        """Aligned room for some elements, from the stack if it is little; then return 0.

        Returns 1 from the function if there is no memory.
        """
        align = self.w.vector_size
        stack = entry_alloca(b, I8, STACK_BYTES + align)
        size = b.mul(count, integer(self.w.item))
        large = b.icmp_signed(">", size, integer(STACK_BYTES))
        start = entry_alloca(b, PTR)
        b.store(stack, start)
        with b.if_then(large, likely=False):
            allocate = external(self.w.module, "kinetree_allocate", PTR, [I64])
            taken = b.call(allocate, [b.add(size, integer(align))])
            b.store(taken, start)
            with b.if_then(b.icmp_unsigned("==", b.ptrtoint(taken, I64), integer(0))):
                b.ret(I32(1))
        raw = b.load(start, typ=PTR)
        bits = b.add(b.ptrtoint(raw, I64), integer(align - 1))
        yield b.inttoptr(b.and_(bits, integer(-align)), PTR)
        with b.if_then(large, likely=False):
            b.call(external(self.w.module, "kinetree_free", VOID, [PTR]), [raw])
        b.ret(I32(0))

    def _define_loop(self) -> None:
        f, b = self.w.public("loop", [PTR, PTR, PTR, PTR])
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
                shared = share(self.w.module, b, self.run_tiles, job, n, block)
                with b.if_else(b.icmp_signed("<", shared, I32(0))) as (alone, together):
                    with alone:
                        b.store(b.call(self.run_tiles, [*job, integer(0), n, n]), status)
                    with together:
                        b.store(shared, status)
        with b.if_then(b.icmp_signed("!=", b.load(status, typ=I32), I32(0)), likely=False):
            self._raise_no_memory(b)
        # NumPy would warn of a NaN, but only in batches: a single state does not come this way
        b.call(external(self.w.module, "feclearexcept", I32, [I32]), [I32(FLOAT_EXCEPTIONS)])
        b.ret_void()

    def _raise_no_memory(self, b: ir.IRBuilder) -> None:
        """Set Python's MemoryError; NumPy has released the interpreter lock."""
        held = b.call(external(self.w.module, "PyGILState_Ensure", I32, []), [])
        b.call(external(self.w.module, "PyErr_NoMemory", PTR, []), [])
        b.call(external(self.w.module, "PyGILState_Release", VOID, [I32]), [held])

    def _find_modes(
        self, b: ir.IRBuilder, description: Any, core_steps: Any, n: Any, modes: Any, strides: Any
    ) -> None:
        """Lay out each operand's strides, zeros in front, and see how it is to be moved."""
        operands = load(b, I64, description, Field.OPERANDS)
        cursor = entry_alloca(b, PTR)
        expected = entry_alloca(b, I64)
        b.store(core_steps, cursor)
        with loop(b, 0, operands) as k:
            operand, own = operand_at(b, description, k), strides_at(b, strides, k)
            axes = load(b, I64, operand, 1)
            given = b.load(cursor, typ=PTR)
            b.store(element(b, I64, given, axes), cursor)
            b.store(integer(self.w.item), expected)
            size = load(b, I64, operand, 0)
            in_all = b.mul(b.mul(n, size), integer(self.w.item))
            large = b.icmp_signed(">=", in_all, integer(STREAM_BYTES))
            large = b.and_(large, b.icmp_signed(">=", size, integer(STREAM_COLUMNS)))
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


def operand_at(b: ir.IRBuilder, description: Any, k: Any) -> Any:
    """The fields of operand k."""
    at = b.add(integer(Field.HEAD), b.mul(k, integer(OPERAND_FIELDS)))
    return element(b, I64, description, at)


def strides_at(b: ir.IRBuilder, strides: Any, k: Any) -> Any:
    """The strides of operand k."""
    return element(b, I64, strides, b.mul(k, integer(MAX_AXES)))
