"""The functions of a scalar, one name each, for every scalar type.

The spatial algebra and the algorithms are written over *scalars*: anything with + - * / and the
functions below. That is floats, NumPy arrays (a batch of scalars), complex numbers,
`fractions.Fraction`, SymPy expressions, and the traced expressions of `kinetree.graph`, which
register themselves here.

A `Fraction` stays a `Fraction`: its sine is the nearest double, taken as an exact rational, so an
algorithm on fractions has no rounding of its own. (The exponential map's series are floats.)
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from kinetree.errors import TraceError

Scalar = Any
"""A scalar of any of the types above; which one is the caller's choice."""


def _is_sympy(x: object) -> bool:
    return type(x).__module__.partition(".")[0] == "sympy"


def _unary(name: str, summary: str) -> Any:
    """A function of one scalar, dispatched on the type of its argument."""
    real, complex_, array = getattr(math, name), getattr(cmath, name), getattr(np, name)

    @singledispatch
    def function(x: Scalar) -> Scalar:
        if _is_sympy(x):
            import sympy

            return getattr(sympy, name)(x)
        raise TraceError(f"{name} of a {type(x).__name__}: not a scalar type Kinetree knows")

    function.register(float, real)
    function.register(int, real)
    function.register(complex, complex_)
    function.register(np.ndarray, array)
    function.register(np.generic, array)
    function.register(Fraction, lambda x: Fraction(real(x)))
    function.__name__ = function.__qualname__ = name  # type: ignore[attr-defined]
    function.__doc__ = summary
    return function


sin = _unary("sin", "The sine of a scalar, in radians.")
cos = _unary("cos", "The cosine of a scalar, in radians.")
sqrt = _unary("sqrt", "The non-negative square root of a scalar.")


NUMBERS = (float, int, complex, Fraction, np.ndarray, np.generic)


@singledispatch
def known(x: Scalar) -> float | None:
    """The number that a scalar is, whatever the state: None where that depends or is not seen."""
    return float(x) if isinstance(x, (float, int)) else None


class Binary:
    """A function of two scalars, dispatched on the types of both.

    Arguments:
        name, summary: for messages and documentation.
        numbers: what it is for numbers of any type.
        symbols: the name of SymPy's function.
    """

    def __init__(self, name: str, summary: str, numbers: Callable[..., Any], symbols: str) -> None:
        self.__name__, self.__doc__ = name, summary
        self._numbers, self._symbols = numbers, symbols
        self._registered: dict[type, Callable[..., Any]] = {}

    def register(self, kind: type, function: Callable[..., Any]) -> None:
        """Use a function where either argument is of a type."""
        self._registered[kind] = function

    def __call__(self, a: Scalar, b: Scalar) -> Any:
        for kind, function in self._registered.items():
            if isinstance(a, kind) or isinstance(b, kind):
                return function(a, b)
        if _is_sympy(a) or _is_sympy(b):
            import sympy

            return getattr(sympy, self._symbols)(a, b)
        for x in (a, b):
            if not isinstance(x, NUMBERS):
                raise TraceError(
                    f"{self.__name__} of a {type(x).__name__}: not a scalar type Kinetree knows"
                )
        return self._numbers(a, b)


def _atan2(y: Scalar, x: Scalar) -> Scalar:
    if np.iscomplexobj(y) or np.iscomplexobj(x):
        angle = _atan2_complex(y, x)
        return complex(angle) if isinstance(y, complex) or isinstance(x, complex) else angle
    if isinstance(y, (np.ndarray, np.generic)) or isinstance(x, (np.ndarray, np.generic)):
        return np.arctan2(y, x)
    angle = math.atan2(y, x)
    return Fraction(angle) if isinstance(y, Fraction) or isinstance(x, Fraction) else angle


def _atan2_complex(y: Scalar, x: Scalar) -> Scalar:
    """atan2 near the real axis, analytic there: what complex-step differentiation needs.

    Turned back by the real parts' angle, the point lies near the positive real axis, where its
    angle is atan(y / x).
    """
    base = np.arctan2(np.real(y), np.real(x))
    c, s = np.cos(base), np.sin(base)
    along = x * c + y * s
    return base + np.arctan((y * c - x * s) / np.where(along == 0.0, 1.0, along))


atan2 = Binary("atan2", "The angle of the point (x, y), in (-pi, pi].", _atan2, "atan2")
less = Binary(
    "less",
    "The condition a < b. Complex numbers compare by their real parts.",
    lambda a, b: a.real < b.real,
    "StrictLessThan",
)


_CHOICES: dict[type, Callable[..., Scalar]] = {}


def register_choice(kind: type, function: Callable[..., Scalar]) -> None:
    """Choose by a function where either value is of a type, whatever the condition is."""
    _CHOICES[kind] = function


def select(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    """`a` where the condition holds, else `b`: the only branch a traced algorithm may take.

    Both values are computed, so neither may divide by zero where the other is chosen.
    """
    for kind, function in _CHOICES.items():
        if isinstance(a, kind) or isinstance(b, kind):
            return function(condition, a, b)
    return choose(condition, a, b)


@singledispatch
def choose(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    """`select`, dispatched on the type of the condition."""
    if _is_sympy(condition):
        import sympy

        return sympy.Piecewise((a, condition), (b, True))
    return a if condition else b


@choose.register(np.ndarray)
def _(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    return np.where(condition, a, b)
