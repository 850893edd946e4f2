"""Calls on fixed memory, as LLVM IR: no argument is checked, nothing is allocated.

    i32 kinetree_run_T(i64 *description, T **pointers)
    PyObject *kinetree_bound_T(PyObject *capsule, PyObject **args, i64 count)

The first computes one state: the pointers lead to its arguments and results, each in C order. It
returns 1 if there is no memory for intermediate results. The second is a Python function that does
the same for pointers fixed in advance, and returns an object fixed in advance. Its capsule holds
the address of a block laid out by `Block`, followed by the pointers.

An *entry* is a function of a kernel's own arguments: C's calling convention, no description.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.description import DIRECT
from kinetree.compiler.native.ir import (
    I8,
    I32,
    I64,
    PTR,
    VOID,
    Builder,
    Writer,
    external,
    function,
    integer,
    loop,
)
from kinetree.compiler.native.layout import Block, Field


def define_run(w: Writer, run_one: ir.Function) -> None:
    """Add both functions to a module that has the driver."""
    b = w.public("run", [PTR, PTR], I32)
    description, pointers = b.arguments
    operands = description[Field.OPERANDS]
    modes = b.alloca(I8, operands)
    with loop(b, 0, operands) as k:
        modes[k] = I8(DIRECT)
    b.ret(b.call(run_one, [description, pointers, modes, description]))
    _define_bound(w, b.function)


def _define_bound(w: Writer, run: ir.Function) -> None:
    b = w.public("bound", [PTR, PTR, I64], PTR)
    capsule = b.arguments[0]
    get_pointer = external(w.module, "PyCapsule_GetPointer", PTR, [PTR, PTR])
    block = b.call(get_pointer, [capsule, ir.Constant(PTR, None)])
    description, answer = (block.of(PTR)[k] for k in (Block.DESCRIPTION, Block.ANSWER))
    status = b.call(run, [description, block.of(PTR).at(Block.HEAD)])
    with b.if_then(status != I32(0), likely=False):
        b.ret(b.call(external(w.module, "PyErr_NoMemory", PTR, []), []))
    b.call(external(w.module, "Py_IncRef", VOID, [PTR]), [answer])
    b.ret(answer)


def define_entry(module: ir.Module, name: str, operands: int, run: int, description: int) -> None:
    """Add a function of pointers to a kernel's arguments and results: i32 name(T *q, ..., T *tau).

    Arguments:
        operands: their number.
        run, description: the addresses of kinetree_run_T and of the kernel's description.
    """
    b = function(module, name, I32, [PTR] * operands)
    pointers = b.alloca(PTR, integer(operands))
    for k, argument in enumerate(b.arguments):
        pointers[k] = argument
    b.ret(_run(b, run, description, pointers))


def define_flat_entry(
    module: ir.Module,
    name: str,
    scalar: ir.Type,
    sizes: list[int],
    run: int,
    description: int,
) -> None:
    """Add a function of all arguments in one array, of a kernel whose result is one number.

    T name(i32 n, T *x): the arguments lie in x one after another. n is not read.

    Arguments:
        scalar: the type T.
        sizes: the elements of each argument.
        run, description: as in `define_entry`.
    """
    b = function(module, name, scalar, [I32, PTR])
    x = b.arguments[1]
    pointers = b.alloca(PTR, integer(len(sizes) + 1))
    result = b.alloca(scalar)
    start = 0
    for k, size in enumerate(sizes):
        pointers[k] = x.of(scalar).at(start)
        start += size
    pointers[len(sizes)] = result
    status = _run(b, run, description, pointers)
    failed = status != I32(0)
    b.ret(b.select(failed, ir.Constant(scalar, float("nan")), result.get(scalar)))


def _run(b: Builder, run: int, description: int, pointers: Any) -> Any:
    kind = ir.FunctionType(I32, [PTR, PTR]).as_pointer()
    called = b.inttoptr(I64(run), kind)
    return b.call(called, [b.inttoptr(I64(description), PTR), pointers])
