"""The loop over time around a body, as LLVM IR: the states of systems stay in first-level cache.

    i32 kinetree_rollout_T(i64 *description, char **args, i64 *strides, i64 *plan, i64 n)

runs the wide body again and again on each tile of systems; kinetree_rollout_one_T takes the same
arguments and runs the one-lane body on one system after the other, which is faster for few of them.
The first results are the next values of its
first arguments, the *states*. Other arguments are constant, or a *series* with a value for each
step. At every so many steps, before they change, states or results are *recorded*.

`args` are the addresses of the states and the other arguments, of the final states, and of the
records. `strides` has two numbers for each of them: bytes from one system to the next, and from
one time to the next. The elements of one time lie side by side. `plan` is laid out by `Plan`, with
a `RecordPlan` for each record.

Returns 0, or 1 if there was no memory.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.ir import I32, I64, PTR, Writer, entry_alloca, integer, loop
from kinetree.compiler.native.layout import Field, Plan, RecordPlan
from kinetree.compiler.native.loop import Driver, memory, operand_at
from kinetree.compiler.native.thread_pool import share


def define_rollout(w: Writer, driver: Driver) -> None:
    """Add the function to a module that has the driver."""
    run = TimeLoop(w, driver).run
    b = w.public("rollout", [PTR, PTR, PTR, PTR, I64], I32)
    description, args, strides, plan, n = b.arguments
    job = [description, args, strides, plan, plan]
    shared = share(w.module, b, run, job, n, description[Field.BLOCK])
    with b.if_then(shared >= I32(0)):
        b.ret(shared)
    b.ret(b.call(run, [*job, integer(0), n, n]))
    OneSystem(w, driver).define()


def define_copy(w: Writer) -> ir.Function:
    """Copy a row of elements."""
    if w.name("copy_row") in w.module.globals:
        return w.module.globals[w.name("copy_row")]
    b = w.internal("copy_row", [PTR, PTR, I64])
    source, target, count = b.arguments
    with loop(b, 0, count) as k:
        target.of(w.scalar).at(k).set(source.of(w.scalar)[k])
    b.ret_void()
    return b.function


class TimeLoop:
    """The function that runs tiles through time."""

    def __init__(self, w: Writer, driver: Driver) -> None:
        self.w, self.driver = w, driver
        self.copy = define_copy(w)
        self.read = self._define_read()
        self.write = self._define_write()
        self.run = self._define_run()

    def _define_read(self) -> ir.Function:
        """Rows of `states` systems into a tile; the last is repeated to fill the lanes."""
        b = self.w.internal("read_states", [PTR, I64, PTR, I64, PTR, I64])
        rows, step, tile, size, buffer, states = b.arguments
        bytes_of_row = size * self.w.item
        with b.if_else(states == self.w.lanes) as (full, partial):
            with full:
                b.call(self.driver.transposes.read_tile, [rows, step, tile, size])
            with partial:
                with loop(b, 0, self.w.lanes) as lane:
                    source = b.select(lane < states, lane, states - 1)
                    b.call(self.copy, [rows + source * step, buffer + lane * bytes_of_row, size])
                b.call(self.driver.transposes.read_tile, [buffer, bytes_of_row, tile, size])
        b.ret_void()
        return b.function

    def _define_write(self) -> ir.Function:
        """A tile into rows of `states` systems."""
        b = self.w.internal("write_states", [PTR, I64, PTR, PTR, I64, PTR, I64])
        rows, step, tile, index, size, buffer, states = b.arguments
        bytes_of_row = size * self.w.item
        write = self.driver.transposes.write_tile
        with b.if_else(states == self.w.lanes) as (full, partial):
            with full:
                b.call(write, [rows, step, tile, index, size])
            with partial:
                b.call(write, [buffer, bytes_of_row, tile, index, size])
                with loop(b, 0, states) as lane:
                    b.call(self.copy, [buffer + lane * bytes_of_row, rows + lane * step, size])
        b.ret_void()
        return b.function

    def _define_run(self) -> ir.Function:
        """Run systems begin..end of n, begin at a tile's start."""
        w, scalar = self.w, self.w.scalar
        b = w.internal("run_rollout", [PTR, PTR, PTR, PTR, PTR, I64, I64, I64], I32)
        description, args, strides, plan, _, begin, end, n = b.arguments
        inputs, scratch_size, elements, results = (
            description[k]
            for k in (Field.INPUTS, Field.WIDE_SCRATCH, Field.INPUT_ELEMENTS, Field.RESULTS)
        )
        steps, every, states, series, records, largest = (
            plan[k]
            for k in (
                Plan.STEPS,
                Plan.EVERY,
                Plan.STATES,
                Plan.SERIES,
                Plan.RECORDS,
                Plan.LARGEST,
            )
        )
        identity = plan.of(PTR)[Plan.IDENTITY]
        pointers = b.alloca(PTR, inputs + 1)
        cursor, place = entry_alloca(b, PTR), entry_alloca(b, I64)
        total = scratch_size + elements + results + largest
        with memory(w, b, total * w.lanes) as scratch:
            cursor.set(scratch.of(scalar).at(scratch_size * w.lanes))
            with loop(b, 0, inputs) as k:
                tile = cursor.get()
                pointers[k] = tile
                cursor.set(tile.of(scalar).at(operand_at(b, description, k)[0] * w.lanes))
            tile = cursor.get()
            pointers[inputs] = tile
            buffer = tile.of(scalar).at(results * w.lanes)
            self.driver.call(b, description, Field.WIDE_CONSTANTS, [pointers])
            index = description.of(PTR)[Field.INDEX]
            table = description.of(PTR)[Field.WIDE]
            count = description[Field.WIDE_STEPS]

            def size_of(k: Any) -> Any:
                return operand_at(b, description, k)[0]

            def rows_of(k: Any, i: Any, time: Any) -> Any:
                return args.of(PTR)[k] + i * strides[k * 2] + strides[k * 2 + 1] * time

            def read(k: Any, i: Any, time: Any, alive: Any) -> None:
                rows = rows_of(k, i, time)
                arguments = [rows, strides[k * 2], pointers.of(PTR)[k], size_of(k), buffer, alive]
                b.call(self.read, arguments)

            def write(k: Any, i: Any, time: Any, source: list[Any], alive: Any) -> None:
                rows = rows_of(k, i, time)
                b.call(self.write, [rows, strides[k * 2], *source, buffer, alive])

            with loop(b, begin, end, w.lanes) as i:
                left = n - i
                alive = b.select(left < w.lanes, left, integer(w.lanes))
                with loop(b, 0, series) as k:
                    read(k, i, integer(0), alive)
                with loop(b, 0, steps) as time:
                    with loop(b, series, inputs) as k:
                        read(k, i, time, alive)
                    with loop(b, 0, count) as step:
                        self.driver.step(b, table, step, pointers, scratch)
                    with b.if_then(time % every == 0), loop(b, 0, records) as r:
                        record = plan.of(I64).at(r * RecordPlan.FIELDS + Plan.HEAD)
                        state = record[RecordPlan.STATE]
                        is_result = state < 0
                        from_tile = pointers.of(PTR)[b.select(is_result, inputs, state)]
                        of_result = index.of(I32).at(record[RecordPlan.START])
                        places = b.select(is_result, of_result, identity)
                        source = [from_tile, places, record[RecordPlan.SIZE]]
                        write(inputs + states + r, i, time // every, source, alive)
                    place.set(0)
                    with loop(b, 0, states) as k, loop(b, 0, size_of(k)) as j:
                        at = place.get()
                        value = (tile + b.zext(index.of(I32)[at], I64)).get(w.vector)
                        pointers.of(PTR)[k].of(w.vector).at(j).set(value)
                        place.set(at + 1)
                with loop(b, 0, states) as k:
                    source = [pointers.of(PTR)[k], identity, size_of(k)]
                    write(inputs + k, i, integer(0), source, alive)
        return b.function


class OneSystem:
    """The loop over time around the one-lane body: rows are read where they lie."""

    def __init__(self, w: Writer, driver: Driver) -> None:
        self.w, self.driver = w, driver
        self.copy = define_copy(w)

    def define(self) -> None:
        """Add the function."""
        w, scalar = self.w, self.w.scalar
        b = w.public("rollout_one", [PTR, PTR, PTR, PTR, I64], I32)
        description, args, strides, plan, n = b.arguments
        inputs, operands = description[Field.INPUTS], description[Field.OPERANDS]
        room, elements = description[Field.ONE_SCRATCH], description[Field.ELEMENTS]
        steps, every, states, series, records = (
            plan[k] for k in (Plan.STEPS, Plan.EVERY, Plan.STATES, Plan.SERIES, Plan.RECORDS)
        )
        pointers = b.alloca(PTR, operands)
        cursor, changing = entry_alloca(b, PTR), entry_alloca(b, I64)
        with memory(w, b, room + elements) as scratch:
            # scratch, then every operand: the states first, the results last
            start = scratch.of(scalar).at(room)
            cursor.set(start)
            changing.set(0)
            with loop(b, 0, operands) as k:
                size = operand_at(b, description, k)[0]
                pointers[k] = cursor.get()
                cursor.set(cursor.get().of(scalar).at(size))
                with b.if_then(k < states):
                    changing.set(changing.get() + size)
            results = start.of(scalar).at(description[Field.INPUT_ELEMENTS])
            self.driver.call(b, description, Field.ONE_CONSTANTS, [pointers])
            table, count = description.of(PTR)[Field.ONE], description[Field.ONE_STEPS]

            def row(k: Any, i: Any, time: Any) -> Any:
                return args.of(PTR)[k] + i * strides[k * 2] + strides[k * 2 + 1] * time

            def size_of(k: Any) -> Any:
                return operand_at(b, description, k)[0]

            with loop(b, 0, n) as i:
                with loop(b, 0, states) as k:
                    b.call(self.copy, [row(k, i, integer(0)), pointers.of(PTR)[k], size_of(k)])
                with loop(b, states, series) as k:
                    pointers[k] = row(k, i, integer(0))
                with loop(b, 0, steps) as time:
                    with loop(b, series, inputs) as k:
                        pointers[k] = row(k, i, time)
                    with loop(b, 0, count) as step:
                        self.driver.step(b, table, step, pointers, scratch)
                    with b.if_then(time % every == 0), loop(b, 0, records) as r:
                        record = plan.of(I64).at(r * RecordPlan.FIELDS + Plan.HEAD)
                        state = record[RecordPlan.STATE]
                        is_result = state < 0
                        of_state = pointers.of(PTR)[b.select(is_result, integer(0), state)]
                        of_result = results.of(scalar).at(record[RecordPlan.START])
                        source = b.select(is_result, of_result, of_state)
                        target = row(inputs + states + r, i, time // every)
                        b.call(self.copy, [source, target, record[RecordPlan.SIZE]])
                    b.call(self.copy, [results, start, changing.get()])
                with loop(b, 0, states) as k:
                    b.call(
                        self.copy, [pointers.of(PTR)[k], row(inputs + k, i, integer(0)), size_of(k)]
                    )
