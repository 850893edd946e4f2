"""The loop around a body, as LLVM IR: NumPy's arrays in, lanes of states, NumPy's arrays out.

One driver serves every kernel of a type. Its loop is what NumPy calls,

    void kinetree_loop_T(char **args, i64 *dims, i64 *steps, i64 *description)

and it works on *tiles*, as many states as a vector has lanes (`native.transpose`): rows
are read and transposed so that each element's lanes lie side by side, the body runs, the
results are transposed back. No byte outside the arrays is touched: operands whose elements do not
lie in C order, and the last tile of a batch if it is not full, go through packed copies of their
rows (`native.packing`), the last state repeated to fill the lanes. A single state goes to
the one-lane body without any copying, if there is that body.

With a pool of threads (`native.thread_pool`), a long batch is cut into blocks that the
calling thread and the workers share. Which thread takes a block changes nothing in its results.

The description of a kernel is an array of 64-bit integers, laid out by `Field`, and then
`OPERAND_FIELDS` numbers for each operand.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from kinetree.compiler.native.deferred import DeferredStores
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
    integer,
    loop,
)
from kinetree.compiler.native.layout import ALL, MAX_AXES, OPERAND_FIELDS, Field
from kinetree.compiler.native.packing import Packing
from kinetree.compiler.native.thread_pool import share
from kinetree.compiler.native.transpose import Transposes

STACK_BYTES = 32768
STREAM_BYTES = 1 << 23  # results larger than this are written by deferred stores,
STREAM_COLUMNS = 128  # if a state has at least so many elements
FLOAT_EXCEPTIONS = 0x1F  # invalid, zero divide, overflow and underflow of every platform's fenv.h


# how an operand is moved
DIRECT, PACKED, DEFERRED = 0, 1, 2


class Driver:
    """The functions that run bodies of one type, defined in a module."""

    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.transposes = Transposes(writer)
        self.deferred = DeferredStores(writer, self.transposes)
        self.packing = Packing(writer)
        self.run_one = self._define_run_one()
        self.run_tiles = self._define_run_tiles()
        self.run_batch = self._define_run_batch()
        self._define_loop()

    def _define_run_one(self) -> ir.Function:
        """Run the one-lane body on the state at args.

        modes: for each operand, how it is moved; strides: its MAX_AXES strides.
        Returns 0, or 1 if there was no memory.
        """
        b = self.w.internal("one", [PTR, PTR, PTR, PTR], I32)
        description, args, modes, strides = b.arguments
        inputs, operands, scratch_size, elements = (
            description[k]
            for k in (Field.INPUTS, Field.OPERANDS, Field.ONE_SCRATCH, Field.ELEMENTS)
        )
        pointers = b.alloca(PTR, operands)
        row = entry_alloca(b, PTR)
        with memory(self.w, b, scratch_size + elements) as taken:
            row.set(taken.of(self.w.scalar).at(scratch_size))
            with loop(b, 0, operands) as k:
                place = args.of(PTR)[k]
                pointers[k] = place
                with self._if_packed(b, modes, k):
                    buffer = row.get()
                    pointers[k] = buffer
                    operand = operand_at(b, description, k)
                    row.set(buffer.of(self.w.scalar).at(operand[0]))
                    with b.if_then(k < inputs):
                        b.call(
                            self.packing.pack, [place, buffer, operand, strides_at(b, strides, k)]
                        )
            self.call(b, description, Field.ONE_CONSTANTS, [pointers])
            table = description.of(PTR)[Field.ONE]
            with loop(b, 0, description[Field.ONE_STEPS]) as step:
                self.step(b, table, step, pointers, taken)
            with loop(b, inputs, operands) as k, self._if_packed(b, modes, k):
                place, buffer = args.of(PTR)[k], pointers.of(PTR)[k]
                operand = operand_at(b, description, k)
                b.call(self.packing.unpack, [place, buffer, operand, strides_at(b, strides, k)])
        return b.function

    def _define_run_tiles(self) -> ir.Function:
        """Run the wide body on states begin..end of n, begin at a tile's start.

        Returns 0, or 1 if there was no memory.
        """
        b = self.w.internal("tiles", [PTR, PTR, PTR, PTR, PTR, I64, I64, I64], I32)
        description, args, steps, modes, strides, begin, end, n = b.arguments
        inputs, operands, scratch_size, elements, results, tiles, largest = (
            description[k]
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
        pointers = b.alloca(PTR, inputs + 1)
        next_tile, first = entry_alloca(b, PTR), entry_alloca(b, I64)
        total = scratch_size + elements + (results * tiles + largest)
        count = operands - inputs
        pending_size = self.deferred.room(b, count)
        with memory(self.w, b, total * lanes + pending_size) as scratch:
            # scratch, tiles of the inputs, of the results, packed rows, what is pending
            next_tile.set(scratch.of(self.w.scalar).at(scratch_size * lanes))
            with loop(b, 0, inputs) as k:
                tile = next_tile.get()
                pointers[k] = tile
                size = operand_at(b, description, k)[0]
                next_tile.set(tile.of(self.w.scalar).at(size * lanes))
            spare = entry_alloca(b, PTR)
            spare.set(next_tile.get())
            tile_size = results * lanes
            beyond = tile_size * (tiles - 1)  # nothing, if there is but one
            second = spare.get().of(self.w.scalar).at(beyond)
            buffer = second.of(self.w.scalar).at(tile_size)
            pending = buffer.of(self.w.scalar).at(largest * lanes)
            b.call(self.deferred.open, [pending, count])
            for tile in (spare.get(), second):
                pointers[inputs] = tile
                self.call(b, description, Field.WIDE_CONSTANTS, [pointers])
            index = description.of(PTR)[Field.INDEX]
            table = description.of(PTR)[Field.WIDE]
            count_of_steps = description[Field.WIDE_STEPS]
            late = description[Field.LATE]
            share_of_a_step = ALL // late + 1

            def each(start: Any, stop: Any, i: Any, packing: bool, move: Any) -> None:
                """Move operands start..stop of the tile at state i, by copies where need be."""
                left = n - i
                full = left >= lanes
                states = b.select(full, lanes, left)
                with loop(b, start, stop) as k:
                    operand = operand_at(b, description, k)
                    size, step = operand[0], steps[k]
                    base = args.of(PTR)[k] + i * step
                    plain = modes.of(I8)[k] != I8(PACKED)
                    with b.if_else(plain & full) as (direct, by_copy):
                        with direct:
                            move(k, size, base, step)
                        with by_copy:
                            copy = [base, step, buffer, operand, strides_at(b, strides, k), states]
                            if packing:
                                b.call(self.packing.pack_tile, copy)
                            move(k, size, buffer, size * self.w.item)
                            if not packing:
                                b.call(self.packing.unpack_tile, copy)
                    first.set(first.get() + size)

            def read(k: Any, size: Any, rows: Any, step: Any) -> None:
                b.call(self.transposes.read_tile, [rows, step, pointers.of(PTR)[k], size])
                # the next tile is asked for while this one is worked on
                b.call(self.transposes.fetch, [rows + step * lanes, step, size])

            def write(k: Any, size: Any, rows: Any, step: Any) -> None:
                result_index = index.of(I32).at(first.get())
                arguments = [rows, step, pointers.of(PTR)[inputs], result_index, size]
                deferred = modes.of(I8)[k] == I8(DEFERRED)
                elsewhere = rows != buffer
                with b.if_else(deferred & elsewhere) as (later, now):
                    with later:
                        b.call(self.deferred.put, [pending, *arguments])
                    with now:
                        b.call(self.transposes.write_tile, arguments)

            with loop(b, begin, end, self.w.lanes) as i:
                each(integer(0), inputs, i, True, read)
                with loop(b, inputs, operands) as k:  # and so are the places of its results
                    step = steps[k]
                    size = operand_at(b, description, k)[0]
                    with b.if_then(modes.of(I8)[k] == I8(DIRECT)):
                        base = args.of(PTR)[k] + i * step
                        b.call(self.transposes.fetch_to_write, [base, step, size])
                with loop(b, 0, count_of_steps) as step:
                    self.step(b, table, step, pointers, scratch)
                    # results of the tile before go out while this one is computed
                    due = (step + 1) * share_of_a_step
                    due = b.select(due < ALL, due, integer(ALL))
                    b.call(self.deferred.advance, [pending, due])
                b.call(self.deferred.advance, [pending, integer(ALL)])
                b.call(self.deferred.clear, [pending])
                first.set(0)
                each(inputs, operands, i, False, write)
                written = pointers.of(PTR)[inputs]
                pointers[inputs] = spare.get()
                spare.set(written)
            b.call(self.deferred.advance, [pending, integer(ALL)])
            b.call(self.deferred.close, [pending, count])
            b.fence("seq_cst")  # non-temporal stores are visible before anybody is told
        return b.function

    @contextmanager
    def _if_packed(self, b: Builder, modes: Any, k: Any) -> Iterator[None]:
        mode = modes.of(I8)[k]
        with b.if_then(mode == I8(PACKED)):
            yield

    def call(self, b: Builder, description: Any, which: Field, arguments: list[Any]) -> None:
        """Call the function whose address is in a field."""
        kind = ir.FunctionType(VOID, [PTR] * len(arguments)).as_pointer()
        b.call(description.of(PTR).at(which).get(kind), arguments)

    def step(self, b: Builder, table: Any, k: Any, pointers: Any, scratch: Any) -> None:
        """Call step k of a body."""
        kind = ir.FunctionType(VOID, [PTR, PTR]).as_pointer()
        b.call(table.of(PTR).at(k).get(kind), [pointers, scratch])

    def _define_run_batch(self) -> ir.Function:
        """Run a batch: NumPy's arguments of a loop. Returns 0, or 1 if there was no memory."""
        b = self.w.internal("batch", [PTR, PTR, PTR, PTR], I32)
        args, dims, steps, description = b.arguments
        n = dims[0]
        operands = description[Field.OPERANDS]
        modes = b.alloca(I8, operands)
        strides = b.alloca(I64, operands * MAX_AXES)
        self._find_modes(b, description, steps.of(I64).at(operands), n, modes, strides)
        status = entry_alloca(b, I32)
        status.set(I32(0))
        with b.if_else((n == 1) & (description[Field.ONE] != 0)) as (single, several):
            with single:
                status.set(b.call(self.run_one, [description, args, modes, strides]))
            with several:
                job = [description, args, steps, modes, strides]
                block = description[Field.BLOCK]
                shared = share(self.w.module, b, self.run_tiles, job, n, block)
                with b.if_else(shared < I32(0)) as (alone, together):
                    with alone:
                        status.set(b.call(self.run_tiles, [*job, integer(0), n, n]))
                    with together:
                        status.set(shared)
        b.ret(status.get())
        return b.function

    def _define_loop(self) -> None:
        b = self.w.public("loop", [PTR, PTR, PTR, PTR])
        status = b.call(self.run_batch, b.arguments)
        with b.if_then(status != I32(0), likely=False):
            self._raise_no_memory(b)
        # NumPy would warn of a NaN, but only in batches: a single state does not come this way
        b.call(external(self.w.module, "feclearexcept", I32, [I32]), [I32(FLOAT_EXCEPTIONS)])
        b.ret_void()

    def _raise_no_memory(self, b: Builder) -> None:
        """Set Python's MemoryError; NumPy has released the interpreter lock."""
        held = b.call(external(self.w.module, "PyGILState_Ensure", I32, []), [])
        b.call(external(self.w.module, "PyErr_NoMemory", PTR, []), [])
        b.call(external(self.w.module, "PyGILState_Release", VOID, [I32]), [held])

    def _find_modes(
        self, b: Builder, description: Any, core_steps: Any, n: Any, modes: Any, strides: Any
    ) -> None:
        """Lay out each operand's strides, zeros in front, and decide how it is moved."""
        operands = description[Field.OPERANDS]
        cursor = entry_alloca(b, PTR)
        expected = entry_alloca(b, I64)
        cursor.set(core_steps)
        with loop(b, 0, operands) as k:
            operand, laid_out = operand_at(b, description, k), strides_at(b, strides, k)
            axes = operand[1]
            given = cursor.get()
            cursor.set(given.of(I64).at(axes))
            expected.set(self.w.item)
            size = operand[0]
            in_all = n * size * self.w.item
            large = in_all >= STREAM_BYTES
            large = large & (size >= STREAM_COLUMNS)
            modes[k] = b.select(large, I8(DEFERRED), I8(DIRECT))
            for axis in reversed(range(MAX_AXES)):
                length = operand[2 + axis]
                laid_out[axis] = 0
                position = axes - MAX_AXES + axis
                with b.if_then(position >= 0):
                    stride = given[position]
                    laid_out[axis] = stride
                    wanted = expected.get()
                    odd = stride != wanted
                    several = length != 1
                    with b.if_then(odd & several):
                        modes[k] = I8(PACKED)
                    expected.set(wanted * length)


