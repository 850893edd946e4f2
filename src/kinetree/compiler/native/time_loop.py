"""The loop over time around a body, as LLVM IR: the states of systems stay in the L1 cache.

    i32 kinetree_rollout_T(i64 *description, char **args, i64 *strides, i64 *plan, i64 n)

runs the wide body again and again on each tile of systems; kinetree_rollout_one_T takes the same
arguments and runs the one-lane body on one system after the other, which is faster for few of them.
The first results of the body are the next values of its first arguments, the *states*. Other
arguments are constant, or a *series* with a value for each step. Every N steps, states before the
step or results of it are *recorded*.

`args` are the addresses of the states and the other arguments, of the final states, and of the
records. `strides` has two numbers for each of them: bytes from one system to the next, and from
one time to the next. The elements of one time lie side by side. `plan` is laid out by `Plan`, with
a `RecordPlan` for each record.

Returns 0, or 1 if there was no memory.

`TimeLoop` has the loop. Its two subclasses define how arguments and results are moved: `SystemLoop`
for one system, whose rows are read in place, `SystemTileLoop` for a tile of systems.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from llvmlite import ir

from kinetree.compiler.native.description import (
    Body,
    one_body,
    read_fields,
    size_of,
    wide_body,
    write_constants,
)
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
from kinetree.compiler.native.layout import Field, Plan, RecordPlan
from kinetree.compiler.native.memory import memory
from kinetree.compiler.native.thread_pool import share
from kinetree.compiler.native.transpose import Transposes


def define_rollout(w: Writer, transposes: Transposes) -> None:
    """Add both functions to a module."""
    copy = _define_copy(w)
    run = SystemTileLoop(w, SystemTiles(w, transposes, copy)).define()
    b = w.public("rollout", [PTR, PTR, PTR, PTR, I64], I32)
    description, args, strides, plan, n = b.arguments
    job = [description, args, strides, plan, plan]
    shared = share(w.module, b, run, job, n, description[Field.BLOCK])
    with b.if_then(shared >= I32(0)):
        b.ret(shared)
    b.ret(b.call(run, [*job, integer(0), n, n]))
    SystemLoop(w, copy).define()


def _define_copy(w: Writer) -> ir.Function:
    """Copy a row of elements."""
    b = w.internal("copy_row", [PTR, PTR, I64])
    source, target, count = b.arguments
    with loop(b, 0, count) as k:
        target.of(w.scalar).at(k).set(source.of(w.scalar)[k])
    b.ret_void()
    return b.function


class TimeLoop(ABC):
    """Writes the loop over time, for one system or tile after the other.

    Arguments:
        b: at the start of the function, whose first arguments are those of the rollout.
        stride: the number of systems that are advanced together.

    A subclass sets these before it runs the loop:

    body: computes a step.
    inputs: the number of its arguments.
    pointers: the addresses of its operands.
    """

    body: Body
    inputs: Any
    pointers: Any

    def __init__(self, w: Writer, b: Builder, stride: int) -> None:
        self.w, self.b, self.scalar, self.stride = w, b, w.scalar, stride
        self.description, self.args, self.strides, self.plan = b.arguments[:4]

    def read_plan(self) -> None:
        """Read the fields of the plan that every loop needs."""
        self.steps, self.every, self.states, self.series, self.records = read_fields(
            self.plan, Plan.STEPS, Plan.EVERY, Plan.STATES, Plan.SERIES, Plan.RECORDS
        )

    def run(self, begin: Any, end: Any, scratch: Any) -> None:
        """Advance systems begin..end through time, one stride after the other."""
        b = self.b
        with loop(b, begin, end, self.stride) as i:
            self.start(i)
            with loop(b, 0, self.steps) as time:
                with loop(b, self.series, self.inputs) as k:
                    self.read_series(k, i, time)
                self.body.run(self.pointers, scratch)
                with b.if_then(time % self.every == 0), loop(b, 0, self.records) as r:
                    self.record(r, i, time)
                self.advance()
            with loop(b, 0, self.states) as k:
                self.write_final(k, i)

    @abstractmethod
    def start(self, i: Any) -> None:
        """Read the states and the constants of system i."""

    @abstractmethod
    def read_series(self, k: Any, i: Any, time: Any) -> None:
        """Read argument k, a series, at a time."""

    @abstractmethod
    def record(self, r: Any, i: Any, time: Any) -> None:
        """Write record r."""

    @abstractmethod
    def advance(self) -> None:
        """Copy the next states from the results to the arguments."""

    @abstractmethod
    def write_final(self, k: Any, i: Any) -> None:
        """Write the final value of state k."""

    def row_at(self, k: Any, i: Any, time: Any) -> Any:
        """The address of the elements of operand k of system i at a time."""
        of_system = self.args.of(PTR)[k] + i * self.strides[k * 2]
        return of_system + self.strides[k * 2 + 1] * time

    def size_of(self, k: Any) -> Any:
        return size_of(self.description, k)

    def record_plan(self, r: Any) -> Any:
        return self.plan.of(I64).at(r * RecordPlan.FIELDS + Plan.HEAD)


class SystemLoop(TimeLoop):
    """The loop over time around the one-lane body: rows are read where they lie."""

    def __init__(self, w: Writer, copy: ir.Function) -> None:
        super().__init__(w, w.public("rollout_one", [PTR, PTR, PTR, PTR, I64], I32), 1)
        self.copy = copy

    def define(self) -> None:
        """Write the function."""
        b, description = self.b, self.description
        self.inputs, self.operands, scratch_size, elements = read_fields(
            description, Field.INPUTS, Field.OPERANDS, Field.ONE_SCRATCH, Field.ELEMENTS
        )
        self.read_plan()
        self.pointers = b.alloca(PTR, self.operands)
        self.cursor, self.state_size = entry_alloca(b, PTR), entry_alloca(b, I64)
        with memory(self.w, b, scratch_size + elements) as scratch:
            self._lay_out(scratch.of(self.scalar).at(scratch_size))
            write_constants(b, description, Field.ONE_CONSTANTS, self.pointers)
            self.body = one_body(b, description)
            self.run(0, b.arguments[4], scratch)

    def _lay_out(self, rows: Any) -> None:
        """Give each operand its row: the states first, the results last."""
        self.first_state = rows
        self.cursor.set(rows)
        self.state_size.set(0)
        with loop(self.b, 0, self.operands) as k:
            size = self.size_of(k)
            self.pointers[k] = self.cursor.get()
            self.cursor.set(self.cursor.get().of(self.scalar).at(size))
            with self.b.if_then(k < self.states):
                self.state_size.set(self.state_size.get() + size)
        input_elements = self.description[Field.INPUT_ELEMENTS]
        self.results = rows.of(self.scalar).at(input_elements)

    def start(self, i: Any) -> None:
        b = self.b
        with loop(b, 0, self.states) as k:
            source = self.row_at(k, i, integer(0))
            b.call(self.copy, [source, self.pointers.of(PTR)[k], self.size_of(k)])
        with loop(b, self.states, self.series) as k:
            self.pointers[k] = self.row_at(k, i, integer(0))

    def read_series(self, k: Any, i: Any, time: Any) -> None:
        self.pointers[k] = self.row_at(k, i, time)

    def record(self, r: Any, i: Any, time: Any) -> None:
        record = self.record_plan(r)
        state = record[RecordPlan.STATE]
        is_result = state < 0
        of_state = self.pointers.of(PTR)[self.b.select(is_result, integer(0), state)]
        of_result = self.results.of(self.scalar).at(record[RecordPlan.START])
        source = self.b.select(is_result, of_result, of_state)
        target = self.row_at(self.inputs + self.states + r, i, time // self.every)
        self.b.call(self.copy, [source, target, record[RecordPlan.SIZE]])

    def advance(self) -> None:
        self.b.call(self.copy, [self.results, self.first_state, self.state_size.get()])

    def write_final(self, k: Any, i: Any) -> None:
        source = self.pointers.of(PTR)[k]
        target = self.row_at(self.inputs + k, i, integer(0))
        self.b.call(self.copy, [source, target, self.size_of(k)])


class SystemTiles:
    """The functions that move tiles of systems, some of which may not be full.

    read(rows, step, tile, size, buffer, systems), write(rows, step, tile, index, size, buffer,
    systems): as in `Transposes`; a tile of fewer systems than lanes goes through the buffer.
    """

    def __init__(self, w: Writer, transposes: Transposes, copy: ir.Function) -> None:
        self.w, self.transposes, self.copy = w, transposes, copy
        self.read = self._define_read()
        self.write = self._define_write()

    def _define_read(self) -> ir.Function:
        """Rows of systems into a tile; the last is repeated to fill the lanes."""
        b = self.w.internal("read_states", [PTR, I64, PTR, I64, PTR, I64])
        rows, step, tile, size, buffer, systems = b.arguments
        bytes_of_row = size * self.w.item
        with b.if_else(systems == self.w.lanes) as (full, partial):
            with full:
                b.call(self.transposes.read_tile, [rows, step, tile, size])
            with partial:
                with loop(b, 0, self.w.lanes) as lane:
                    source = b.select(lane < systems, lane, systems - 1)
                    b.call(self.copy, [rows + source * step, buffer + lane * bytes_of_row, size])
                b.call(self.transposes.read_tile, [buffer, bytes_of_row, tile, size])
        b.ret_void()
        return b.function

    def _define_write(self) -> ir.Function:
        """A tile into rows of systems."""
        b = self.w.internal("write_states", [PTR, I64, PTR, PTR, I64, PTR, I64])
        rows, step, tile, index, size, buffer, systems = b.arguments
        bytes_of_row = size * self.w.item
        write = self.transposes.write_tile
        with b.if_else(systems == self.w.lanes) as (full, partial):
            with full:
                b.call(write, [rows, step, tile, index, size])
            with partial:
                b.call(write, [buffer, bytes_of_row, tile, index, size])
                with loop(b, 0, systems) as lane:
                    b.call(self.copy, [buffer + lane * bytes_of_row, rows + lane * step, size])
        b.ret_void()
        return b.function


class Tile(NamedTuple):
    """Columns of a tile: its address, the offset of each column, their number."""

    address: Any
    index: Any
    size: Any


class SystemTileLoop(TimeLoop):
    """The loop over time around the wide body: systems begin..end of n, begin at a tile's start."""

    def __init__(self, w: Writer, tiles: SystemTiles) -> None:
        types = [PTR, PTR, PTR, PTR, PTR, I64, I64, I64]
        super().__init__(w, w.internal("run_rollout", types, I32), w.lanes)
        self.tiles = tiles

    def define(self) -> ir.Function:
        """Write the function."""
        b, description = self.b, self.description
        begin, end, self.n = b.arguments[5:]
        self.inputs, scratch_size, input_elements, results = read_fields(
            description, Field.INPUTS, Field.WIDE_SCRATCH, Field.INPUT_ELEMENTS, Field.RESULTS
        )
        self.read_plan()
        largest = self.plan[Plan.LARGEST]
        self.identity = self.plan.of(PTR)[Plan.IDENTITY]
        self.pointers = b.alloca(PTR, self.inputs + 1)
        self.cursor, self.column = entry_alloca(b, PTR), entry_alloca(b, I64)
        total = scratch_size + input_elements + results + largest
        with memory(self.w, b, total * self.w.lanes) as scratch:
            self._lay_out(scratch.of(self.scalar).at(scratch_size * self.w.lanes), results)
            write_constants(b, description, Field.WIDE_CONSTANTS, self.pointers)
            self.index = description.of(PTR)[Field.INDEX]
            self.body = wide_body(b, description)
            self.run(begin, end, scratch)
        return b.function

    def _lay_out(self, tiles: Any, results: Any) -> None:
        """Divide the memory: tiles of the arguments, of the results, rows of a partial tile."""
        self.cursor.set(tiles)
        with loop(self.b, 0, self.inputs) as k:
            tile = self.cursor.get()
            self.pointers[k] = tile
            self.cursor.set(tile.of(self.scalar).at(self.size_of(k) * self.w.lanes))
        self.results = self.cursor.get()
        self.pointers[self.inputs] = self.results
        self.buffer = self.results.of(self.scalar).at(results * self.w.lanes)

    def start(self, i: Any) -> None:
        left = self.n - i
        self.systems = self.b.select(left < self.w.lanes, left, integer(self.w.lanes))
        with loop(self.b, 0, self.series) as k:
            self.read_series(k, i, integer(0))

    def read_series(self, k: Any, i: Any, time: Any) -> None:
        rows = self.row_at(k, i, time)
        step = self.strides[k * 2]
        tile = [self.pointers.of(PTR)[k], self.size_of(k)]
        self.b.call(self.tiles.read, [rows, step, *tile, self.buffer, self.systems])

    def record(self, r: Any, i: Any, time: Any) -> None:
        record = self.record_plan(r)
        state = record[RecordPlan.STATE]
        is_result = state < 0
        address = self.pointers.of(PTR)[self.b.select(is_result, self.inputs, state)]
        of_result = self.index.of(I32).at(record[RecordPlan.START])
        index = self.b.select(is_result, of_result, self.identity)
        tile = Tile(address, index, record[RecordPlan.SIZE])
        self._write(self.inputs + self.states + r, i, time // self.every, tile)

    def advance(self) -> None:
        self.column.set(0)
        with loop(self.b, 0, self.states) as k, loop(self.b, 0, self.size_of(k)) as j:
            column = self.column.get()
            offset = self.b.zext(self.index.of(I32)[column], I64)
            value = (self.results + offset).get(self.w.vector)
            self.pointers.of(PTR)[k].of(self.w.vector).at(j).set(value)
            self.column.set(column + 1)

    def write_final(self, k: Any, i: Any) -> None:
        tile = Tile(self.pointers.of(PTR)[k], self.identity, self.size_of(k))
        self._write(self.inputs + k, i, integer(0), tile)

    def _write(self, k: Any, i: Any, time: Any, tile: Tile) -> None:
        rows = self.row_at(k, i, time)
        step = self.strides[k * 2]
        self.b.call(self.tiles.write, [rows, step, *tile, self.buffer, self.systems])
