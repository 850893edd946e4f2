"""Small helpers for writing LLVM IR by hand: loops, addresses, vectors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from kinetree.emit.llvm import Target

I1, I8, I32, I64 = (ir.IntType(n) for n in (1, 8, 32, 64))
PTR = ir.PointerType()
VOID = ir.VoidType()


def integer(value: int) -> ir.Constant:
    """A 64-bit constant; int() because Python 3.10 prints members of enumerations by name."""
    return ir.Constant(I64, int(value))


def function(
    module: ir.Module, name: str, result: ir.Type, arguments: list[ir.Type], internal: bool = False
) -> tuple[ir.Function, ir.IRBuilder]:
    """A function and a builder at its start."""
    made = ir.Function(module, ir.FunctionType(result, arguments), name)
    if internal:
        made.linkage = "internal"
    return made, ir.IRBuilder(made.append_basic_block("entry"))


def external(
    module: ir.Module, name: str, result: ir.Type, arguments: list[ir.Type]
) -> ir.Function:
    """The declaration of a symbol that the runtime provides."""
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(result, arguments), name)
    return found


@contextmanager
def loop(b: ir.IRBuilder, start: Any, stop: Any, step: Any = 1) -> Iterator[Any]:
    """A counting loop: start, start + step, ... below stop."""
    start, stop, step = (integer(x) if isinstance(x, int) else x for x in (start, stop, step))
    counter = entry_alloca(b, I64)
    b.store(start, counter)
    test, body, after = (b.append_basic_block(n) for n in ("test", "body", "after"))
    b.branch(test)
    b.position_at_end(test)
    i = b.load(counter, typ=I64)
    b.cbranch(b.icmp_signed("<", i, stop), body, after)
    b.position_at_end(body)
    yield i
    b.store(b.add(i, step), counter)
    b.branch(test)
    b.position_at_end(after)


def entry_alloca(b: ir.IRBuilder, kind: ir.Type, count: int | None = None) -> Any:
    """Room on the stack, taken once when the function is entered."""
    with b.goto_entry_block():
        return b.alloca(kind, count)


def element(b: ir.IRBuilder, kind: ir.Type, base: Any, index: Any) -> Any:
    """The address of base[index]."""
    return b.gep(base, [integer(index) if isinstance(index, int) else index], source_etype=kind)


def load(b: ir.IRBuilder, kind: ir.Type, base: Any, index: Any = 0) -> Any:
    """base[index]."""
    return b.load(element(b, kind, base, index), typ=kind)


def store(b: ir.IRBuilder, value: Any, base: Any, index: Any) -> None:
    """base[index] = value."""
    b.store(value, element(b, value.type, base, index))


def offset(b: ir.IRBuilder, base: Any, count: Any) -> Any:
    """The address some bytes after another."""
    return b.gep(base, [count], source_etype=I8)


def splat(vector: ir.VectorType, value: float | int) -> ir.Constant:
    return ir.Constant(vector, [value] * vector.count)


class Writer:
    """Functions of one type in a module: their names end with it."""

    def __init__(self, module: ir.Module, target: Target) -> None:
        self.module, self.target = module, target
        self.scalar = ir.DoubleType() if target.type == "double" else ir.FloatType()
        self.item, self.lanes = target.itemsize, target.lanes
        self.vector = ir.VectorType(self.scalar, self.lanes)
        self.vector_size = self.item * self.lanes

    def name(self, what: str) -> str:
        return f"kinetree_{what}_{self.target.type}"

    def public(self, what: str, arguments: list[Any], result: Any = VOID) -> Any:
        """A function that the runtime looks up by name, and a builder at its start."""
        return function(self.module, self.name(what), result, arguments)

    def internal(self, what: str, arguments: list[Any], result: Any = VOID) -> Any:
        """A function for this module alone, and a builder at its start."""
        return function(self.module, self.name(what), result, arguments, internal=True)
