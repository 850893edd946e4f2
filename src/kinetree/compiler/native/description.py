"""A kernel's description as generated code reads it: its operands, and the steps of its bodies.

A description is an array of 64-bit integers, laid out by `Field`, and then `OPERAND_FIELDS` numbers
for each operand. A *body* is a compiled program: a table of functions, its *steps*, which are
called in order.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.ir import I64, PTR, VOID, Builder, Value, loop
from kinetree.compiler.native.layout import MAX_AXES, OPERAND_FIELDS, Field

# the modes of moving an operand between its array and the body
DIRECT = 0  # straight from or to its rows
PACKED = 1  # through packed copies of its rows: its elements do not lie in C order
DEFERRED = 2  # by non-temporal stores, while the next tile is computed


def operand_at(description: Value, k: Any) -> Value:
    """The fields of operand k."""
    at = Field.HEAD + k * OPERAND_FIELDS
    return description.of(I64).at(at)


def size_of(description: Value, k: Any) -> Value:
    """The number of elements of one state of operand k."""
    return operand_at(description, k)[0]


def strides_at(strides: Value, k: Any) -> Value:
    """The strides of operand k."""
    return strides.of(I64).at(k * MAX_AXES)


def read_fields(integers: Value, *fields: int) -> list[Value]:
    """Several fields of an array of 64-bit integers, read in this order."""
    return [integers[field] for field in fields]


class Body:
    """One of a kernel's bodies: that for a tile, or that for one state.

    Arguments:
        table: the field with the address of its table of steps.
        steps: the field with the number of steps.
    """

    def __init__(self, b: Builder, description: Value, table: Field, steps: Field) -> None:
        self.b = b
        self.table, self.steps = description.of(PTR)[table], description[steps]

    def run(self, pointers: Any, scratch: Any) -> None:
        """Call all steps."""
        with loop(self.b, 0, self.steps) as k:
            self.step(k, pointers, scratch)

    def step(self, k: Any, pointers: Any, scratch: Any) -> None:
        """Call step k."""
        kind = ir.FunctionType(VOID, [PTR, PTR]).as_pointer()
        self.b.call(self.table.of(PTR).at(k).get(kind), [pointers, scratch])


def wide_body(b: Builder, description: Value) -> Body:
    """The body that computes a tile."""
    return Body(b, description, Field.WIDE, Field.WIDE_STEPS)


def one_body(b: Builder, description: Value) -> Body:
    """The body that computes one state."""
    return Body(b, description, Field.ONE, Field.ONE_STEPS)


def write_constants(b: Builder, description: Value, function: Field, pointers: Any) -> None:
    """Write the constant results, by the function of that field."""
    kind = ir.FunctionType(VOID, [PTR]).as_pointer()
    b.call(description.of(PTR).at(function).get(kind), [pointers])
