"""Folding: the algebra applied to a node before it is made.

Each rule takes the trace and the arguments of a would-be node and gives the node to use instead,
or None. The algebra is the comment. Rules hold for finite numbers: 0 x = 0 and x / x = 1 are
taken as true, as the structural zeros and ones of a mechanism need.

Of a commutative operation the older argument comes first. Signs move outwards, out of products
and their numbers, into the sum or difference that uses them, so that c x and -c x are one node.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetree.graph.expression import Expression, Trace

    Rule = Callable[..., Expression | None]

TINY = 2.0**-1022

FOLDS: dict[str, list[Rule]] = {}


def fold(op: str) -> Callable[[Rule], Rule]:
    """Enter a rule in the table, after those of the same operation."""

    def enter(rule: Rule) -> Rule:
        FOLDS.setdefault(op, []).append(rule)
        return rule

    return enter


# a + b


@fold("add")  # numbers
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if a.op == "const" and b.op == "const":
        return t.constant(a.value + b.value)
    return None


@fold("add")  # 0 + x = x
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if a.op == "const" and a.value == 0.0:
        return b
    if b.op == "const" and b.value == 0.0:
        return a
    return None


@fold("add")  # a + (-b) = a - b
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if b.op == "neg":
        return t.node("sub", a, b.args[0])
    if a.op == "neg":
        return t.node("sub", b, a.args[0])
    return None


@fold("add")  # (c ? x : 0) + (c ? y : z) = c ? x + y : z
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if a.op != "select" or b.op != "select" or a.args[0] is not b.args[0]:
        return None
    if not any(e.op == "const" and e.value == 0.0 for e in (*a.args, *b.args)):
        return None
    sums = (t.node("add", x, y) for x, y in zip(a.args[1:], b.args[1:], strict=True))
    return t.node("select", a.args[0], *sums)


# a - b


@fold("sub")  # numbers
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if a.op == "const" and b.op == "const":
        return t.constant(a.value - b.value)
    return None


@fold("sub")  # x - 0 = x, 0 - x = -x
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if b.op == "const" and b.value == 0.0:
        return a
    if a.op == "const" and a.value == 0.0:
        return t.node("neg", b)
    return None


@fold("sub")  # x - x = 0
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    return t.constant(0.0) if a is b else None


@fold("sub")  # a - (-b) = a + b, (-a) - b = -(a + b)
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if b.op == "neg":
        return t.node("add", a, b.args[0])
    if a.op == "neg":
        return t.node("neg", t.node("add", a.args[0], b))
    return None


@fold("sub")  # b - a = -(a - b), if a - b is there already
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    other = t.existing("sub", b, a)
    return None if other is None else t.node("neg", other)


# a b


@fold("mul")  # numbers
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if a.op == "const" and b.op == "const":
        return t.constant(a.value * b.value)
    return None


@fold("mul")  # 0 x = 0, 1 x = x, -1 x = -x
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    for c, x in ((a, b), (b, a)):
        if c.op == "const":
            if c.value == 0.0:
                return c
            if c.value == 1.0:
                return x
            if c.value == -1.0:
                return t.node("neg", x)
    return None


@fold("mul")  # (-c) x = -(c x), (-a) b = -(a b)
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    for x, y in ((a, b), (b, a)):
        if x.op == "const" and x.value < 0.0:
            return t.node("neg", t.node("mul", t.constant(-x.value), y))
        if x.op == "neg":
            return t.node("neg", t.node("mul", x.args[0], y))
    return None


@fold("mul")  # c (d x) = (c d) x
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    for c, y in ((a, b), (b, a)):
        if c.op == "const" and y.op == "mul":
            for d, x in (y.args, y.args[::-1]):
                if d.op == "const" and TINY < c.value * d.value < math.inf:
                    return t.node("mul", t.constant(c.value * d.value), x)
    return None


@fold("mul")  # x (1 / x) = 1, y (1 / x) keeps its one division
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    for x, y in ((a, b), (b, a)):
        if y.op == "div" and y.args[1] is x and y.args[0].op == "const":
            return y.args[0]
    return None


@fold("mul")  # (c ? 1 : 0) x = c ? x : 0, whatever x is where it does not count
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    for choice, x in ((a, b), (b, a)):
        if choice.op == "select" and {str(y.value) for y in choice.args[1:]} == {"0.0", "1.0"}:
            return t.node("select", choice.args[0], *(t.node("mul", y, x) for y in choice.args[1:]))
    return None


# a / b


@fold("div")  # x / x = 1, before numbers, so that 0 / 0 is refused below
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    return t.constant(1.0) if a is b and a.op != "const" else None


@fold("div")  # numbers; x / c = (1 / c) x where 1 / c is exact
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if b.op != "const":
        return None
    if b.value == 0.0:
        raise ZeroDivisionError("a traced program divides by the constant zero")
    if a.op == "const":
        return t.constant(a.value / b.value)
    if math.frexp(b.value)[0] in (0.5, -0.5) and abs(b.value) >= TINY:
        return t.node("mul", t.constant(1.0 / b.value), a)
    return None


@fold("div")  # 0 / x = 0
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    return a if a.op == "const" and a.value == 0.0 else None


@fold("div")  # (-a) / b = -(a / b) = a / (-b)
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if a.op == "neg":
        return t.node("neg", t.node("div", a.args[0], b))
    if b.op == "neg":
        return t.node("neg", t.node("div", a, b.args[0]))
    return None


# -a


@fold("neg")  # numbers
def _(t: Trace, a: Expression) -> Expression | None:
    return t.constant(-a.value) if a.op == "const" else None


@fold("neg")  # -(-x) = x
def _(t: Trace, a: Expression) -> Expression | None:
    return a.args[0] if a.op == "neg" else None


# functions


@fold("sqrt")  # numbers
def _(t: Trace, a: Expression) -> Expression | None:
    return t.constant(math.sqrt(a.value)) if a.op == "const" and a.value >= 0.0 else None


@fold("sin")  # numbers; sin(-x) = -sin(x)
def _(t: Trace, a: Expression) -> Expression | None:
    if a.op == "const":
        return t.constant(math.sin(a.value))
    return t.node("neg", t.node("sin", a.args[0])) if a.op == "neg" else None


@fold("cos")  # numbers; cos(-x) = cos(x)
def _(t: Trace, a: Expression) -> Expression | None:
    if a.op == "const":
        return t.constant(math.cos(a.value))
    return t.node("cos", a.args[0]) if a.op == "neg" else None


@fold("atan2")  # numbers
def _(t: Trace, a: Expression, b: Expression) -> Expression | None:
    if a.op == "const" and b.op == "const":
        return t.constant(math.atan2(a.value, b.value))
    return None


@fold("select")  # c ? x : x = x
def _(t: Trace, c: Expression, a: Expression, b: Expression) -> Expression | None:
    return a if a is b else None
