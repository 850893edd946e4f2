"""Attributes that are computed, and names that are imported, on first access."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """As functools.cached_property, without the lock that it had before Python 3.12.

    All instances of a class share that lock, and a process forked while another thread holds it
    would wait for ever. Two threads may both compute the value; they compute the same one.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.name, self.__doc__ = function, "", function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...

    def __get__(self, instance: object, owner: type | None = None) -> cached_property[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The function `__getattr__` of a package whose parts are imported on first access.

    Arguments:
        homes: for each name the module that has it; none if it is a module of the package itself.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not homes[name]:
            return import_module(f"{package}.{name}")
        return getattr(import_module(homes[name]), name)

    return find


def listing(names: Iterable[str]) -> Callable[[], list[str]]:
    """The function `__dir__` of a module: it shows only the public names.

    Arguments:
        names: the module's `__all__`.
    """
    shown = sorted(names)
    return lambda: list(shown)
