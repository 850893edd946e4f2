"""Values made of scalars, taken apart and put together: lists, tuples, dataclasses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

LEAF = "scalar"
"""Stands for a scalar in a structure."""


@dataclass(frozen=True)
class Constant:
    """A part of a value that is no scalar: it belongs to the structure, by its value.

    Arguments:
        value: anything that can be a key.
    """

    value: Any


def take_apart(value: Any, scalars: list[Any]) -> Any:
    """Append the scalars of a value to a list, and say how it is made of them.

    Returns:
        The structure: LEAF, None, a constant, or a type with the structures of its parts. It can be
        a key.
    """
    kind: Any = type(value)
    if value is None or kind is Constant:
        return value
    if kind is list or isinstance(value, tuple):
        return kind, tuple([take_apart(part, scalars) for part in value])
    names = _names(kind)
    if names is not None:
        return kind, tuple([take_apart(getattr(value, name), scalars) for name in names])
    scalars.append(value)
    return LEAF


def put_together(structure: Any, scalars: Iterator[Any]) -> Any:
    """The value of a structure, from its scalars."""
    if structure is LEAF:
        return next(scalars)
    if _is_empty(structure):
        return structure
    kind, parts = structure
    values = [put_together(part, scalars) for part in parts]
    if kind in (list, tuple):
        return kind(values)
    names = _names(kind)
    return kind(*values) if names is None else kind(**dict(zip(names, values, strict=True)))


def flat(value: Any) -> list[Any]:
    """The scalars of nested lists or arrays, in C order."""
    nested = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(nested, (list, tuple)):
        return [nested]
    return [x for part in nested for x in flat(part)]


@cache
def scalar_count(structure: Any) -> int:
    """How many scalars a structure has."""
    if structure is LEAF or _is_empty(structure):
        return int(structure is LEAF)
    return sum(scalar_count(part) for part in structure[1])


@cache
def parts(structure: Any, most: int) -> tuple[Any, ...]:
    """A structure's parts, and theirs, until none has more scalars; lists of scalars stay whole."""
    if structure is LEAF or _is_empty(structure) or scalar_count(structure) <= most:
        return (structure,)
    if all(part is LEAF for part in structure[1]):
        return (structure,)
    return tuple(found for part in structure[1] for found in parts(part, most))


def _is_empty(structure: Any) -> bool:
    """Whether a structure stands for itself and has no scalars."""
    return structure is None or type(structure) is Constant


@cache
def _names(kind: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass."""
    if not is_dataclass(kind):
        return None
    return tuple(field.name for field in fields(kind) if field.init)
