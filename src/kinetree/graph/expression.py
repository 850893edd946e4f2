"""Traced scalars: hash-consed nodes that record what is done to them.

A `Trace` owns a table of nodes in which no two are the same operation on the same arguments, so
common subexpressions are shared as they are written. Nodes are numbered as they are made:
arguments always come before their users.

A number stays a Python float for as long as it meets no expression: what folds to a constant costs
no node. It becomes a node, `const`, when it is the argument of one.
"""

from __future__ import annotations

import math
from typing import Any

from kinetree import scalar
from kinetree.errors import TraceError
from kinetree.graph import fold

Traced = Any
"""An Expression, or a float where the result is known."""


class Expression:
    """A scalar whose value is not known yet: one node of a trace."""

    __slots__ = ("args", "number", "op", "trace", "value")

    def __init__(
        self, trace: Trace, number: int, op: str, args: tuple[Expression, ...], value: Any
    ) -> None:
        self.trace = trace
        self.number = number
        self.op = op
        self.args = args
        self.value = value

    __array_ufunc__ = None  # NumPy numbers leave arithmetic with expressions to us

    def __add__(self, other: Any) -> Traced:
        return fold.add(self.trace, self, self.trace.operand(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Traced:
        return fold.sub(self.trace, self, self.trace.operand(other))

    def __rsub__(self, other: Any) -> Traced:
        return fold.sub(self.trace, self.trace.operand(other), self)

    def __mul__(self, other: Any) -> Traced:
        return fold.mul(self.trace, self, self.trace.operand(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Traced:
        return fold.div(self.trace, self, self.trace.operand(other))

    def __rtruediv__(self, other: Any) -> Traced:
        return fold.div(self.trace, self.trace.operand(other), self)

    def __neg__(self) -> Traced:
        return fold.neg(self.trace, self)

    def __pos__(self) -> Expression:
        return self

    def __pow__(self, exponent: Any) -> Traced:
        if exponent == 2:
            return self * self
        raise TraceError(f"a traced scalar to the power {exponent!r}: write it as products")

    def __abs__(self) -> Traced:
        return scalar.absolute(self)

    def __lt__(self, other: Any) -> Traced:
        return scalar.less(self, other)

    def __gt__(self, other: Any) -> Traced:
        return scalar.less(other, self)

    def __le__(self, other: Any) -> Traced:
        return scalar.less_equal(self, other)

    def __ge__(self, other: Any) -> Traced:
        return scalar.less_equal(other, self)

    def __and__(self, other: Any) -> Traced:
        return scalar.logical_and(self, other)

    def __or__(self, other: Any) -> Traced:
        return scalar.logical_or(self, other)

    def __invert__(self) -> Traced:
        return scalar.logical_not(self)

    def __bool__(self) -> bool:
        raise TraceError(
            "the truth value of a traced scalar is not known while tracing: write "
            "kinetree.scalar.select(a < b, x, y) instead of a branch (if, and, or, min, max), "
            "and scalar.minimum or scalar.maximum of two scalars"
        )

    def __float__(self) -> float:
        raise TraceError("a traced scalar has no number yet: keep it out of float() and math.*")

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.value)
        if self.op == "input":
            return f"{self.value[0]}[{self.value[1]}]"
        return f"{self.op}({', '.join(f'%{a.number}' for a in self.args)})"


class TooLongError(Exception):
    """A trace has more nodes than it may."""


class Trace:
    """The table of the nodes of one program.

    limit: how many nodes there may be before TooLongError stops the tracing.
    """

    def __init__(self, limit: float = math.inf) -> None:
        self.limit = limit
        self.nodes: list[Expression] = []
        self._constants: dict[float, Expression] = {}
        self._inputs: dict[tuple[str, int], Expression] = {}
        self._table: dict[tuple[Any, ...], Expression] = {}

    def constant(self, value: float) -> Expression:
        """The node of a number; -0.0 is kept as 0.0."""
        found = self._constants.get(value)
        if found is None:
            if not math.isfinite(value):
                raise TraceError(f"the constant {value} in a traced program: must be finite")
            value = float(value) + 0.0
            found = self._constants[value] = self._new("const", (), value)
        return found

    def input(self, name: str, element: int) -> Expression:
        """One element of an argument."""
        key = (name, element)
        found = self._inputs.get(key)
        if found is None:
            found = self._inputs[key] = self._new("input", (), key)
        return found

    def operand(self, value: Any) -> Traced:
        """What stands beside an expression: one of this trace, or a float."""
        if type(value) is float:
            return value
        if type(value) is Expression:
            if value.trace is not self:
                raise TraceError("a traced scalar of one program was used in another")
            return value
        try:
            if isinstance(value, (str, bytes, bytearray)):  # float() would read them
                raise TypeError
            return float(value)
        except (TypeError, ValueError, OverflowError):
            raise TraceError(
                f"a {type(value).__name__} in arithmetic with a traced scalar: "
                "only real numbers and scalars of the same trace fit"
            ) from None

    def lift(self, value: Any) -> Expression:
        """An expression of this trace, from itself or from a number."""
        given = self.operand(value)
        return given if type(given) is Expression else self.constant(given)

    def node(self, op: str, *args: Traced) -> Expression:
        """The node of an operation: the one there is, or a new one."""
        nodes = tuple([x if type(x) is Expression else self.constant(x) for x in args])
        key = (op, *[x.number for x in nodes])
        found = self._table.get(key)
        if found is None:
            found = self._table[key] = self._new(op, nodes, None)
        return found

    def existing(self, op: str, *args: Traced) -> Expression | None:
        """The node of an operation, if there is one."""
        nodes = [x if type(x) is Expression else self._constants.get(x) for x in args]
        return self._table.get((op, *[None if x is None else x.number for x in nodes]))

    def _new(self, op: str, args: tuple[Expression, ...], value: Any) -> Expression:
        if len(self.nodes) >= self.limit:
            raise TooLongError
        made = Expression(self, len(self.nodes), op, args, value)
        self.nodes.append(made)
        return made


def _apply(op: str, args: tuple[Any, ...]) -> Any:
    """A function of scalars of which some are expressions: a node of their trace."""
    if any(type(x) is not Expression and not isinstance(x, scalar.NUMBERS) for x in args):
        return NotImplemented
    trace = next(x.trace for x in args if type(x) is Expression)
    # truth values that are known stay Python's
    return fold.function(trace, op, *[x if isinstance(x, bool) else trace.operand(x) for x in args])


scalar.register(Expression, _apply)
scalar.known.register(Expression, lambda x: x.value if x.op == "const" else None)
