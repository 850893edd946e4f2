"""Calls of a user's control law: `law(t, q, v)`, or with its inputs p and its memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from kinetree.errors import KinetreeError
from kinetree.scalar.structure import flat

NAMES = ("t", "q", "v", "p", "memory")


def call(law: Callable[..., Any], *arguments: Any) -> Any:
    """The answer of a control law.

    Arguments:
        law: takes (t, q, v, p), and memory if it has some. A law without inputs may also take
            (t, q, v), and others that have defaults.
        arguments: t, q, v, p and the memory, if there is one.

    Returns:
        What the law returns.
    """
    if len(arguments) == 4 and not len(arguments[3]) and _has_own_default(law):
        return law(*arguments[:3])
    wrong = mismatch(law, arguments)
    if wrong is None:
        return _called(law, arguments)
    if len(arguments) == 4 and mismatch(law, arguments[:3]) is None:
        p = arguments[3]
        if len(p) == 0:
            return law(*arguments[:3])
        raise KinetreeError(
            f"the controller takes (t, q, v), but its inputs p have {len(p)} "
            f"{'number' if len(p) == 1 else 'numbers'}: write it as a function (t, q, v, p)"
        )
    shown = ", ".join(NAMES[: len(arguments)])
    raise KinetreeError(f"the controller is called with ({shown}): {wrong}") from None


def _has_own_default(law: Callable[..., Any]) -> bool:
    """Whether a law's fourth argument may be left away, as that of `lambda t, q, v, k=5.0: ...`."""
    try:
        fourth = [*signature(law).parameters.values()][3]
    except (IndexError, TypeError, ValueError):
        return False
    return fourth.default is not Parameter.empty and fourth.kind is not Parameter.KEYWORD_ONLY


def _called(law: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The answer of a law; a law that fails because it was given no inputs is told so."""
    try:
        return law(*arguments)
    except (IndexError, ValueError) as e:
        if len(arguments) != 4 or len(arguments[3]) or mismatch(law, arguments[:3]) is None:
            raise
        raise KinetreeError(f"the controller takes inputs p, and none are given ({e})") from e


def forces_and_rate(answer: Any, memory: int) -> tuple[list[Any], list[Any]]:
    """The joint forces and the rate of the memory that a law returns.

    Arguments:
        answer: what it returns.
        memory: the length of its memory.
    """
    if answer is None:
        raise KinetreeError("the controller returns None: its function has no return")
    if not memory:
        return flat(answer), []
    if not (hasattr(answer, "__len__") and len(answer) == 2):
        raise KinetreeError(
            "a controller with memory returns two values, the forces and the rate of its memory"
        )
    tau, rate = map(flat, answer)
    if len(rate) != memory:
        raise KinetreeError(
            f"the controller returns the rates of {len(rate)} entries of its memory, which has "
            f"{memory}"
        )
    return tau, rate


def called(function: Callable[..., Any], what: str, arguments: Mapping[str, Any]) -> Any:
    """The answer of a user's function; one that takes other arguments is told what they are.

    Arguments:
        function: what is called, with the arguments by place.
        what: it is, for messages.
        arguments: by the names that messages give them.
    """
    wrong = mismatch(function, tuple(arguments.values()))
    if wrong:
        raise KinetreeError(f"{what} is called with ({', '.join(arguments)}): {wrong}")
    found = function(*arguments.values())
    if found is None:
        name = getattr(function, "__name__", "it")
        raise KinetreeError(f"{what} returns nothing: does {name!r} lack a return?")
    return found


def mismatch(
    law: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any] | None = None
) -> str | None:
    """Why a function cannot be called with arguments; None if it can.

    Arguments:
        law: the function.
        arguments, named: what it would be called with, by place and by name.
    """
    try:
        signature(law).bind(*arguments, **(named or {}))
    except TypeError as e:
        return str(e)
    except ValueError:  # a function of C, which does not tell
        return None
    return None
