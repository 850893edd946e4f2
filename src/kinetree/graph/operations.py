"""The closed set of operations: every node of every program is one of these.

Each row says how many arguments the operation takes, what they are (`r` a real number, `b` a
truth value), what it gives, and what it computes. What it computes is the definition: the
interpreter calls it, and every target must agree with it to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kinetree import scalar


@dataclass(frozen=True)
class Operation:
    """One row of the table."""

    arguments: str
    result: str
    compute: Callable[..., Any]
    formula: str


OPERATIONS: dict[str, Operation] = {
    # leaves: their value is in the node
    "const": Operation("", "r", lambda: None, "a number"),
    "input": Operation("", "r", lambda: None, "an element of an argument"),
    # arithmetic
    "neg": Operation("r", "r", lambda a: -a, "-a"),
    "add": Operation("rr", "r", lambda a, b: a + b, "a + b"),
    "sub": Operation("rr", "r", lambda a, b: a - b, "a - b"),
    "mul": Operation("rr", "r", lambda a, b: a * b, "a b"),
    "div": Operation("rr", "r", lambda a, b: a / b, "a / b"),
    "sqrt": Operation("r", "r", scalar.sqrt, "sqrt(a)"),
    # one rounding instead of two where the target can: made by `fuse`, never by a trace
    "fma": Operation("rrr", "r", lambda a, b, c: a * b + c, "a b + c"),
    "fms": Operation("rrr", "r", lambda a, b, c: a * b - c, "a b - c"),
    "fnma": Operation("rrr", "r", lambda a, b, c: c - a * b, "c - a b"),
    "fnms": Operation("rrr", "r", lambda a, b, c: -(a * b) - c, "-(a b) - c"),
    # functions
    "sin": Operation("r", "r", scalar.sin, "sin(a)"),
    "cos": Operation("r", "r", scalar.cos, "cos(a)"),
    "atan2": Operation("rr", "r", scalar.atan2, "angle of (b, a)"),
    # choice
    "less": Operation("rr", "b", scalar.less, "a < b"),
    "select": Operation("brr", "r", scalar.select, "b if a else c"),
}

LEAVES = frozenset({"const", "input"})
FUNCTIONS = frozenset({"sin", "cos", "atan2"})
"""Operations that a target computes by a routine rather than by an instruction."""

COMMUTATIVE = frozenset({"add", "mul"})
