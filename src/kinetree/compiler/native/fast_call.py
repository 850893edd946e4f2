"""Calling a kernel on one state, as LLVM IR: a Python function that skips NumPy's machinery.

    PyObject *kinetree_call_T(PyObject *capsule, PyObject **args, i64 count)

takes plain arrays of one state's shapes, or of a batch of one, and gives new arrays. Anything else
gives NotImplemented: NumPy's own loop sees to it. The capsule holds the kernel's description.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.description import DIRECT, operand_at
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

# where an object keeps its type and an array its fields, in bytes, as compiled extensions see them
_HEADER = object.__basicsize__
OBJECT_TYPE = integer(_HEADER - 8)
ARRAY_DATA, ARRAY_AXES, ARRAY_LENGTHS = (integer(_HEADER + 8 * k) for k in (0, 1, 2))
ARRAY_DTYPE, ARRAY_FLAGS = (integer(_HEADER + 8 * k) for k in (5, 6))
PLAIN_FLAGS = 0x0101  # in C order, aligned


def define_call(w: Writer, run_one: ir.Function) -> None:
    """Add the function to a module that has the driver."""
    b = w.public("call", [PTR, PTR, I64], PTR)
    capsule, arguments, count = b.arguments
    get_pointer = external(w.module, "PyCapsule_GetPointer", PTR, [PTR, PTR])
    description = b.call(get_pointer, [capsule, ir.Constant(PTR, None)])
    inputs, operands = (description[k] for k in (Field.INPUTS, Field.OPERANDS))
    refuse = b.append_basic_block("refuse")

    def unless(condition: Any) -> None:
        go_on = b.append_basic_block("go_on")
        b.cbranch(condition, go_on, refuse)
        b.position_at_end(go_on)

    unless(count == inputs)
    pointers = b.alloca(PTR, operands)
    modes = b.alloca(I8, operands)
    batch_axes = entry_alloca(b, I64)  # of a batch of one: as many as the argument with most has
    batch_axes.set(0)
    with loop(b, 0, inputs) as k:
        array = arguments.of(PTR)[k]
        operand = operand_at(description, k)
        unless(_is_plain(b, array, description))
        axes = b.sext((array + ARRAY_AXES).get(I32), I64)
        unless(_is_one_state(b, array, axes, operand))
        more, most = axes - operand[1], batch_axes.get()
        batch_axes.set(b.select(more > most, more, most))
        pointers[k] = (array + ARRAY_DATA).get(PTR)
        modes[k] = I8(DIRECT)
    with loop(b, inputs, operands) as k:  # results with more axes than are described are rare
        axes = operand_at(description, k)[1] + batch_axes.get()
        unless(axes <= MAX_AXES)
    # one result is given as it is, several in a tuple
    count = operands - inputs
    several = count > 1
    answer = entry_alloca(b, PTR)
    with b.if_then(several):
        answer.set(b.call(external(w.module, "PyTuple_New", PTR, [I64]), [count]))
        _return_if_null(b, answer.get())
    release = external(w.module, "Py_DecRef", VOID, [PTR])
    leading = batch_axes.get()
    with loop(b, inputs, operands) as k:
        array = _new_array(w, b, description, operand_at(description, k), leading)
        with b.if_then(several & _is_null(b, array), likely=False):
            b.call(release, [answer.get()])
        _return_if_null(b, array)
        pointers[k] = (array + ARRAY_DATA).get(PTR)
        modes[k] = I8(DIRECT)
        with b.if_else(several) as (put, keep):
            with put:
                enter = external(w.module, "PyTuple_SetItem", I32, [PTR, I64, PTR])
                b.call(enter, [answer.get(), k - inputs, array])
            with keep:
                answer.set(array)
    status = b.call(run_one, [description, pointers, modes, description])
    with b.if_then(status != I32(0), likely=False):
        b.call(release, [answer.get()])
        b.ret(b.call(external(w.module, "PyErr_NoMemory", PTR, []), []))
    b.ret(answer.get())
    b.position_at_end(refuse)
    refusal = description.of(PTR)[Field.NOT_IMPLEMENTED]
    b.call(external(w.module, "Py_IncRef", VOID, [PTR]), [refusal])
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
    """A new array for one state of an operand, so many axes of length one before its own."""
    dtype = description.of(PTR)[Field.DTYPE]
    b.call(external(w.module, "Py_IncRef", VOID, [PTR]), [dtype])  # the maker takes it
    kind = description.of(PTR)[Field.ARRAY_TYPE]
    axes = operand[1] + leading
    lengths = operand.of(I64).at(2 + MAX_AXES - axes)
    nothing = ir.Constant(PTR, None)
    arguments = [kind, dtype, b.trunc(axes, I32), lengths, nothing, nothing, I32(0), nothing]
    types = [PTR, PTR, I32, PTR, PTR, PTR, I32, PTR]
    make = external(w.module, "kinetree_new_array", PTR, types)
    return b.call(make, arguments)
