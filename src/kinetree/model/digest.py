"""The digest of a model: a hash of every name and number that affects dynamics."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from numbers import Real
from typing import Any

from kinetree.spatial import Rotation

NOT_DYNAMICS = ("keyframes", "mount", "numerics", "shapes", "unread")
"""Fields of dataclasses that do not affect dynamics."""


def digest(model: object) -> str:
    """The hash of a model.

    Arguments:
        model: a dataclass.

    Returns:
        Hexadecimal digits.
    """
    h = hashlib.sha256()
    for part in _content(model):
        h.update(part.encode() + b";")
    return h.hexdigest()


def _content(value: object) -> Iterator[str]:
    """Every leaf of a model as text, each number exact."""
    kind = type(value)
    if kind is float:  # most are
        yield (value + 0.0).hex()  # type: ignore[operator]
    elif isinstance(value, Rotation):
        yield from _content(value.rows)  # whatever its form
    elif is_dataclass(kind):
        yield kind.__name__ + getattr(value, "code_token", "")
        for name in _dynamic_fields(kind):
            yield from _content(getattr(value, name))
    elif isinstance(value, tuple):
        yield str(len(value))
        for item in value:
            yield from _content(item)
    elif isinstance(value, Real):
        yield (float(value) + 0.0).hex()
    else:
        yield repr(value)


@cache
def _dynamic_fields(kind: Any) -> tuple[str, ...]:
    """The names of a dataclass' fields that affect dynamics."""
    return tuple(part.name for part in fields(kind) if part.name not in NOT_DYNAMICS)
