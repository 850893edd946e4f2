"""Parts of a robot that check what they are given: every field against its annotation.

A list becomes a tuple, a number a float. Scalars that are not numbers, such as traced and symbolic
ones, are taken as they are. Only fields whose default is infinite may be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.arguments import given_transform, given_vector
from kinetree.spatial import Transform, Vector3

NUMBERS = (int, float, np.integer, np.floating)
NO_SCALARS = (bool, complex, str, bytes, list, tuple, Mapping, np.bool_, np.ndarray, NoneType)


class Checked:
    """The base of frozen dataclasses whose fields are checked when they are made."""

    def __post_init__(self) -> None:
        part: Any = type(self)
        name = getattr(self, "name", None)
        what = f"{part.__name__} {name!r}" if isinstance(name, str) else part.__name__
        for field, kind, infinite in _kinds(part):
            value = taken(f"{what}: {field}", getattr(self, field), kind, infinite)
            object.__setattr__(self, field, value)


@cache
def _kinds(part: Any) -> tuple[tuple[str, Any, bool], ...]:
    """The name and the type of each field, and whether its numbers may be infinite."""
    try:
        hints = get_type_hints(part)
    except NameError:  # a class of the user whose annotations mean nothing here
        return ()
    return tuple((f.name, hints[f.name], _has_infinite_default(f)) for f in fields(part))


def _has_infinite_default(field: Field[Any]) -> bool:
    default = () if field.default is MISSING else field.default
    numbers = default if isinstance(default, tuple) else (default,)
    return any(isinstance(x, float) and math.isinf(x) for x in numbers)


def taken(what: str, value: Any, kind: Any, infinite: bool = False) -> Any:
    """A value as a type has it; an error that names it if it is none of this type.

    Arguments:
        what: what the value is, for the message.
        value: anything.
        kind: an annotation: a class, a tuple of types, or a union of classes, perhaps with None.
        infinite: whether numbers may be infinite.
    """
    if kind is float:
        return number(what, value, infinite)
    if kind in CONVERTED:
        return CONVERTED[kind](what, value)
    if get_origin(kind) is tuple:
        return _items(what, value, get_args(kind), infinite)
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if value is None and NoneType in kinds:
        return None
    kinds = tuple(k for k in kinds if k is not NoneType)
    if len(kinds) == 1 and get_origin(kinds[0]) is tuple:
        return _items(what, value, get_args(kinds[0]), infinite)
    value = value.item() if isinstance(value, (np.bool_, np.integer)) else value
    if len(kinds) == 1 and kinds[0] in CONVERTED:
        return CONVERTED[kinds[0]](what, value)
    if not isinstance(value, kinds):
        names = " or ".join(WORDS.get(k, f"a {k.__name__}") for k in kinds)
        raise ModelError(f"{what} must be {names}, got {value!r:.200}")
    return value


def number(what: str, value: Any, infinite: bool = False) -> Any:
    """A number as a float, another scalar as it is; an error that names it if it is neither.

    Arguments:
        what, value, infinite: as in `taken`.
    """
    plain = isinstance(value, NUMBERS) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if not plain and not isinstance(value, NO_SCALARS) and hasattr(value, "__mul__"):
        return value
    try:
        x = float(value) if plain and not isinstance(value, (bool, np.bool_)) else math.nan
    except (TypeError, ValueError, OverflowError):
        x = math.nan
    if math.isnan(x) or (math.isinf(x) and not infinite):
        word = "a number" if infinite else "a finite number"
        raise ModelError(f"{what} must be {word}, got {value!r:.200}")
    return x


def _items(what: str, value: Any, kinds: tuple[Any, ...], infinite: bool) -> tuple[Any, ...]:
    """A tuple of these types, or of any number of the first if an ellipsis follows it."""
    items: tuple[Any, ...] | None = None
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        items = tuple(np.atleast_1d(value) if isinstance(value, np.ndarray) else value)
    if items is not None and len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(taken(f"{what}[{k}]", x, kinds[0], infinite) for k, x in enumerate(items))
    if items is None or len(items) != len(kinds):
        many = "a list" if Ellipsis in kinds else f"{len(kinds)} values"
        raise ModelError(f"{what} must be {many}, got {value!r:.200}")
    pairs = enumerate(zip(items, kinds, strict=True))
    return tuple(taken(f"{what}[{k}]", x, kind, infinite) for k, (x, kind) in pairs)


WORDS = {str: "a text", bool: "True or False", int: "a whole number"}
CONVERTED: dict[Any, Callable[[str, Any], Any]] = {
    Vector3: lambda what, v: v if isinstance(v, Vector3) else given_vector(what, v),
    Transform: lambda what, X: given_transform(X, what),
}
