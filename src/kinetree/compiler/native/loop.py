"""The driver around a body, as LLVM IR: NumPy's arrays in, lanes of states, NumPy's arrays out.

One driver serves every kernel of a type. Its loop is what NumPy calls,

    void kinetree_loop_T(char **args, i64 *dims, i64 *steps, i64 *description)

and it works on *tiles*, as many states as a vector has lanes (`native.tiles`): rows are read and
transposed so that each element's lanes lie side by side, the body runs, the results are transposed
back (`native.transpose`). No byte outside the arrays is touched: operands whose elements do not lie
in C order, and the last tile of a batch if it is not full, go through packed copies of their rows
(`native.packing`), the last state repeated to fill the lanes. A single state goes to the one-lane
body, if there is one, without copying.

With a thread pool (`native.thread_pool`), a long batch is cut into blocks that the calling thread
and the workers share. The results of a block do not depend on its thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from kinetree.compiler.native.deferred import DeferredStores
from kinetree.compiler.native.description import (
    DEFERRED,
    DIRECT,
    PACKED,
    one_body,
    operand_at,
    read_fields,
    strides_at,
    write_constants,
)
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
from kinetree.compiler.native.layout import MAX_AXES, Field
from kinetree.compiler.native.memory import memory
from kinetree.compiler.native.packing import Packing
from kinetree.compiler.native.thread_pool import share
from kinetree.compiler.native.tiles import TileLoop
from kinetree.compiler.native.transpose import Transposes

STREAM_BYTES = 1 << 23  # results of at least this size are written by deferred stores,
STREAM_COLUMNS = 128  # if a state has at least this many elements
FLOAT_EXCEPTIONS = 0x1F  # invalid, zero divide, overflow and underflow of every platform's fenv.h


class Driver:
    """The functions that run bodies of one type, defined in a module."""

    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.transposes = Transposes(writer)
        deferred = DeferredStores(writer, self.transposes)
        packing = Packing(writer)
        self.run_one = OneState(writer, packing).define()
        self.run_tiles = TileLoop(writer, self.transposes, deferred, packing).define()
        self.run_batch = self._define_run_batch()
        self._define_loop()

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
        # without this, NumPy would warn of NaNs in batches, but not for single states
        b.call(external(self.w.module, "feclearexcept", I32, [I32]), [I32(FLOAT_EXCEPTIONS)])
        b.ret_void()

    def _raise_no_memory(self, b: Builder) -> None:
        """Set Python's MemoryError; NumPy has released the interpreter lock."""
        lock = b.call(external(self.w.module, "PyGILState_Ensure", I32, []), [])
        b.call(external(self.w.module, "PyErr_NoMemory", PTR, []), [])
        b.call(external(self.w.module, "PyGILState_Release", VOID, [I32]), [lock])

    def _find_modes(
        self, b: Builder, description: Any, core_steps: Any, n: Any, modes: Any, strides: Any
    ) -> None:
        """Lay out each operand's strides, zeros in front, and choose its mode.

        Arguments:
            core_steps: the concatenated strides of all operands, as NumPy passes them.
        """
        operands = description[Field.OPERANDS]
        cursor = entry_alloca(b, PTR)
        c_stride = entry_alloca(b, I64)  # the stride that an axis has in C order
        cursor.set(core_steps)
        with loop(b, 0, operands) as k:
            operand, laid_out = operand_at(description, k), strides_at(strides, k)
            axes = operand[1]
            numpy_strides = cursor.get()
            cursor.set(numpy_strides.of(I64).at(axes))
            c_stride.set(self.w.item)
            self._find_mode_by_size(b, operand, n, modes, k)
            for axis in reversed(range(MAX_AXES)):
                length = operand[2 + axis]
                laid_out[axis] = 0
                position = axes - MAX_AXES + axis
                with b.if_then(position >= 0):
                    stride = numpy_strides[position]
                    laid_out[axis] = stride
                    expected = c_stride.get()
                    with b.if_then((stride != expected) & (length != 1)):
                        modes[k] = I8(PACKED)
                    c_stride.set(expected * length)

    def _find_mode_by_size(self, b: Builder, operand: Any, n: Any, modes: Any, k: Any) -> None:
        """The mode of an operand in C order: large results use deferred stores."""
        size = operand[0]
        large = n * size * self.w.item >= STREAM_BYTES
        deferred = large & (size >= STREAM_COLUMNS)
        modes[k] = b.select(deferred, I8(DEFERRED), I8(DIRECT))


class OneState:
    """Writes the function that runs the one-lane body on one state.

        i32 one(description, args, modes, strides)

    Returns 0, or 1 if there was no memory.

    args: the address of each operand.
    modes: how each operand is moved, DIRECT or PACKED.
    strides: for each operand, its MAX_AXES strides.
    """

    def __init__(self, writer: Writer, packing: Packing) -> None:
        self.w, self.packing = writer, packing
        self.b = writer.internal("one", [PTR, PTR, PTR, PTR], I32)
        self.description, self.args, self.modes, self.strides = self.b.arguments

    def define(self) -> ir.Function:
        """Write the function."""
        b, scalar = self.b, self.w.scalar
        self.inputs, self.operands, scratch_size, elements = read_fields(
            self.description, Field.INPUTS, Field.OPERANDS, Field.ONE_SCRATCH, Field.ELEMENTS
        )
        self.pointers = b.alloca(PTR, self.operands)
        self.cursor = entry_alloca(b, PTR)
        with memory(self.w, b, scratch_size + elements) as scratch:
            self.cursor.set(scratch.of(scalar).at(scratch_size))
            self._find_operands()
            write_constants(b, self.description, Field.ONE_CONSTANTS, self.pointers)
            one_body(b, self.description).run(self.pointers, scratch)
            self._unpack_results()
        return b.function

    def _find_operands(self) -> None:
        """Point the body to the operands, or to packed copies of them."""
        b = self.b
        with loop(b, 0, self.operands) as k:
            place = self.args.of(PTR)[k]
            self.pointers[k] = place
            with self._if_packed(k):
                row = self.cursor.get()
                self.pointers[k] = row
                operand = operand_at(self.description, k)
                self.cursor.set(row.of(self.w.scalar).at(operand[0]))
                with b.if_then(k < self.inputs):
                    b.call(self.packing.pack, [place, row, operand, strides_at(self.strides, k)])

    def _unpack_results(self) -> None:
        b = self.b
        with loop(b, self.inputs, self.operands) as k, self._if_packed(k):
            place, row = self.args.of(PTR)[k], self.pointers.of(PTR)[k]
            operand = operand_at(self.description, k)
            b.call(self.packing.unpack, [place, row, operand, strides_at(self.strides, k)])

    @contextmanager
    def _if_packed(self, k: Any) -> Iterator[None]:
        mode = self.modes.of(I8)[k]
        with self.b.if_then(mode == I8(PACKED)):
            yield
