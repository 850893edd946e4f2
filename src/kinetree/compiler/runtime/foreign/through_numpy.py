"""Functions that compute with NumPy, called with arrays of other packages.

Kernels take such arrays themselves. A function that is written with NumPy is decorated:

- `through_numpy`: the function gets NumPy's arrays, and its results are given back as arrays of the
  package, on the device of the first. What has no numbers yet, and what would lose its gradient on
  the way, is refused.
- `through_numpy_or_cupy`: the same, but the function takes CuPy's arrays as they are. Arrays of
  other packages on a GPU become CuPy's, in the same memory.
- `numpy_alone`: such arrays are refused, because the results are objects that compute with NumPy.

A refusal names the function, the argument and the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import wraps
from inspect import BoundArguments, Parameter, signature
from typing import Any, NamedTuple, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from kinetree.compiler.runtime.foreign import (
    KINDS,
    foreign_module,
    foreign_name,
    foreign_name_of_type,
)
from kinetree.errors import DtypeError

P = ParamSpec("P")
T = TypeVar("T")

WITH_CUPY = ("jax_arrays", "torch_arrays")
"""The packages whose arrays on a GPU can become CuPy's."""
KNOWN: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""What `_may_have_arrays` found for each type."""


def through_numpy(function: Callable[P, T]) -> Callable[P, T]:
    """A function of NumPy's arrays as one of arrays of any package that has numbers."""
    return _decorated(function, ())


def through_numpy_or_cupy(function: Callable[P, T]) -> Callable[P, T]:
    """As `through_numpy`, for a function that takes CuPy's arrays, too."""
    return _decorated(function, ("cupy_arrays",))


def named_in_messages(name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Give a function the name that users know it by."""

    def named(function: Callable[P, T]) -> Callable[P, T]:
        function.__qualname__ = name
        return function

    return named


def numpy_alone(function: Callable[P, T]) -> Callable[P, T]:
    """A function of NumPy's arrays that refuses those of other packages."""

    @wraps(function)
    def refusing(*args: P.args, **kwargs: P.kwargs) -> T:
        for given in _foreign_arrays(function, args, kwargs):
            raise DtypeError(
                f"{given.what} is {KINDS[given.package]}; an array of NumPy is expected, because "
                "what is returned computes with NumPy"
            )
        return function(*args, **kwargs)

    return refusing


def _decorated(function: Callable[P, T], native: tuple[str, ...]) -> Callable[P, T]:
    """A function that is called with NumPy's arrays, or with those of packages that it knows."""

    @wraps(function)
    def converting(*args: P.args, **kwargs: P.kwargs) -> T:
        given = _foreign_arrays(function, args, kwargs)
        if not given:
            return function(*args, **kwargs)
        first = given[0]
        _check_same(given)
        if first.package in native:
            return function(*args, **kwargs)
        module = foreign_module(first.package)
        on_gpu = native and first.package in WITH_CUPY and module.on_gpu(first.array)
        take = module.to_cupy if on_gpu else module.to_numpy
        with module.beside(first.array) if on_gpu else nullcontext():
            numbers = {id(x.array): take(x.what, x.array) for x in given}
            arguments = [_with_numbers(x, numbers) for x in args]
            named = {name: _with_numbers(x, numbers) for name, x in kwargs.items()}
            result = function(*arguments, **named)
        give = module.from_cupy if on_gpu else module.from_numpy
        returned: T = converted(result, lambda array: give(array, first.array))
        return returned

    return converting


class _Given(NamedTuple):
    """An array of another package among the arguments of a call.

    what: the function and the argument, for messages.
    package: the file of `foreign` that knows it.
    """

    what: str
    array: Any
    package: str


def _foreign_arrays(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[_Given]:
    """The arrays of other packages among the arguments, in order."""
    given = [x for x in (*args, *kwargs.values()) if _may_have_arrays(type(x))]
    if not any(True for x in given for _ in _arrays(x)):
        return []
    try:
        bound = signature(function).bind(*args, **kwargs)
    except TypeError:
        return []  # the call itself says what is wrong
    return [
        _Given(f"{name_of(function)}: {name}", array, foreign_name((array,)))
        for name, value in _named(bound)
        for array in _arrays(value)
    ]


def _named(bound: BoundArguments) -> Iterator[tuple[str, Any]]:
    """Arguments by name; those that a function takes by any name have their own."""
    parameters = bound.signature.parameters
    for name, value in bound.arguments.items():
        if parameters[name].kind is Parameter.VAR_KEYWORD:
            yield from value.items()
        else:
            yield name, value


def name_of(function: Callable[..., Any]) -> str:
    """What users call a function: its name, or that of its class if it makes or is an object."""
    owner, _, name = function.__qualname__.rpartition(".")
    return owner if name in ("__init__", "__call__") else name.strip("_")


def _arrays(value: Any) -> Iterator[Any]:
    """The arrays of other packages in a value, also within lists and mappings."""
    if not _may_have_arrays(type(value)):
        return
    if isinstance(value, (list, tuple, Mapping)):
        inside = list(value.values()) if isinstance(value, Mapping) else value
        if any(_may_have_arrays(kind) for kind in {type(x) for x in inside}):
            for x in inside:
                yield from _arrays(x)
    elif hasattr(value, "shape") or foreign_name((value,)) == "sympy_arrays":
        yield value  # and no device, module or compiled function of that package


def _may_have_arrays(kind: Any) -> bool:
    """Whether values of a type are of a package that has a file in `foreign`, or hold others."""
    found = KNOWN.get(kind)
    if found is None:
        container = issubclass(kind, (list, tuple, Mapping))
        found = KNOWN[kind] = container or bool(foreign_name_of_type(kind))
    return found


def _check_same(given: list[_Given]) -> None:
    """Refuse arrays of several packages in one call."""
    first = given[0]
    for other in given:
        if other.package != first.package:
            raise DtypeError(
                f"{first.what} is {KINDS[first.package]}, and {other.what.rpartition(' ')[2]} is "
                f"{KINDS[other.package]}; arrays of one package are expected, and NumPy's"
            )


def _with_numbers(value: Any, numbers: Mapping[int, Any]) -> Any:
    """An argument with NumPy's arrays in place of others; itself if there are none in it.

    Arguments:
        numbers: NumPy's arrays by the identity of the others.
    """
    if id(value) in numbers:
        return numbers[id(value)]
    if not any(True for _ in _arrays(value)):
        return value
    if isinstance(value, Mapping):
        return {name: _with_numbers(x, numbers) for name, x in value.items()}
    return [_with_numbers(x, numbers) for x in value]


def converted(value: Any, convert: Callable[[Any], Any]) -> Any:
    """A result with its arrays converted: one array, or several in a tuple, a mapping, a record.

    An object with arrays in it has a method `with_arrays(convert)`.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return convert(np.asarray(value))
    if foreign_name_of_type(type(value)) == "cupy_arrays":
        return convert(value)
    if isinstance(value, tuple):
        items = [converted(x, convert) for x in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if hasattr(value, "with_arrays"):
        return value.with_arrays(convert)
    if isinstance(value, dict):
        return {name: converted(x, convert) for name, x in value.items()}
    return value
