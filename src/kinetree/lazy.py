"""Attributes that are computed when first asked for."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):
    """functools' cached_property without its lock, which Python 3.12 dropped.

    All instances of a class share that lock, and a process forked while another thread holds it
    would wait for ever. Two threads may both compute the value; they compute the same one.
    """

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self.attrname] = self.func(instance)
        return value
