"""Marks that several test files share."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_if(is_slow: Callable[[Any], bool], values: Iterable[Any]) -> list[Any]:
    """Values for `pytest.mark.parametrize`, those that take long marked as slow."""
    marks = {True: [pytest.mark.slow], False: []}
    return [pytest.param(value, marks=marks[bool(is_slow(value))]) for value in values]
