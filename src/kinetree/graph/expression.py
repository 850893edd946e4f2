"""Traced scalars: hash-consed nodes that record what is done to them.

A `Trace` owns a table of nodes in which no two are the same operation on the same arguments, so
common subexpressions are shared as they are written. Nodes are numbered as they are made:
arguments always come before their users.
"""

from __future__ import annotations

import math
from typing import Any

from kinetree import scalar
from kinetree.errors import TraceError
from kinetree.graph.fold import FOLDS
from kinetree.graph.operations import COMMUTATIVE


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

    def __add__(self, other: Any) -> Expression:
        return self.trace.node("add", self, self.trace.lift(other))

    def __radd__(self, other: Any) -> Expression:
        return self.trace.node("add", self.trace.lift(other), self)

    def __sub__(self, other: Any) -> Expression:
        return self.trace.node("sub", self, self.trace.lift(other))

    def __rsub__(self, other: Any) -> Expression:
        return self.trace.node("sub", self.trace.lift(other), self)

    def __mul__(self, other: Any) -> Expression:
        return self.trace.node("mul", self, self.trace.lift(other))

    def __rmul__(self, other: Any) -> Expression:
        return self.trace.node("mul", self.trace.lift(other), self)

    def __truediv__(self, other: Any) -> Expression:
        return self.trace.node("div", self, self.trace.lift(other))

    def __rtruediv__(self, other: Any) -> Expression:
        return self.trace.node("div", self.trace.lift(other), self)

    def __neg__(self) -> Expression:
        return self.trace.node("neg", self)

    def __pos__(self) -> Expression:
        return self

    def __pow__(self, exponent: Any) -> Expression:
        if exponent == 2:
            return self * self
        raise TraceError(f"a traced scalar to the power {exponent!r}: write it as products")

    def __bool__(self) -> bool:
        raise TraceError(
            "the truth value of a traced scalar is not known while tracing: "
            "write select(less(a, b), x, y) instead of a branch"
        )

    def __float__(self) -> float:
        if self.op == "const":
            return float(self.value)
        raise TraceError("a traced scalar has no number yet: keep it out of float() and math.*")

    def __lt__(self, other: Any) -> Expression:
        return self.trace.node("less", self, self.trace.lift(other))

    def __gt__(self, other: Any) -> Expression:
        return self.trace.node("less", self.trace.lift(other), self)

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
        self._table: dict[tuple[Any, ...], Expression] = {}

    def constant(self, value: float) -> Expression:
        """The node of a number; -0.0 is kept as 0.0."""
        value = float(value) + 0.0
        key = ("const", value)
        found = self._table.get(key)
        if found is None:
            if not math.isfinite(value):
                raise TraceError(f"the constant {value} in a traced program: must be finite")
            found = self._table[key] = self._new("const", (), value)
        return found

    def input(self, name: str, element: int) -> Expression:
        """One element of an argument."""
        key = ("input", name, element)
        found = self._table.get(key)
        if found is None:
            found = self._table[key] = self._new("input", (), (name, element))
        return found

    def lift(self, value: Any) -> Expression:
        """An expression of this trace, from itself or from a number."""
        if type(value) is Expression:
            if value.trace is not self:
                raise TraceError("a traced scalar of one program was used in another")
            return value
        try:
            if isinstance(value, (str, bytes, bytearray)):  # float() would read them
                raise TypeError
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise TraceError(
                f"a {type(value).__name__} in arithmetic with a traced scalar: "
                "only real numbers and scalars of the same trace fit"
            ) from None
        return self.constant(number)

    def node(self, op: str, *args: Expression) -> Expression:
        """The node of an operation: folded if a rule applies, shared if it exists."""
        if op in COMMUTATIVE and args[0].number > args[1].number:
            args = (args[1], args[0])
        key = (op, *[a.number for a in args])
        found = self._table.get(key)
        if found is None:
            for rule in FOLDS.get(op, ()):
                found = rule(self, *args)
                if found is not None:
                    break
            else:
                found = self._new(op, args, None)
            self._table[key] = found
        return found

    def existing(self, op: str, *args: Expression) -> Expression | None:
        """The node of an operation if there is one already."""
        return self._table.get((op, *[a.number for a in args]))

    def _new(self, op: str, args: tuple[Expression, ...], value: Any) -> Expression:
        if len(self.nodes) >= self.limit:
            raise TooLongError
        made = Expression(self, len(self.nodes), op, args, value)
        self.nodes.append(made)
        return made


def _register_functions() -> None:
    """Make the functions of `kinetree.scalar` record nodes when given expressions."""
    for name in ("sin", "cos", "sqrt"):
        getattr(scalar, name).register(Expression, lambda x, op=name: x.trace.node(op, x))
    scalar.known.register(Expression, lambda x: x.value if x.op == "const" else None)
    scalar.atan2.register(Expression, lambda y, x: _trace_of(y, x).node("atan2", *_lift_all(y, x)))
    scalar.less.register(Expression, lambda a, b: _trace_of(a, b).node("less", *_lift_all(a, b)))
    scalar.choose.register(
        Expression,
        lambda condition, a, b: condition.trace.node("select", *_lift_all(condition, a, b)),
    )


def _trace_of(*values: Any) -> Trace:
    return next(v.trace for v in values if type(v) is Expression)


def _lift_all(*values: Any) -> tuple[Expression, ...]:
    trace = _trace_of(*values)
    return tuple(trace.lift(v) for v in values)


_register_functions()
