"""Calls of a user's control law: `law(t, q, v)`, or with its inputs p and its memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from kinetree.errors import KinetreeError

NAMES = ("t", "q", "v", "p", "memory")


def call(law: Callable[..., Any], *arguments: Any) -> Any:
    """The answer of a control law.

    Arguments:
        law: takes (t, q, v, p), and memory if it has some. A law without inputs may also take
            (t, q, v).
        arguments: t, q, v, p and the memory, if there is one.

    Returns:
        What the law returns.
    """
    wrong = _mismatch(law, arguments)
    if wrong is None:
        return law(*arguments)
    if len(arguments) == 4 and _mismatch(law, arguments[:3]) is None:
        p = arguments[3]
        if len(p) == 0:
            return law(*arguments[:3])
        raise KinetreeError(
            f"the controller takes (t, q, v), but its inputs p have {len(p)} "
            f"{'number' if len(p) == 1 else 'numbers'}: write it as a function (t, q, v, p)"
        )
    shown = ", ".join(NAMES[: len(arguments)])
    raise KinetreeError(f"the controller is called with ({shown}): {wrong}") from None


def _mismatch(law: Callable[..., Any], arguments: Sequence[Any]) -> str | None:
    """Why a function cannot be called with arguments; None if it can."""
    try:
        signature(law).bind(*arguments)
    except TypeError as e:
        return str(e)
    except ValueError:  # a function of C, which does not tell
        return None
    return None
