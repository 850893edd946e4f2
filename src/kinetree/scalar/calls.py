"""Calls: functions of a program, which are compiled once, called often, or only where needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.errors import TraceError
from kinetree.scalar.functions import select
from kinetree.scalar.operations import Scalar
from kinetree.scalar.structure import put_together, take_apart

_CALLERS: dict[type, Callable[..., Any]] = {}
_GUARDS: dict[type, Callable[..., Any]] = {}


def register_calls(kind: type, caller: Callable[..., Any]) -> None:
    """Let a scalar type decide how `call` runs a function.

    Arguments:
        kind: the type.
        caller: takes a scalar of that type, the function and its arguments.
    """
    _CALLERS[kind] = caller


CALLS_THAT_PAY = 24
"""The number of calls of a function from which they pay off: arguments pass through memory."""


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
    if times >= CALLS_THAT_PAY:
        scalars: list[Scalar] = []
        for value in values:
            take_apart(value, scalars)
        for x in scalars:
            if type(x) in _CALLERS:
                return _CALLERS[type(x)](x, function, values)
    return function(*values)


def register_guards(kind: type, caller: Callable[..., Any]) -> None:
    """Let the type of a condition decide how `call_if` runs a function.

    Arguments:
        kind: the type.
        caller: takes a condition of that type, the function, its arguments, and the values that
            stand for its results where the condition does not hold.
    """
    _GUARDS[kind] = caller


def call_if(condition: Any, function: Callable[..., Any], *values: Any, otherwise: Any) -> Any:
    """function(*values) where a condition holds, else other values.

    For each scalar this is a `select`. A compiled program runs the function only if the condition
    holds in one of the states that it computes side by side, and then as a call of one routine, so
    that iterations end early, and what has no effect costs nothing. Derivatives that pass through
    it go through selects.

    Arguments:
        condition: one condition. If it is a plain truth value, only one side is computed.
        function: from scalars, or lists, tuples and dataclasses of them, to the same. It must
            depend on nothing but its arguments: one object is traced once, for all its calls that
            have zeros and ones in the same places. It may use `call_if` itself.
        values: its arguments.
        otherwise: what stands for the results where the condition does not hold, of the same
            structure. Where these are arguments as well and needed no more, as the state of an
            iteration is, results take their place in memory: a call that is not made copies
            nothing. A result that is returned as it was given is none.

    Returns:
        What `function` returns, or `otherwise`, or a choice of them in each state.
    """
    guard = _GUARDS.get(type(condition))
    if guard is not None:
        return guard(condition, function, values, otherwise)
    decided = settled(condition)
    if decided is False:
        return otherwise
    taken: list[Scalar] = []
    other: list[Scalar] = []
    structure = take_apart(function(*values), taken)
    check_structure(function, structure, take_apart(otherwise, other))
    if not decided:
        taken = [select(condition, a, b) for a, b in zip(taken, other, strict=True)]
    return put_together(structure, iter(taken))


def settled(condition: Any) -> bool | None:
    """Whether a condition holds; None if that is not known, or not the same for all states.

    Arguments:
        condition: of any type.

    Returns:
        True, False or None.
    """
    if isinstance(condition, (bool, np.bool_)):
        return bool(condition)
    if isinstance(condition, np.ndarray) and condition.dtype == bool:
        return bool(condition.any()) if condition.all() or not condition.any() else None
    return None


def check_structure(function: Callable[..., Any], found: Any, wanted: Any) -> None:
    """Raise an error unless a function's results have the structure of what may replace them.

    Arguments:
        function: for the message.
        found, wanted: the two structures.
    """
    if found != wanted:
        name = getattr(function, "__name__", repr(function))
        raise TraceError(
            f"call_if: what {name} returns and `otherwise` must be the same lists, tuples and "
            "dataclasses, of the same lengths"
        )
