"""Calls: functions of a program, which are compiled once and called often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.scalar.operations import Scalar
from kinetree.scalar.structure import take_apart

_CALLERS: dict[type, Callable[..., Any]] = {}


def register_calls(kind: type, caller: Callable[..., Any]) -> None:
    """Let a scalar type decide how `call` runs a function.

    Arguments:
        kind: the type.
        caller: takes a scalar of that type, the function and its arguments.
    """
    _CALLERS[kind] = caller


MANY = 24
"""Calls of one function from which on they pay: what they read and write passes through memory."""


def call(function: Callable[..., Any], *values: Any, times: int) -> Any:
    """function(*values), compiled as a call of one routine if a long program does it often.

    What an algorithm does for each of many columns, pairs or bodies is then compiled once.

    Arguments:
        function: from scalars, or lists, tuples and dataclasses of them, to the same. It must
            depend on nothing but its arguments: it is traced once for all calls that have zeros
            and ones in the same places.
        values: its arguments. Those that are the same in every call cost nothing; each of the
            others is stored in memory once.
        times: about how often the algorithm does this.

    Returns:
        What `function` returns.
    """
    if times >= MANY:
        scalars: list[Scalar] = []
        for value in values:
            take_apart(value, scalars)
        for x in scalars:
            if type(x) in _CALLERS:
                return _CALLERS[type(x)](x, function, values)
    return function(*values)
