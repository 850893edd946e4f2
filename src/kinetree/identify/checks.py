"""Checks of measurements: arrays of real numbers, in which some may be missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError
from kinetree.typing import Array


def truths(what: str, value: Any, *shapes: tuple[int, ...]) -> NDArray[np.bool_]:
    """An array of booleans, of one of these shapes."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(())
    if array.dtype != bool or array.shape not in shapes:
        expected = " or ".join(map(str, shapes))
        raise LogError(f"{what} must be booleans of shape {expected}, got {value!r:.200}")
    return array


def numbers(what: str, value: Any) -> Array:
    """An array of real numbers; NaN where one is missing."""
    try:
        array = np.asarray(value)
    except ValueError as e:
        raise LogError(f"{what} is ragged, its rows differ in length: {e}") from None
    if array.dtype.kind not in "fiub" or isinstance(value, np.ma.MaskedArray):
        raise LogError(f"{what} must be a plain array of real numbers; its dtype is {array.dtype}")
    return array.astype(float)
