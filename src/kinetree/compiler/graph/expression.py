"""Traced scalars: hash-consed nodes that record what is done to them.

A `Trace` owns a table of nodes in which no two are the same operation on the same arguments, so
common subexpressions are shared as they are written. Nodes are numbered as they are made:
arguments always come before their users.

A number stays a Python float for as long as it meets no expression: what folds to a constant costs
no node. It becomes a node, `const`, when it is the argument of one.

What `scalar.call` runs is traced apart, once for every pattern of zeros and ones among its
arguments; in the trace there is a `call` node, and an `item` node for each result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree import scalar
from kinetree.compiler.graph import fold
from kinetree.errors import TraceError
from kinetree.scalar.dual import Dual
from kinetree.scalar.structure import parts, put_together, scalar_count, take_apart

COMPARISONS = ("less", "less_equal", "greater", "greater_equal")
"""NumPy's names of what compares two scalars."""
LEFT_TO = (np.ndarray, Dual)
"""Types that take expressions as their elements, and do the arithmetic with them."""
Traced = Any
"""An Expression, or a float where the result is known."""


class Expression:
    """A scalar whose value is not known yet: one node of a trace."""

    __slots__ = ("args", "number", "op", "trace", "value")  # `Trace._new` fills them

    trace: Trace
    number: int
    op: str
    args: tuple[Expression, ...]
    value: Any

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """Arithmetic with NumPy's numbers and arrays, element by element."""
        if ufunc.__name__ in COMPARISONS:
            settings["dtype"] = object  # the result is traced, too
        boxed = [np.array(x, dtype=object) if type(x) is Expression else x for x in inputs]
        return getattr(ufunc, method)(*boxed, **settings)

    # Sums and products are nearly all that is traced, so what they mostly meet, an expression of
    # the same trace or a float, does not pass through `operand`.

    def __add__(self, other: Any) -> Traced:
        t = self.trace
        if type(other) is Expression and other.trace is t:
            return fold.add(t, self, other)
        if isinstance(other, LEFT_TO):
            return NotImplemented  # expressions are its elements
        return fold.add(t, self, t.operand(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Traced:
        t = self.trace
        if type(other) is Expression and other.trace is t:
            return fold.sub(t, self, other)
        if isinstance(other, LEFT_TO):
            return NotImplemented  # expressions are its elements
        return fold.sub(t, self, t.operand(other))

    def __rsub__(self, other: Any) -> Traced:
        return fold.sub(self.trace, self.trace.operand(other), self)

    def __mul__(self, other: Any) -> Traced:
        t = self.trace
        if type(other) is float:
            return fold.scale(t, other, self)
        if type(other) is Expression and other.trace is t:
            return fold.mul(t, self, other)
        if isinstance(other, LEFT_TO):
            return NotImplemented  # expressions are its elements
        return fold.mul(t, self, t.operand(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Traced:
        if isinstance(other, LEFT_TO):
            return NotImplemented
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
        raise TraceError(
            f"a traced scalar cannot be raised to the power {exponent!r}: write it as products"
        )

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
        raise TraceError(
            "a traced scalar has no value yet: do not use it in float() or math.*, nor write it "
            "into an array of floats (np.zeros_like(q) can hold it, and np.zeros(n, dtype=object))"
        )

    def __int__(self, *_: Any) -> int:
        raise TraceError("a traced scalar has no value yet: it cannot be rounded to an integer")

    __round__ = __floor__ = __ceil__ = __trunc__ = __int__

    def __mod__(self, other: Any) -> Traced:
        raise TraceError(
            "% and // do not take traced scalars: for a signal that repeats, use "
            "kinetree.scalar.sin and cos; atan2(sin(x), cos(x)) is x between -pi and pi"
        )

    __rmod__ = __floordiv__ = __rfloordiv__ = __mod__

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.value)
        if self.op == "input":
            return f"{self.value[0]}[{self.value[1]}]"
        return f"{self.op}({', '.join(f'%{a.number}' for a in self.args)})"


_blank = object.__new__


class TooLongError(Exception):
    """A trace has more nodes than it may."""


SPECIAL = frozenset({0.0, 1.0, -1.0})
"""Numbers that folding knows rules for: a function is traced apart for each place of them."""
GROUP = 12
"""Scalars: arguments of a call that are made of more are several groups, one for each part."""


def _lengths(structures: Sequence[Any], pattern: Sequence[float | None]) -> tuple[int, ...]:
    """The number of scalars in each group of a call's arguments, without known numbers."""
    rest = iter(pattern)
    counts = [
        sum(next(rest) is None for _ in range(scalar_count(part)))
        for structure in structures
        for part in parts(structure, GROUP)
    ]
    return tuple(n for n in counts if n)


class Function:
    """What a program calls: a trace of its own, for one pattern of special numbers.

    lengths: how many scalars each group of arguments has, special ones left out.
    items: the distinct results that are computed; those that are arguments or numbers are not.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        structures: Sequence[Any],
        pattern: Sequence[float | None],
        limit: float,
    ) -> None:
        self.trace = Trace(limit, inner=True)
        self.lengths = _lengths(structures, pattern)
        inputs = [self.trace.input(str(g), i) for g, n in enumerate(self.lengths) for i in range(n)]
        rest = iter(inputs)
        scalars = (next(rest) if number is None else number for number in pattern)
        values = [put_together(structure, scalars) for structure in structures]
        self._arguments = {x.number: k for k, x in enumerate(inputs)}
        self._results: list[Any] = []
        self._structure = take_apart(function(*values), self._results)
        computed = (
            x for x in self._results if type(x) is Expression and x.op not in ("const", "input")
        )
        self.items = list({x.number: x for x in computed}.values())
        self._number = {x.number: k for k, x in enumerate(self.items)}

    def results(self, trace: Trace, call: Expression) -> Any:
        """The results of a call, as the function gives them."""
        return put_together(self._structure, (self._result(trace, call, x) for x in self._results))

    def _result(self, trace: Trace, call: Expression, x: Any) -> Any:
        if type(x) is not Expression:
            return x
        if x.op == "const":
            return x.value
        if x.op == "input":
            return call.args[self._arguments[x.number]]
        return trace.item(call, self._number[x.number])


class Trace:
    """The table of the nodes of one program, or of a function of it.

    As a context manager it is emptied at the end. Nodes and their trace refer to each other and
    would otherwise stay in memory until the next garbage collection.

    limit: how many nodes there may be before TooLongError stops the tracing.
    inner: whether what is called is traced into it, as in a function.
    """

    def __init__(self, limit: float = math.inf, inner: bool = False) -> None:
        self.limit, self.inner = limit, inner
        self.nodes: list[Expression] = []
        self._constants: dict[float, Expression] = {}
        self._inputs: dict[tuple[str, int], Expression] = {}
        self._table: dict[tuple[Any, ...], Expression] = {}
        self._functions: dict[tuple[Any, ...], Any] = {}

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        for function in self._functions.values():
            function.trace.__exit__()
        for table in (self._table, self._inputs, self._constants, self._functions, self.nodes):
            table.clear()

    def constant(self, value: float) -> Expression:
        """The node of a number; -0.0 is kept as 0.0."""
        node = self._constants.get(value)
        if node is None:
            if not math.isfinite(value):
                raise TraceError(f"the constant {value} in a traced program: must be finite")
            value = float(value) + 0.0
            node = self._constants[value] = self._new("const", (), value)
        return node

    def input(self, name: str, element: int) -> Expression:
        """One element of an argument."""
        key = (name, element)
        node = self._inputs.get(key)
        if node is None:
            node = self._inputs[key] = self._new("input", (), key)
        return node

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
                f"a {type(value).__name__} in arithmetic with a traced scalar: expected a real "
                "number or a scalar of the same trace"
            ) from None

    def lift(self, value: Any) -> Expression:
        """An expression of this trace, from itself or from a number."""
        x = self.operand(value)
        return x if type(x) is Expression else self.constant(x)

    def node(self, op: str, *args: Traced) -> Expression:
        """The node of an operation: the one there is, or a new one."""
        nodes = tuple([x if type(x) is Expression else self.constant(x) for x in args])
        key = (op, *[x.number for x in nodes])
        existing = self._table.get(key)
        if existing is None:
            existing = self._table[key] = self._new(op, nodes, None)
        return existing

    def pair(self, op: str, a: Expression, b: Expression) -> Expression:
        """The same for an operation on two expressions, as nearly all are."""
        key = (op, a.number, b.number)
        node = self._table.get(key)
        if node is None:
            node = self._table[key] = self._new(op, (a, b), None)
        return node

    def existing(self, op: str, a: Traced, b: Traced) -> Expression | None:
        """The node of an operation on two arguments, if there is one."""
        x = a if type(a) is Expression else self._constants.get(a)
        y = b if type(b) is Expression else self._constants.get(b)
        return None if x is None or y is None else self._table.get((op, x.number, y.number))

    def call(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """The results of a function that is traced once for all calls of one pattern."""
        if self.inner:
            return function(*values)
        scalars: list[Any] = []
        structures = tuple([take_apart(value, scalars) for value in values])
        operands = [self.operand(x) for x in scalars]
        pattern = tuple([x if type(x) is float and x in SPECIAL else None for x in operands])
        arguments = [
            self.lift(x) for x, number in zip(operands, pattern, strict=True) if number is None
        ]
        called = self.function(
            (function, structures, pattern),
            lambda: Function(function, structures, pattern, self.limit),
        )
        if not called.items:
            return function(*values)
        return called.results(self, self.calling("call", called, arguments))

    def function(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """A function that the trace calls: the one of a key, or a new one."""
        existing = self._functions.get(key)
        if existing is None:
            existing = self._functions[key] = make()
        return existing

    def calling(self, op: str, called: Any, arguments: Sequence[Expression]) -> Expression:
        """The node of a call: the one there is, or a new one."""
        key = (op, id(called), *[x.number for x in arguments])
        node = self._table.get(key)
        if node is None:
            node = self._table[key] = self._new(op, tuple(arguments), called)
        return node

    def item(self, call: Expression, k: int) -> Expression:
        """Result k of a call."""
        key = ("item", call.number, k)
        node = self._table.get(key)
        if node is None:
            node = self._table[key] = self._new("item", (call,), k)
        return node

    def _new(self, op: str, args: tuple[Expression, ...], value: Any) -> Expression:
        nodes = self.nodes
        number = len(nodes)
        if number >= self.limit:
            raise TooLongError
        made = _blank(Expression)  # a constructor in Python would take most of a node's time
        made.trace, made.number, made.op, made.args, made.value = self, number, op, args, value
        nodes.append(made)
        return made


def _apply(op: str, args: tuple[Any, ...]) -> Any:
    """A function of scalars of which some are expressions: a node of their trace."""
    if any(isinstance(x, np.ndarray) for x in args):  # beside numbers, element by element
        return scalar.OPERATIONS[op].compute(*(np.asarray(x, dtype=object) for x in args))
    if any(type(x) is not Expression and not isinstance(x, scalar.NUMBERS) for x in args):
        return NotImplemented
    trace = next(x.trace for x in args if type(x) is Expression)
    # truth values that are known stay Python's
    return fold.function(trace, op, *[x if isinstance(x, bool) else trace.operand(x) for x in args])


def _call(scalar: Expression, function: Callable[..., Any], values: Sequence[Any]) -> Any:
    return scalar.trace.call(function, values)


scalar.register(Expression, _apply)
scalar.register_calls(Expression, _call)
scalar.known.register(Expression, lambda x: x.value if x.op == "const" else None)
