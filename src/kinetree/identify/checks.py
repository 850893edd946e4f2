"""Checks of settings that users give: a number of the right kind, or a sentence that names it."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, LogError
from kinetree.typing import Array


def positive(name: str, value: Any) -> float:
    """A finite number larger than zero."""
    if not _is_real(value) or not 0.0 < float(value) < math.inf:
        raise KinetreeError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def whole(name: str, value: Any, least: int) -> int:
    """A whole number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise KinetreeError(f"{name} must be a whole number, {least} or more, got {value!r}")
    return int(value)


def numbers(what: str, value: Any) -> Array:
    """An array of real numbers; NaN where one is missing."""
    try:
        array = np.asarray(value)
    except ValueError as e:
        raise LogError(f"{what} is ragged, its rows differ in length: {e}") from None
    if array.dtype.kind not in "fiub" or isinstance(value, np.ma.MaskedArray):
        raise LogError(f"{what} is no plain array of real numbers: its dtype is {array.dtype}")
    return array.astype(float)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
