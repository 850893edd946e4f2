"""Writing LLVM IR by hand: values with operators, loops, functions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from llvmlite import ir

from kinetree.compiler.emit.llvm import Target

I1, I8, I32, I64 = (ir.IntType(n) for n in (1, 8, 32, 64))
PTR = ir.PointerType()
VOID = ir.VoidType()


def integer(value: int) -> ir.Constant:
    """A 64-bit constant; int() because Python 3.10 prints members of enumerations by name."""
    return ir.Constant(I64, int(value))


class Value:
    """A number, a vector or an address of the code that is being written, with operators.

    Comparisons are signed; // and % are unsigned. A Python integer next to a value is a constant of
    its type. Adding to an address counts bytes.

    An address is also an array: p[k] is its k-th 64-bit integer, p.of(kind)[k] its k-th element of
    another type. In p[k] = value the type is the value's.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, b: Builder, raw: ir.Value) -> None:
        self.b, self.raw = b, raw

    @property
    def type(self) -> ir.Type:
        return self.raw.type

    def __add__(self, other: Any) -> Value:
        if isinstance(self.type, ir.PointerType):
            return self.b.gep(self, [_constant(I64, other)], source_etype=I8)
        return self.b.add(self, self._like(other))

    def __radd__(self, other: Any) -> Value:
        return self.b.add(self._like(other), self)

    def __sub__(self, other: Any) -> Value:
        return self.b.sub(self, self._like(other))

    def __rsub__(self, other: Any) -> Value:
        return self.b.sub(self._like(other), self)

    def __mul__(self, other: Any) -> Value:
        return self.b.mul(self, self._like(other))

    def __floordiv__(self, other: Any) -> Value:
        return self.b.udiv(self, self._like(other))

    def __rfloordiv__(self, other: Any) -> Value:
        return self.b.udiv(self._like(other), self)

    def __mod__(self, other: Any) -> Value:
        return self.b.urem(self, self._like(other))

    def __and__(self, other: Any) -> Value:
        return self.b.and_(self, self._like(other))

    def __or__(self, other: Any) -> Value:
        return self.b.or_(self, self._like(other))

    def __neg__(self) -> Value:
        return self.b.sub(self._like(0), self)

    def __lt__(self, other: Any) -> Value:
        return self.b.icmp_signed("<", self, self._like(other))

    def __le__(self, other: Any) -> Value:
        return self.b.icmp_signed("<=", self, self._like(other))

    def __gt__(self, other: Any) -> Value:
        return self.b.icmp_signed(">", self, self._like(other))

    def __ge__(self, other: Any) -> Value:
        return self.b.icmp_signed(">=", self, self._like(other))

    def __eq__(self, other: Any) -> Value:  # type: ignore[override]
        return self.b.icmp_signed("==", self, self._like(other))

    def __ne__(self, other: Any) -> Value:  # type: ignore[override]
        return self.b.icmp_signed("!=", self, self._like(other))

    def __bool__(self) -> bool:
        raise TypeError("a value of generated code has no truth value: use b.select or b.if_then")

    def of(self, kind: ir.Type) -> Elements:
        """The memory at this address, as an array of a type."""
        return Elements(self, kind)

    def __getitem__(self, index: Any) -> Value:
        return self.of(I64)[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        kept = _constant(I64, value)
        self.of(kept.type)[index] = kept

    def get(self, kind: ir.Type | None = None) -> Value:
        """The value at this address; the type may be omitted for a variable on the stack."""
        return self.b.load(self, typ=kind or self.raw.allocated_type)

    def set(self, value: Any) -> None:
        """Store a value at this address; a Python integer has 64 bits."""
        self.b.store(_constant(I64, value), self)

    @property
    def address(self) -> Value:
        """An address as an integer."""
        return self.b.ptrtoint(self, I64)

    def _like(self, other: Any) -> Any:
        return _constant(self.type, other)


class Elements:
    """The memory at an address, as an array of a type."""

    def __init__(self, start: Value, kind: ir.Type) -> None:
        self.start, self.kind = start, kind

    def at(self, index: Any) -> Value:
        """The address of an element."""
        return self.start.b.gep(self.start, [_constant(I64, index)], source_etype=self.kind)

    def __getitem__(self, index: Any) -> Value:
        return self.start.b.load(self.at(index), typ=self.kind)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.start.b.store(value, self.at(index))


class Builder(ir.IRBuilder):  # type: ignore[misc]
    """LLVM's builder; its methods take and return values with operators."""

    @property
    def arguments(self) -> list[Value]:
        """The arguments of the function."""
        return [Value(self, argument) for argument in self.function.args]


def _with_values(method: Any) -> Any:
    @wraps(method)
    def call(self: Builder, *args: Any, **options: Any) -> Any:
        result = method(self, *map(_raw, args), **options)
        if isinstance(result, ir.Value) and isinstance(result.type, OPERANDS):
            return Value(self, result)
        return result

    return call


def _raw(x: Any) -> Any:
    """The llvmlite value inside a value, also within a list of arguments."""
    if isinstance(x, (list, tuple)):
        return [_raw(item) for item in x]
    return x.raw if isinstance(x, Value) else x


def _constant(kind: ir.Type, x: Any) -> Any:
    """A Python integer as a constant of a type; int() as in `integer`."""
    return ir.Constant(kind, int(x)) if isinstance(x, int) else x


OPERANDS = (ir.IntType, ir.PointerType, ir.VectorType, ir.FloatType, ir.DoubleType)
"""The types of values that instructions compute with; labels are not among them."""
for _name, _method in vars(ir.IRBuilder).items():
    if inspect.isfunction(_method) and not _name.startswith("_"):
        setattr(Builder, _name, _with_values(_method))


def function(
    module: ir.Module, name: str, result: ir.Type, arguments: list[ir.Type], internal: bool = False
) -> Builder:
    """A builder at the start of a new function."""
    made = ir.Function(module, ir.FunctionType(result, arguments), name)
    if internal:
        made.linkage = "internal"
    return Builder(made.append_basic_block("entry"))


def external(
    module: ir.Module, name: str, result: ir.Type, arguments: list[ir.Type]
) -> ir.Function:
    """The declaration of a symbol that the runtime provides."""
    declared = module.globals.get(name)
    if declared is None:
        declared = ir.Function(module, ir.FunctionType(result, arguments), name)
    return declared


@contextmanager
def loop(b: Builder, start: Any, stop: Any, step: Any = 1) -> Iterator[Value]:
    """A counting loop: start, start + step, ... below stop."""
    counter = entry_alloca(b, I64)
    counter.set(start)
    test, body, after = (b.append_basic_block(n) for n in ("test", "body", "after"))
    b.branch(test)
    b.position_at_end(test)
    i = counter.get()
    b.cbranch(i < stop, body, after)
    b.position_at_end(body)
    yield i
    counter.set(i + step)
    b.branch(test)
    b.position_at_end(after)


def entry_alloca(b: Builder, kind: ir.Type, count: int | None = None) -> Value:
    """A variable on the stack (or an array), allocated when the function is entered."""
    with b.goto_entry_block():
        return b.alloca(kind, count)


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

    def public(self, what: str, arguments: list[Any], result: Any = VOID) -> Builder:
        """A builder at the start of a function that the runtime looks up by name."""
        return function(self.module, self.name(what), result, arguments)

    def internal(self, what: str, arguments: list[Any], result: Any = VOID) -> Builder:
        """A builder at the start of a function for this module alone."""
        return function(self.module, self.name(what), result, arguments, internal=True)
