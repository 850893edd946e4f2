"""Checks of numbers passed to methods that are not kernels, by the rules of `runtime.arrays`.

Invalid numbers are refused on entry, with a message that names the argument.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from kinetree.compiler.runtime.arrays import plain_array
from kinetree.errors import DtypeError, KinetreeError, ShapeError, StateError
from kinetree.typing import Array

MOST_SAMPLES = 1e9
"""Of a motion: more would not fit into memory."""


def real_array(name: str, given: Any, *shape: int | None) -> Array:
    """An array of float64.

    Arguments:
        name: of the argument, for messages.
        given: anything that NumPy makes an array of.
        shape: of the last axes, None for one of any length; any shape if there is none.
    """
    array = np.asarray(plain_array(name, given), float)
    last = array.shape[array.ndim - len(shape) :] if array.ndim >= len(shape) else ()
    if len(last) != len(shape) or any(n not in (None, m) for n, m in zip(shape, last, strict=True)):
        sizes = ", ".join("n" if n is None else str(n) for n in shape)
        raise ShapeError(f"{name} has shape {array.shape}; (..., {sizes}) is expected")
    return array


def finite_array(name: str, given: Any, *shape: int | None) -> Array:
    """As `real_array`, with finite numbers only."""
    array = real_array(name, given, *shape)
    wrong = array[~np.isfinite(array)]
    if wrong.size:
        raise StateError(f"{name} must be finite, and holds {wrong.flat[0]}")
    return array


def finite_state(name: str, given: Any, length: int) -> Array:
    """One state's numbers, (length,), all finite."""
    array = finite_array(name, given, length)
    if array.ndim != 1:
        raise ShapeError(f"{name} has shape {array.shape}; ({length},) is expected: one state")
    return array


def spread(name: str, given: Any, shape: tuple[int, ...]) -> Array:
    """Finite numbers, broadcast to a shape."""
    array = finite_array(name, given)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ShapeError(
            f"{name} has shape {array.shape}; {shape} is expected, or what broadcasts to it"
        ) from None


def sample_count(duration: float, rate: float, least: int = 2, name: str = "rate") -> int:
    """How many samples a time has, both ends included.

    Arguments:
        duration: s.
        rate: samples a second.
        least: the smallest valid number of samples.
        name: of the argument that says the rate, for messages.
    """
    if not duration * rate <= MOST_SAMPLES:
        raise KinetreeError(
            f"{name}={rate:g} a second for a duration of {duration:g} s: fewer than "
            f"{MOST_SAMPLES:.0e} samples are expected"
        )
    return max(least, round(duration * rate) + 1)


def generator(name: str, given: Any) -> np.random.Generator:
    """Random numbers, from a generator of NumPy, a seed, or None for new ones each time."""
    if isinstance(given, np.random.Generator):
        return given
    return np.random.default_rng(None if given is None else count(name, given, 0))


def motors(nv: int, actuated: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which joints have motors, (nv,) of truth values, at least one; all if None is given."""
    if actuated is None:
        return np.ones(nv, bool)
    given = real_array("actuated", actuated)
    drives = given != 0.0
    if drives.shape != (nv,) or not drives.any() or not np.isfinite(given).all():
        raise ShapeError(
            f"actuated must be {nv} truth values, one of them true, got {actuated!r:.200}"
        )
    return drives


def number(name: str, given: Any, least: float = -math.inf, above: float = -math.inf) -> float:
    """A finite number.

    Arguments:
        name: of the argument, for messages.
        given: anything that NumPy makes a number of, except truth values.
        least: the smallest that is valid.
        above: what it must be larger than.
    """
    expected = "a finite number"
    if above > -math.inf:
        expected = "a positive number" if above == 0.0 else f"a number above {above:g}"
    elif least > -math.inf:
        expected = f"a number of at least {least:g}"
    try:
        array = np.asarray(plain_array(name, given), float)
    except (DtypeError, ShapeError):
        array = np.empty(0)
    value = math.nan if array.size != 1 or isinstance(given, (bool, np.bool_)) else array.item()
    if not (math.isfinite(value) and value >= least and value > above):
        raise KinetreeError(f"{name} must be {expected}, got {given!r:.200}")
    return value


def count(name: str, given: Any, least: int = 1) -> int:
    """A whole number.

    Arguments:
        name: of the argument, for messages.
        given: an int, of Python or NumPy.
        least: the smallest that is valid.
    """
    try:
        value = operator.index(given)
    except TypeError:
        value = None
    if value is None or isinstance(given, (bool, np.bool_)) or not least <= value < 1 << 63:
        raise KinetreeError(
            f"{name} must be a whole number of at least {least}, got {given!r:.200}"
        )
    return value
