"""Calling a kernel on one state, as LLVM IR: a Python function that skips NumPy's machinery.

    PyObject *kinetree_call_T(PyObject *capsule, PyObject **args, i64 count)

takes plain arrays of one state's shapes, or of a batch of one, and returns new arrays. For anything
else it returns NotImplemented, and the caller falls back to NumPy's loop. The capsule holds the
kernel's description.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.description import DIRECT, operand_at, read_fields
from kinetree.compiler.native.ir import (
    I1,
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

# byte offsets of an object's type and of an array's fields, as compiled extensions see them
_HEADER = object.__basicsize__
OBJECT_TYPE = integer(_HEADER - 8)
ARRAY_DATA, ARRAY_AXES, ARRAY_LENGTHS = (integer(_HEADER + 8 * k) for k in (0, 1, 2))
ARRAY_DTYPE, ARRAY_FLAGS = (integer(_HEADER + 8 * k) for k in (5, 6))
PLAIN_FLAGS = 0x0101  # in C order, aligned


def define_call(w: Writer, run_one: ir.Function) -> None:
    """Add the function to a module that has the driver."""
    _Call(w).define(run_one)


class _Call:
    """Writes the function."""

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.b = b = w.public("call", [PTR, PTR, I64], PTR)
        capsule, self.arguments, self.count = b.arguments
        get_pointer = external(w.module, "PyCapsule_GetPointer", PTR, [PTR, PTR])
        self.description = b.call(get_pointer, [capsule, ir.Constant(PTR, None)])
        self.inputs, self.operands = read_fields(self.description, Field.INPUTS, Field.OPERANDS)
        self.refuse = b.append_basic_block("refuse")

    def define(self, run_one: ir.Function) -> None:
        """Check the arguments, make arrays for the results, run the body."""
        b = self.b
        self._require(self.count == self.inputs)
        self.pointers = b.alloca(PTR, self.operands)
        self.modes = b.alloca(I8, self.operands)
        self._take_arguments()
        self._require_room_for_axes()
        self._make_answer()
        self._make_results()
        status = b.call(run_one, [self.description, self.pointers, self.modes, self.description])
        with b.if_then(status != I32(0), likely=False):
            b.call(self.release, [self.answer.get()])
            b.ret(b.call(external(self.w.module, "PyErr_NoMemory", PTR, []), []))
        b.ret(self.answer.get())
        self._return_not_implemented()

    def _require(self, condition: Any) -> None:
        """Refuse the call unless a condition holds."""
        go_on = self.b.append_basic_block("go_on")
        self.b.cbranch(condition, go_on, self.refuse)
        self.b.position_at_end(go_on)

    def _take_arguments(self) -> None:
        """Find the addresses of the arguments, and the number of leading axes of length one."""
        b = self.b
        self.batch_axes = entry_alloca(b, I64)  # the largest number of any argument
        self.batch_axes.set(0)
        with loop(b, 0, self.inputs) as k:
            array = self.arguments.of(PTR)[k]
            operand = operand_at(self.description, k)
            self._require(_is_plain(b, array, self.description))
            axes = b.sext((array + ARRAY_AXES).get(I32), I64)
            self._require(_is_one_state(b, array, axes, operand))
            more, most = axes - operand[1], self.batch_axes.get()
            self.batch_axes.set(b.select(more > most, more, most))
            self._move_directly(k, array)

    def _move_directly(self, k: Any, array: Any) -> None:
        self.pointers[k] = (array + ARRAY_DATA).get(PTR)
        self.modes[k] = I8(DIRECT)

    def _require_room_for_axes(self) -> None:
        """Refuse results with more axes than a description has room for; they are rare."""
        with loop(self.b, self.inputs, self.operands) as k:
            axes = operand_at(self.description, k)[1] + self.batch_axes.get()
            self._require(axes <= MAX_AXES)

    def _make_answer(self) -> None:
        """The object to be returned: a single result, or a tuple of several."""
        b = self.b
        count = self.operands - self.inputs
        self.several = count > 1
        self.answer = entry_alloca(b, PTR)
        with b.if_then(self.several):
            new_tuple = external(self.w.module, "PyTuple_New", PTR, [I64])
            self.answer.set(b.call(new_tuple, [count]))
            _return_if_null(b, self.answer.get())

    def _make_results(self) -> None:
        b, w = self.b, self.w
        self.release = external(w.module, "Py_DecRef", VOID, [PTR])
        leading = self.batch_axes.get()
        with loop(b, self.inputs, self.operands) as k:
            array = _new_array(w, b, self.description, operand_at(self.description, k), leading)
            with b.if_then(self.several & _is_null(b, array), likely=False):
                b.call(self.release, [self.answer.get()])
            _return_if_null(b, array)
            self._move_directly(k, array)
            with b.if_else(self.several) as (enter, keep):
                with enter:
                    set_item = external(w.module, "PyTuple_SetItem", I32, [PTR, I64, PTR])
                    b.call(set_item, [self.answer.get(), k - self.inputs, array])
                with keep:
                    self.answer.set(array)

    def _return_not_implemented(self) -> None:
        b = self.b
        b.position_at_end(self.refuse)
        refusal = self.description.of(PTR)[Field.NOT_IMPLEMENTED]
        b.call(external(self.w.module, "Py_IncRef", VOID, [PTR]), [refusal])
        b.ret(refusal)


def _is_null(b: Builder, pointer: Any) -> Any:
    return pointer.address == 0


def _return_if_null(b: Builder, pointer: Any) -> None:
    with b.if_then(_is_null(b, pointer), likely=False):
        b.ret(pointer)


def _is_plain(b: Builder, array: Any, description: Any) -> Any:
    """Whether an object is an aligned array in C order of this type."""
    verdict = entry_alloca(b, I1)
    verdict.set(I1(0))
    kind = (array + OBJECT_TYPE).get(I64)
    with b.if_then(kind == description[Field.ARRAY_TYPE]):
        dtype = (array + ARRAY_DTYPE).get(I64)
        flags = (array + ARRAY_FLAGS).get(I32)
        good = dtype == description[Field.DTYPE]
        wanted = flags & I32(PLAIN_FLAGS)
        verdict.set(good & (wanted == I32(PLAIN_FLAGS)))
    return verdict.get()


def _is_one_state(b: Builder, array: Any, axes: Any, operand: Any) -> Any:
    """Whether an array has one state's shape, axes of length one before it allowed.

    An operand's lengths have ones in front, up to MAX_AXES in all.
    """
    verdict = entry_alloca(b, I1)
    enough = axes >= operand[1]
    verdict.set(enough & (axes <= MAX_AXES))
    with b.if_then(verdict.get()):
        lengths = (array + ARRAY_LENGTHS).get(PTR)
        wanted_lengths = operand.of(I64).at(2 + MAX_AXES - axes)
        with loop(b, 0, axes) as axis:
            length, expected = lengths[axis], wanted_lengths[axis]
            with b.if_then(length != expected):
                verdict.set(I1(0))
    return verdict.get()


def _new_array(w: Writer, b: Builder, description: Any, operand: Any, leading: Any) -> Any:
    """A new array for one state of an operand, with `leading` axes of length one in front."""
    dtype = description.of(PTR)[Field.DTYPE]
    b.call(external(w.module, "Py_IncRef", VOID, [PTR]), [dtype])  # the maker steals it
    kind = description.of(PTR)[Field.ARRAY_TYPE]
    axes = operand[1] + leading
    lengths = operand.of(I64).at(2 + MAX_AXES - axes)
    nothing = ir.Constant(PTR, None)
    arguments = [kind, dtype, b.trunc(axes, I32), lengths, nothing, nothing, I32(0), nothing]
    types = [PTR, PTR, I32, PTR, PTR, PTR, I32, PTR]
    make = external(w.module, "kinetree_new_array", PTR, types)
    return b.call(make, arguments)
