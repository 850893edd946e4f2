"""The functions of a scalar, one name each, for every scalar type.

The spatial algebra and the algorithms are written over *scalars*: anything with + - * / and the
functions below. That is floats, NumPy arrays (a batch of scalars), complex numbers,
`fractions.Fraction`, SymPy expressions, and the traced expressions of `kinetree.graph`, which
register themselves here.

A `Fraction` stays a `Fraction`: its sine is the nearest double, taken as an exact rational, so an
algorithm on fractions has no rounding of its own.
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


def _unary(name: str, summary: str) -> Callable[[Scalar], Scalar]:
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
    vars(function).update(__name__=name, __qualname__=name, __doc__=summary)
    return function


sin = _unary("sin", "The sine of a scalar, in radians.")
cos = _unary("cos", "The cosine of a scalar, in radians.")
sqrt = _unary("sqrt", "The non-negative square root of a scalar.")


@singledispatch
def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y), in (-pi, pi]."""
    if _is_sympy(y) or _is_sympy(x):
        import sympy

        return sympy.atan2(y, x)
    raise TraceError(f"atan2 of a {type(y).__name__}: not a scalar type Kinetree knows")


@atan2.register(float)
@atan2.register(int)
def _(y: Scalar, x: Scalar) -> Scalar:
    if isinstance(x, (float, int)):
        return math.atan2(y, x)
    return atan2.dispatch(type(x))(y, x)


@atan2.register(np.ndarray)
@atan2.register(np.generic)
def _(y: Scalar, x: Scalar) -> Scalar:
    return np.arctan2(y, x)


@atan2.register(Fraction)
def _(y: Scalar, x: Scalar) -> Scalar:
    return Fraction(math.atan2(y, x))


@atan2.register(complex)
def _(y: Scalar, x: Scalar) -> Scalar:
    # turned back by the real parts' angle, the point lies near the positive real axis, where
    # atan(y / x) is analytic: what complex-step differentiation needs
    base = math.atan2(complex(y).real, complex(x).real)
    c, s = math.cos(base), math.sin(base)
    return base + cmath.atan((y * c - x * s) / ((x * c + y * s) or 1.0))


@singledispatch
def less(a: Scalar, b: Scalar) -> Any:
    """The condition a < b. Complex numbers compare by their real parts."""
    if _is_sympy(a) or _is_sympy(b):
        import sympy

        return sympy.StrictLessThan(a, b)
    return a < b


@less.register(complex)
def _(a: Scalar, b: Scalar) -> Any:
    return a.real < complex(b).real


@less.register(np.ndarray)
def _(a: Scalar, b: Scalar) -> Any:
    return np.real(a) < np.real(b)


@singledispatch
def select(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    """`a` where the condition holds, else `b`: the only branch a traced algorithm may take.

    Both values are computed, so neither may divide by zero where the other is chosen.
    """
    if _is_sympy(condition):
        import sympy

        return sympy.Piecewise((a, condition), (b, True))
    return a if condition else b


@select.register(np.ndarray)
def _(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    return np.where(condition, a, b)
