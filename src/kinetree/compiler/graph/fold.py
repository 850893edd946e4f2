"""Folding: the algebra applied to an operation before it becomes a node.

Each function gives what an operation comes to: an expression that exists, a float, or a new node.
Arguments are expressions or floats; at least one is an expression. Rules hold for finite numbers:
0 x = 0 and x / x = 1 are taken as true, as the structural zeros and ones of a mechanism need.

In a commutative operation the older argument comes first. Signs move outwards: from a product and
its constant factor into the sum or difference that uses it. So c x and -c x share one node.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kinetree.scalar import OPERATIONS

if TYPE_CHECKING:
    from kinetree.compiler.graph.expression import Trace

TINY = 2.0**-1022
FACTORS = frozenset({"neg", "div", "select"})
"""Operations whose results a product folds with."""


def add(t: Trace, a: Any, b: Any) -> Any:
    """a + b; a float comes second."""
    if type(b) is float and b == 0.0:
        return a  # x + 0 = x
    if a.op == "neg":
        return sub(t, b, a.args[0])  # (-a) + b = b - a
    if type(b) is float:
        b = t.constant(b)
    elif b.op == "neg":
        return sub(t, a, b.args[0])  # a + (-b) = a - b
    elif a.op == b.op == "select" and a.args[0] is b.args[0]:
        parts = (*a.args[1:], *b.args[1:])
        if any(x.op == "const" and x.value == 0.0 for x in parts):
            # (c ? x : 0) + (c ? y : z) = c ? x + y : z
            sums = [_value(x) + _value(y) for x, y in zip(a.args[1:], b.args[1:], strict=True)]
            return function(t, "select", a.args[0], *sums)
    return t.pair("add", a, b) if a.number <= b.number else t.pair("add", b, a)


def sub(t: Trace, a: Any, b: Any) -> Any:
    """a - b."""
    if a is b:
        return 0.0
    if type(b) is not float and b.op == "neg":
        return (
            add(t, b.args[0], a) if type(a) is float else add(t, a, b.args[0])
        )  # a - (-b) = a + b
    if type(a) is float:
        if a == 0.0:
            return neg(t, b)  # 0 - x = -x
    elif type(b) is float and b == 0.0:
        return a  # x - 0 = x
    elif a.op == "neg":
        return neg(t, add(t, a.args[0], b))  # (-a) - b = -(a + b)
    other = t.existing("sub", b, a)
    return t.node("sub", a, b) if other is None else neg(t, other)  # b - a = -(a - b)


def mul(t: Trace, a: Any, b: Any) -> Any:
    """a b; a float comes second."""
    if type(b) is float:
        return scale(t, b, a)
    if a.op in FACTORS or b.op in FACTORS:
        if a.op == "neg":
            return neg(t, mul(t, a.args[0], b))  # (-a) b = -(a b)
        if b.op == "neg":
            return neg(t, mul(t, a, b.args[0]))
        for x, y in ((a, b), (b, a)):
            if y.op == "div" and y.args[1] is x and y.args[0].op == "const":
                return y.args[0].value  # x (1 / x) = 1
            if x.op == "select" and _is_gate(x):
                # (c ? 1 : 0) y = c ? y : 0, whatever y is where it does not count
                return function(t, "select", x.args[0], *(_value(z) * y for z in x.args[1:]))
    return t.pair("mul", a, b) if a.number <= b.number else t.pair("mul", b, a)


def scale(t: Trace, c: float, x: Any) -> Any:
    """c x of a number and an expression."""
    if c == 0.0:
        return 0.0
    if c == 1.0:
        return x
    if c < 0.0:
        return neg(t, scale(t, -c, x))  # (-c) x = -(c x)
    if x.op == "neg":
        return neg(t, scale(t, c, x.args[0]))
    if x.op == "mul":
        for d, y in (x.args, x.args[::-1]):
            if d.op == "const" and TINY < c * d.value < math.inf:
                return scale(t, c * d.value, y)  # c (d x) = (c d) x
    if x.op == "select" and _is_gate(x):
        return function(t, "select", x.args[0], *(_value(z) * c for z in x.args[1:]))
    d = t.constant(c)
    return t.pair("mul", x, d) if x.number <= d.number else t.pair("mul", d, x)


def div(t: Trace, a: Any, b: Any) -> Any:
    """a / b."""
    if a is b:
        return 1.0
    if type(b) is float:
        if b == 0.0:
            raise ZeroDivisionError("a traced program divides by the constant zero")
        if math.frexp(b)[0] in (0.5, -0.5) and abs(b) >= TINY:
            return mul(t, a, 1.0 / b)  # x / c = (1 / c) x where 1 / c is exact
    elif b.op == "neg":
        return neg(t, div(t, a, b.args[0]))  # a / (-b) = -(a / b)
    if type(a) is float:
        if a == 0.0:
            return 0.0  # 0 / x = 0
    elif a.op == "neg":
        return neg(t, div(t, a.args[0], b))  # (-a) / b = -(a / b)
    return t.node("div", a, b)


def neg(t: Trace, a: Any) -> Any:
    """-a."""
    if type(a) is float:
        return -a
    return a.args[0] if a.op == "neg" else t.node("neg", a)  # -(-x) = x


def function(t: Trace, op: str, *args: Any) -> Any:
    """Any other operation; known truth values are Python's."""
    if any(isinstance(x, bool) for x in args):
        return _with_known_truth(op, *args)
    if op == "select":
        _, a, b = args
        return a if a is b or (type(a) is type(b) is float and a == b) else t.node(op, *args)
    parity, x = OPERATIONS[op].parity, args[0]
    if op == "stop_gradient" and x.op == op:
        return x  # stopped twice is stopped
    if parity and x.op == "neg":  # f(-x) = -f(x) or f(x)
        inner = function(t, op, x.args[0])
        return neg(t, inner) if parity == "odd" else inner
    return t.node(op, *args)


def _with_known_truth(op: str, *args: Any) -> Any:
    if op == "select":
        return args[1] if args[0] else args[2]
    a, b = args if isinstance(args[0], bool) else args[::-1]
    if op == "logical_and":
        return b if a else False
    return True if a else b


def _is_gate(choice: Any) -> bool:
    """Whether a choice is between zero and one."""
    return {x.value if x.op == "const" else None for x in choice.args[1:]} == {0.0, 1.0}


def _value(x: Any) -> Any:
    """A float for the node of a number, else the node."""
    return x.value if x.op == "const" else x
