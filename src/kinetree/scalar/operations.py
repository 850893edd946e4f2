"""The closed set of operations: every node of every traced program is one of them.

A row is entered by one statement and says everything about its operation: what it takes and gives,
what it computes, its derivatives, its symmetry. A compiler's target adds one line to its own table.
Arithmetic and leaves are entered here, functions in `kinetree.scalar.functions`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Scalar = Any
"""A scalar of any type that `kinetree.scalar` names; which one is the caller's choice."""
Partials = Callable[..., tuple[Scalar | None, ...]]
"""From the result z and the arguments to the derivative of z by each argument."""


@dataclass(frozen=True)
class Operation:
    """One row of the table.

    Arguments:
        arguments: a letter for each: r a real number, b a truth value.
        result: the letter of what it gives.
        formula: what it computes, for readers; a and b are the arguments.
        compute: what it computes, on any scalar: the definition that every target must agree with.
        partials: its derivatives; None where an argument is a truth value, or altogether if it is
            never differentiated.
        parity: "odd" if f(-x) = -f(x), "even" if f(-x) = f(x).
        routine: if a target computes it for many arguments at once, the name of that routine and
            which of its results this is. Such an operation is called a function.
    """

    arguments: str
    result: str
    formula: str
    compute: Callable[..., Any]
    partials: Partials | None = None
    parity: str = ""
    routine: tuple[str, int] | None = None


OPERATIONS: dict[str, Operation] = {}


def enter(name: str, *row: Any) -> None:
    """Enter an operation in the table; `row` has the fields of `Operation`."""
    OPERATIONS[name] = Operation(*row)


# Leaves: their value is in the node, or in a call's memory.
enter("const", "", "r", "a number", lambda: None)
enter("input", "", "r", "an element of an argument", lambda: None)
enter("call", "", "c", "a function of the program, with any number of arguments", lambda: None)
enter("call_if", "", "c", "a call where a condition holds, else as many given values", lambda: None)
enter("item", "c", "r", "one result of a call", lambda: None)

# Arithmetic, which scalars have as operators.
enter("neg", "r", "r", "-a", operator.neg, lambda z, a: (-1.0,))
enter("add", "rr", "r", "a + b", operator.add, lambda z, a, b: (1.0, 1.0))
enter("sub", "rr", "r", "a - b", operator.sub, lambda z, a, b: (1.0, -1.0))
enter("mul", "rr", "r", "a b", operator.mul, lambda z, a, b: (b, a))
enter("div", "rr", "r", "a / b", operator.truediv, lambda z, a, b: (1.0 / b, -(z * (1.0 / b))))

# A product and a sum in one, with one rounding where the target can. A trace never has them;
# `kinetree.compiler.graph.fuse` makes them when everything else is done.
enter("fma", "rrr", "r", "a b + c", lambda a, b, c: a * b + c)
enter("fms", "rrr", "r", "a b - c", lambda a, b, c: a * b - c)
enter("fnma", "rrr", "r", "c - a b", lambda a, b, c: c - a * b)
enter("fnms", "rrr", "r", "-(a b) - c", lambda a, b, c: -(a * b) - c)


ALIASES = frozenset({"stop_gradient", "derivative_from"})
"""Operations whose value is their first argument's: they matter to derivatives, which pass through
the others, and targets never see them."""
CALLS = frozenset({"call", "call_if"})
"""Operations that run a function of the program."""
LEAVES = frozenset({"const", "input", "item"}) | CALLS
"""Leaves and calls: numbers, arguments, calls and their results."""
