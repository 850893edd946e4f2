"""The loop over the tiles of a batch, as LLVM IR: rows in, the wide body, rows out.

Each tile takes four steps: its arguments are read into tiles, the body runs on them, the results
that the previous tile left pending are written meanwhile (`native.deferred`), and its own results
are written or left pending. Arguments of the next tile, and the rows that results go to, are
prefetched.

Pending results must not be overwritten while they are being written. So results are
double-buffered, unless the body stores its own so late that the pending ones have been written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from kinetree.compiler.native.deferred import DeferredStores
from kinetree.compiler.native.description import (
    DEFERRED,
    DIRECT,
    PACKED,
    operand_at,
    read_fields,
    size_of,
    strides_at,
    wide_body,
    write_constants,
)
from kinetree.compiler.native.ir import I8, I32, I64, PTR, Writer, entry_alloca, integer, loop
from kinetree.compiler.native.layout import ALL, Field
from kinetree.compiler.native.memory import memory
from kinetree.compiler.native.packing import Packing
from kinetree.compiler.native.transpose import Transposes

Move = Callable[[Any, Any, Any, Any], None]
"""move(k, size, rows, step) emits the code that moves a tile of operand k, `size` elements a state,
from or to rows that are `step` bytes apart."""


class TileLoop:
    """Writes the function that runs the wide body on a stretch of a batch.

        i32 tiles(description, args, steps, modes, strides, i64 begin, i64 end, i64 n)

    runs states begin..end of n, begin at a tile's start. Returns 0, or 1 if there was no memory.

    args: the address of each operand's first state.
    steps: for each operand, the bytes from one state to the next.
    modes: how each operand is moved.
    strides: for each operand, its MAX_AXES strides.
    """

    def __init__(
        self,
        writer: Writer,
        transposes: Transposes,
        deferred: DeferredStores,
        packing: Packing,
    ) -> None:
        self.w, self.scalar, self.lanes = writer, writer.scalar, integer(writer.lanes)
        self.transposes, self.deferred, self.packing = transposes, deferred, packing
        self.b = writer.internal("tiles", [PTR, PTR, PTR, PTR, PTR, I64, I64, I64], I32)
        self.description, self.args, self.steps, self.modes, self.strides = self.b.arguments[:5]
        self.begin, self.end, self.n = self.b.arguments[5:]

    def define(self) -> ir.Function:
        """Write the function."""
        b = self.b
        self._read_sizes()
        with memory(self.w, b, self._room()) as scratch:
            self._lay_out(scratch)
            b.call(self.deferred.open, [self.pending, self.outputs])
            self._write_constants()
            self._read_body()
            with loop(b, self.begin, self.end, self.w.lanes) as i:
                self._read_inputs(i)
                self._prefetch_results(i)
                self._run_body(scratch)
                self._write_results(i)
                self._swap_results()
            b.call(self.deferred.advance, [self.pending, integer(ALL)])
            b.call(self.deferred.close, [self.pending, self.outputs])
            b.fence("seq_cst")  # make non-temporal stores visible before the batch counts as done
        return b.function

    # sizes and memory

    def _read_sizes(self) -> None:
        self.inputs, self.operands, self.scratch_size, self.input_elements = read_fields(
            self.description,
            Field.INPUTS,
            Field.OPERANDS,
            Field.WIDE_SCRATCH,
            Field.INPUT_ELEMENTS,
        )
        self.results, self.result_tiles, self.largest = read_fields(
            self.description, Field.RESULTS, Field.TILES, Field.LARGEST
        )
        self.pointers = self.b.alloca(PTR, self.inputs + 1)

    def _room(self) -> Any:
        """The number of elements of memory that a call needs."""
        self.cursor, self.column = entry_alloca(self.b, PTR), entry_alloca(self.b, I64)
        arguments = self.scratch_size + self.input_elements
        total = arguments + (self.results * self.result_tiles + self.largest)
        self.outputs = self.operands - self.inputs
        pending = self.deferred.room(self.b, self.outputs)
        return total * self.lanes + pending

    def _lay_out(self, scratch: Any) -> None:
        """Divide the memory: scratch, tiles of inputs, of results, packed rows, pending results."""
        self.cursor.set(scratch.of(self.scalar).at(self.scratch_size * self.lanes))
        with loop(self.b, 0, self.inputs) as k:
            tile = self.cursor.get()
            self.pointers[k] = tile
            elements = size_of(self.description, k) * self.lanes
            self.cursor.set(tile.of(self.scalar).at(elements))
        self.spare = entry_alloca(self.b, PTR)  # the tile of results that is not in use
        self.spare.set(self.cursor.get())
        tile_size = self.results * self.lanes
        beyond = tile_size * (self.result_tiles - 1)  # zero: with one tile, both are the same
        self.second = self.spare.get().of(self.scalar).at(beyond)
        self.packed = self.second.of(self.scalar).at(tile_size)
        self.pending = self.packed.of(self.scalar).at(self.largest * self.lanes)

    def _write_constants(self) -> None:
        """Write the constant results into both tiles of results; the second is used first."""
        for tile in (self.spare.get(), self.second):
            self.pointers[self.inputs] = tile
            write_constants(self.b, self.description, Field.WIDE_CONSTANTS, self.pointers)

    def _read_body(self) -> None:
        self.index = self.description.of(PTR)[Field.INDEX]
        self.body = wide_body(self.b, self.description)
        # pending results must be written before the body begins to store its own
        self.share_of_a_step = ALL // self.description[Field.LATE] + 1

    # the work on one tile, whose first state is i

    def _read_inputs(self, i: Any) -> None:
        self._for_rows(integer(0), self.inputs, i, self._read, packing=True)

    def _read(self, k: Any, size: Any, rows: Any, step: Any) -> None:
        b = self.b
        b.call(self.transposes.read_tile, [rows, step, self.pointers.of(PTR)[k], size])
        # the rows of the next tile arrive while this one is computed
        b.call(self.transposes.fetch, [rows + step * self.lanes, step, size])

    def _prefetch_results(self, i: Any) -> None:
        """Prefetch the rows that results are written to directly."""
        b = self.b
        with loop(b, self.inputs, self.operands) as k:
            step = self.steps[k]
            size = size_of(self.description, k)
            with b.if_then(self.modes.of(I8)[k] == I8(DIRECT)):
                rows = self.args.of(PTR)[k] + i * step
                b.call(self.transposes.fetch_to_write, [rows, step, size])

    def _run_body(self, scratch: Any) -> None:
        """Run the body; after each of its steps, write a share of the pending results."""
        b = self.b
        with loop(b, 0, self.body.steps) as step:
            self.body.step(step, self.pointers, scratch)
            due = (step + 1) * self.share_of_a_step
            due = b.select(due < ALL, due, integer(ALL))
            b.call(self.deferred.advance, [self.pending, due])
        b.call(self.deferred.advance, [self.pending, integer(ALL)])
        b.call(self.deferred.clear, [self.pending])

    def _write_results(self, i: Any) -> None:
        self.column.set(0)
        self._for_rows(self.inputs, self.operands, i, self._write, packing=False)

    def _write(self, k: Any, size: Any, rows: Any, step: Any) -> None:
        """Write a tile of results to its rows, or leave it pending."""
        b = self.b
        index = self.index.of(I32).at(self.column.get())
        arguments = [rows, step, self.pointers.of(PTR)[self.inputs], index, size]
        deferred = self.modes.of(I8)[k] == I8(DEFERRED)
        # packed rows are unpacked at once: never deferred
        with b.if_else(deferred & (rows != self.packed)) as (later, now):
            with later:
                b.call(self.deferred.put, [self.pending, *arguments])
            with now:
                b.call(self.transposes.write_tile, arguments)

    def _swap_results(self) -> None:
        """Swap the two tiles of results."""
        written = self.pointers.of(PTR)[self.inputs]
        self.pointers[self.inputs] = self.spare.get()
        self.spare.set(written)

    def _for_rows(self, start: Any, stop: Any, i: Any, move: Move, packing: bool) -> None:
        """Move operands start..stop; those that need it go through packed copies of their rows.

        A tile that is not full is one of them: no byte outside the arrays may be touched.

        Arguments:
            packing: whether rows are packed before they are moved, or unpacked after.
        """
        b = self.b
        left = self.n - i
        full = left >= self.lanes
        states = b.select(full, self.lanes, left)
        with loop(b, start, stop) as k:
            operand = operand_at(self.description, k)
            size, step = operand[0], self.steps[k]
            rows = self.args.of(PTR)[k] + i * step
            plain = self.modes.of(I8)[k] != I8(PACKED)
            with b.if_else(plain & full) as (direct, by_copy):
                with direct:
                    move(k, size, rows, step)
                with by_copy:
                    strides = strides_at(self.strides, k)
                    copy = [rows, step, self.packed, operand, strides, states]
                    if packing:
                        b.call(self.packing.pack_tile, copy)
                    move(k, size, self.packed, size * self.w.item)
                    if not packing:
                        b.call(self.packing.unpack_tile, copy)
            self.column.set(self.column.get() + size)
