"""Checks of arguments that are not numbers: functions, names, files and objects of a class.

Invalid arguments are refused on entry, with a message that names the argument.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kinetree.errors import KinetreeError


def instance(name: str, given: Any, kind: Any, what: str) -> Any:
    """An object of a class.

    Arguments:
        name: of the argument, for messages.
        given: what the caller gave.
        kind: the class.
        what: what is expected, for messages, such as "a robot".
    """
    if not isinstance(given, kind):
        raise KinetreeError(f"{name}: {what} is expected, got {given!r:.200}")
    return given


def function(name: str, given: Any) -> Any:
    """A callable."""
    if not callable(given):
        raise KinetreeError(f"{name}: a function is expected, got {given!r:.200}")
    return given


def optional_function(name: str, given: Any) -> Any:
    """A callable, or None."""
    return None if given is None else function(name, given)


def text(name: str, given: Any) -> str:
    """A string."""
    found: str = instance(name, given, str, "a text")
    return found


def flag(name: str, given: Any) -> bool:
    """A value that Python accepts as true or false; an array of several is neither."""
    try:
        return bool(given)
    except (TypeError, ValueError):
        raise KinetreeError(f"{name}: True or False is expected, got {given!r:.200}") from None


def texts(name: str, given: Any) -> tuple[str, ...]:
    """A sequence of strings."""
    return members(name, given, str, "a list of texts")


def members(name: str, given: Any, kind: Any, what: str) -> tuple[Any, ...]:
    """A sequence of objects of a class.

    Arguments:
        name, given, kind: as in `instance`, of each of them.
        what: what is expected, for messages, such as "a list of texts".
    """
    items: tuple[Any, ...] = (None,)
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        try:
            items = tuple(given)
        except TypeError:  # an array without axes
            items = (None,)
    if not all(isinstance(item, kind) for item in items):
        raise KinetreeError(f"{name}: {what} is expected, got {given!r:.200}")
    return items


def mapping(name: str, given: Any, what: str) -> Mapping[Any, Any]:
    """A mapping; empty if None is given."""
    found: Mapping[Any, Any] = {} if given is None else instance(name, given, Mapping, what)
    return found


def path(name: str, given: Any) -> Path:
    """The path of a file or a folder."""
    if not isinstance(given, (str, os.PathLike)) or "\0" in str(given):
        raise KinetreeError(f"{name}: the path of a file is expected, got {given!r:.200}")
    return Path(given)