def operand_at(b: Builder, description: Any, k: Any) -> Any:
    """The fields of operand k."""
    at = Field.HEAD + k * OPERAND_FIELDS
    return description.of(I64).at(at)


def strides_at(b: Builder, strides: Any, k: Any) -> Any:
    """The strides of operand k."""
    return strides.of(I64).at(k * MAX_AXES)


@contextmanager
def memory(w: Writer, b: Builder, count: Any) -> Iterator[Any]:
    """Aligned memory for a number of elements, on the stack if it is little; then return 0.

    Returns 1 from the function if there is no memory.
    """
    align = w.vector_size
    stack = entry_alloca(b, I8, STACK_BYTES + align)
    size = count * w.item
    large = size > STACK_BYTES
    start = entry_alloca(b, PTR)
    start.set(stack)
    with b.if_then(large, likely=False):
        allocate = external(w.module, "kinetree_allocate", PTR, [I64])
        taken = b.call(allocate, [size + align])
        start.set(taken)
        with b.if_then(taken.address == 0):
            b.ret(I32(1))
    raw = start.get()
    bits = raw.address + (align - 1)
    yield b.inttoptr(bits & -align, PTR)
    with b.if_then(large, likely=False):
        b.call(external(w.module, "kinetree_free", VOID, [PTR]), [raw])
    b.ret(I32(0))
