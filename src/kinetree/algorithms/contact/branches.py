"""Parts of a computation that only some states need: behind a branch, or in every state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.scalar import Scalar, call_if
from kinetree.scalar.structure import put_together, take_apart


def guarded(near: Scalar) -> Callable[..., Any]:
    """Runs functions where a couple touches; elsewhere all scalars of their results are zero."""

    def run(function: Callable[..., Any], *values: Any) -> Any:
        scalars: list[Any] = []
        structure = take_apart(function(*_unknown(values)), scalars)
        blank = put_together(structure, iter([0.0] * len(scalars)))
        return call_if(near, function, *values, otherwise=blank)

    return run


def _unknown(values: Sequence[Any]) -> list[Any]:
    """The same structures with a number in the place of each scalar."""
    found = []
    for value in values:
        scalars: list[Any] = []
        structure = take_apart(value, scalars)
        found.append(put_together(structure, iter([0.5] * len(scalars))))
    return found


def at_once(function: Callable[..., Any], *values: Any) -> Any:
    return function(*values)
