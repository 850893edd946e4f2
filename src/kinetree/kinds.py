"""What users give that is no number: functions, names, files and objects of the right kind.

What cannot be used is refused by a sentence that names the argument, at the door.
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
    """What can be called."""
    if not callable(given):
        raise KinetreeError(f"{name}: a function is expected, got {given!r:.200}")
    return given


def optional_function(name: str, given: Any) -> Any:
    """What can be called, or None."""
    return None if given is None else function(name, given)


def text(name: str, given: Any) -> str:
    """A text."""
    found: str = instance(name, given, str, "a text")
    return found


def flag(name: str, given: Any) -> bool:
    """Whatever Python takes for true or false; several are neither."""
    try:
        return bool(given)
    except (TypeError, ValueError):
        raise KinetreeError(f"{name}: True or False is expected, got {given!r:.200}") from None


def texts(name: str, given: Any) -> tuple[str, ...]:
    """Texts, one after the other."""
    return members(name, given, str, "a list of texts")


def members(name: str, given: Any, kind: Any, what: str) -> tuple[Any, ...]:
    """Objects of a class, one after the other.

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
    """What maps keys to values; empty if None is given."""
    found: Mapping[Any, Any] = {} if given is None else instance(name, given, Mapping, what)
    return found


def path(name: str, given: Any) -> Path:
    """The path of a file or a folder."""
    if not isinstance(given, (str, os.PathLike)) or "\0" in str(given):
        raise KinetreeError(f"{name}: the path of a file is expected, got {given!r:.200}")
    return Path(given)
