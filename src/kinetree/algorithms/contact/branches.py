"""Parts of a computation that only some states need: behind a branch, or in every state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.scalar import Scalar, call_if
from kinetree.scalar.structure import put_together, take_apart


def guarded(near: Scalar) -> Callable[..., Any]:
    """A runner that calls functions behind a branch; where `near` is false, results are zero.

    Results that are the constant 1 or -1 keep it on both sides of the branch.
    """

    def run(function: Callable[..., Any], *values: Any) -> Any:
        scalars: list[Any] = []
        structure = take_apart(function(*_unknown(values)), scalars)
        blank = put_together(structure, iter([x if x in (1, -1) else 0.0 for x in scalars]))
        return call_if(near, function, *values, otherwise=blank)

    return run


def _unknown(values: Sequence[Any]) -> list[Any]:
    """The same structures with each symbolic scalar replaced by a number."""
    found = []
    for value in values:
        scalars: list[Any] = []
        structure = take_apart(value, scalars)
        numbers = [x if isinstance(x, (int, float)) else 0.5 for x in scalars]
        found.append(put_together(structure, iter(numbers)))
    return found


def at_once(function: Callable[..., Any], *values: Any) -> Any:
    return function(*values)
