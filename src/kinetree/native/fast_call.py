"""Calling a kernel on one state, as LLVM IR: a Python function that skips NumPy's machinery.

    PyObject *kinetree_call_T(PyObject *capsule, PyObject **args, i64 count)

takes plain arrays of one state's shapes, or of a batch of one, and gives new arrays. Anything else
gives NotImplemented: NumPy's own loop sees to it. The capsule holds the kernel's description.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.native.ir import (
    I1,
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
from kinetree.native.layout import MAX_AXES, Field
from kinetree.native.loop import DIRECT, operand_at

# where an object keeps its type and an array its fields, in bytes, as compiled extensions see them
_HEADER = object.__basicsize__
OBJECT_TYPE = integer(_HEADER - 8)
ARRAY_DATA, ARRAY_AXES, ARRAY_LENGTHS = (integer(_HEADER + 8 * k) for k in (0, 1, 2))
ARRAY_DTYPE, ARRAY_FLAGS = (integer(_HEADER + 8 * k) for k in (5, 6))
PLAIN_FLAGS = 0x0101  # in C order, aligned


def define_call(w: Writer, run_one: ir.Function) -> None:
    """Add the function to a module that has the driver."""
    f, b = w.public("call", [PTR, PTR, I64], PTR)
    capsule, arguments, count = f.args
    get_pointer = external(w.module, "PyCapsule_GetPointer", PTR, [PTR, PTR])
    description = b.call(get_pointer, [capsule, ir.Constant(PTR, None)])
    inputs, operands = (load(b, I64, description, k) for k in (Field.INPUTS, Field.OPERANDS))
    refuse = b.append_basic_block("refuse")

    def unless(condition: Any) -> None:
        go_on = b.append_basic_block("go_on")
        b.cbranch(condition, go_on, refuse)
        b.position_at_end(go_on)

    unless(b.icmp_signed("==", count, inputs))
    pointers = b.alloca(PTR, operands)
    modes = b.alloca(I8, operands)
    batch_axes = entry_alloca(b, I64)  # of a batch of one: as many as the argument with most has
    b.store(integer(0), batch_axes)
    with loop(b, 0, inputs) as k:
        array = load(b, PTR, arguments, k)
        operand = operand_at(b, description, k)
        unless(_is_plain(b, array, description))
        axes = b.sext(b.load(offset(b, array, ARRAY_AXES), typ=I32), I64)
        unless(_is_one_state(b, array, axes, operand))
        more, most = b.sub(axes, load(b, I64, operand, 1)), b.load(batch_axes, typ=I64)
        b.store(b.select(b.icmp_signed(">", more, most), more, most), batch_axes)
        store(b, b.load(offset(b, array, ARRAY_DATA), typ=PTR), pointers, k)
        store(b, I8(DIRECT), modes, k)
    with loop(b, inputs, operands) as k:  # results with more axes than are described are rare
        axes = b.add(load(b, I64, operand_at(b, description, k), 1), b.load(batch_axes, typ=I64))
        unless(b.icmp_signed("<=", axes, integer(MAX_AXES)))
    # one result is given as it is, several in a tuple
    count = b.sub(operands, inputs)
    several = b.icmp_signed(">", count, integer(1))
    answer = entry_alloca(b, PTR)
    with b.if_then(several):
        b.store(b.call(external(w.module, "PyTuple_New", PTR, [I64]), [count]), answer)
        _return_if_null(b, b.load(answer, typ=PTR))
    release = external(w.module, "Py_DecRef", VOID, [PTR])
    leading = b.load(batch_axes, typ=I64)
    with loop(b, inputs, operands) as k:
        array = _new_array(w, b, description, operand_at(b, description, k), leading)
        with b.if_then(b.and_(several, _is_null(b, array)), likely=False):
            b.call(release, [b.load(answer, typ=PTR)])
        _return_if_null(b, array)
        store(b, b.load(offset(b, array, ARRAY_DATA), typ=PTR), pointers, k)
        store(b, I8(DIRECT), modes, k)
        with b.if_else(several) as (put, keep):
            with put:
                enter = external(w.module, "PyTuple_SetItem", I32, [PTR, I64, PTR])
                b.call(enter, [b.load(answer, typ=PTR), b.sub(k, inputs), array])
            with keep:
                b.store(array, answer)
    status = b.call(run_one, [description, pointers, modes, description])
    with b.if_then(b.icmp_signed("!=", status, I32(0)), likely=False):
        b.call(release, [b.load(answer, typ=PTR)])
        b.ret(b.call(external(w.module, "PyErr_NoMemory", PTR, []), []))
    b.ret(b.load(answer, typ=PTR))
    b.position_at_end(refuse)
    refusal = b.load(element(b, I64, description, Field.NOT_IMPLEMENTED), typ=PTR)
    b.call(external(w.module, "Py_IncRef", VOID, [PTR]), [refusal])
    b.ret(refusal)


def _is_null(b: ir.IRBuilder, pointer: Any) -> Any:
    return b.icmp_unsigned("==", b.ptrtoint(pointer, I64), integer(0))


def _return_if_null(b: ir.IRBuilder, pointer: Any) -> None:
    with b.if_then(_is_null(b, pointer), likely=False):
        b.ret(pointer)


def _is_plain(b: ir.IRBuilder, array: Any, description: Any) -> Any:
    """Whether an object is an aligned array in C order of this type."""
    verdict = entry_alloca(b, I1)
    b.store(I1(0), verdict)
    kind = b.load(offset(b, array, OBJECT_TYPE), typ=I64)
    with b.if_then(b.icmp_signed("==", kind, load(b, I64, description, Field.ARRAY_TYPE))):
        dtype = b.load(offset(b, array, ARRAY_DTYPE), typ=I64)
        flags = b.load(offset(b, array, ARRAY_FLAGS), typ=I32)
        good = b.icmp_signed("==", dtype, load(b, I64, description, Field.DTYPE))
        wanted = b.and_(flags, I32(PLAIN_FLAGS))
        b.store(b.and_(good, b.icmp_signed("==", wanted, I32(PLAIN_FLAGS))), verdict)
    return b.load(verdict, typ=I1)


def _is_one_state(b: ir.IRBuilder, array: Any, axes: Any, operand: Any) -> Any:
    """Whether an array has one state's shape, axes of length one before it allowed.

    An operand's lengths have ones in front, up to MAX_AXES in all.
    """
    verdict = entry_alloca(b, I1)
    enough = b.icmp_signed(">=", axes, load(b, I64, operand, 1))
    b.store(b.and_(enough, b.icmp_signed("<=", axes, integer(MAX_AXES))), verdict)
    with b.if_then(b.load(verdict, typ=I1)):
        lengths = b.load(offset(b, array, ARRAY_LENGTHS), typ=PTR)
        wanted_lengths = element(b, I64, operand, b.sub(integer(2 + MAX_AXES), axes))
        with loop(b, 0, axes) as axis:
            length, expected = load(b, I64, lengths, axis), load(b, I64, wanted_lengths, axis)
            with b.if_then(b.icmp_signed("!=", length, expected)):
                b.store(I1(0), verdict)
    return b.load(verdict, typ=I1)


def _new_array(w: Writer, b: ir.IRBuilder, description: Any, operand: Any, leading: Any) -> Any:
    """A new array for one state of an operand, so many axes of length one before its own."""
    dtype = b.load(element(b, I64, description, Field.DTYPE), typ=PTR)
    b.call(external(w.module, "Py_IncRef", VOID, [PTR]), [dtype])  # the maker takes it
    kind = b.load(element(b, I64, description, Field.ARRAY_TYPE), typ=PTR)
    axes = b.add(load(b, I64, operand, 1), leading)
    lengths = element(b, I64, operand, b.sub(integer(2 + MAX_AXES), axes))
    nothing = ir.Constant(PTR, None)
    arguments = [kind, dtype, b.trunc(axes, I32), lengths, nothing, nothing, I32(0), nothing]
    types = [PTR, PTR, I32, PTR, PTR, PTR, I32, PTR]
    make = external(w.module, "kinetree_new_array", PTR, types)
    return b.call(make, arguments)
