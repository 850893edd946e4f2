"""The functions of scalars, with one name each for every scalar type.

A `Fraction` stays a `Fraction`: its sine is the nearest double, taken as an exact rational, so an
algorithm on fractions has no rounding of its own. (The exponential map's series are floats.)
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from kinetree.errors import TraceError
from kinetree.scalar.operations import OPERATIONS, Partials, Scalar, enter

__all__ = [
    "FUNCTIONS",
    "NUMBERS",
    "TRUTHS",
    "absolute",
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "derivative_from",
    "exp",
    "known",
    "less",
    "less_equal",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "maximum",
    "minimum",
    "register",
    "select",
    "sin",
    "sqrt",
    "stop_gradient",
    "tanh",
]

Handler = Callable[[str, tuple[Any, ...]], Any]
_HANDLERS: dict[type, Handler] = {}


def register(kind: type, handler: Handler) -> None:
    """Make every function known to a scalar type.

    Arguments:
        kind: the type.
        handler: takes the name of an operation and its arguments, at least one of them of that
            type, and gives the result; or NotImplemented, if another type among them must.
    """
    _HANDLERS[kind] = handler


NUMBERS = (float, int, complex, Fraction, np.ndarray, np.generic)


@dataclass(frozen=True)
class _Definition:
    """What a function is for each type of number, and SymPy's name of it."""

    name: str
    real: Callable[..., Any]
    complex: Callable[..., Any]
    array: Callable[..., Any]
    symbol: str | Callable[..., Any]

    def __call__(self, *args: Scalar) -> Any:
        kinds = {type(x) for x in args}
        if np.ndarray in kinds and any(map(_of_objects, args)):
            return np.frompyfunc(self, len(args), 1)(*args)  # element by element
        for kind in kinds & _HANDLERS.keys():
            result = _HANDLERS[kind](self.name, args)
            if result is not NotImplemented:
                return result
        if any(_is_sympy(x) for x in args):
            return self._symbolic(*args)
        for x in args:
            if not isinstance(x, NUMBERS):
                raise TraceError(
                    f"{self.name} of a {type(x).__name__}: this scalar type is not supported"
                )
        if any(isinstance(x, (np.ndarray, np.generic)) for x in args):
            return self.array(*args)
        if any(isinstance(x, complex) for x in args):
            return self.complex(*args)
        result = self.real(*args)
        if isinstance(result, float) and any(isinstance(x, Fraction) for x in args):
            return Fraction(result)
        return result

    def _symbolic(self, *args: Scalar) -> Any:
        if callable(self.symbol):
            return self.symbol(*args)
        import sympy

        return getattr(sympy, self.symbol)(*args)


def _of_objects(x: object) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == object


def _is_sympy(x: object) -> bool:
    return type(x).__module__.partition(".")[0] == "sympy"


def _function(
    name: str,
    summary: str,
    definition: tuple[Any, Any, Any, Any],
    partials: Partials,
    *,
    arguments: str = "r",
    result: str = "r",
    parity: str = "",
    routine: tuple[str, int] | None = None,
) -> Any:
    """Enter a function in the table.

    Arguments:
        definition: for floats, for complex numbers, for arrays; for SymPy, its name there.
    """
    compute = _Definition(name, *definition)

    def function(*args: Scalar) -> Any:
        return compute(*args)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _documentation(summary, arguments, result)
    formula = f"{name}({', '.join('abc'[: len(arguments)])})"
    enter(name, arguments, result, formula, compute, partials, parity, routine)
    return function


TAKEN = {
    "r": "one scalar",
    "rr": "two scalars, a and b",
    "b": "one condition",
    "bb": "two conditions",
    "brr": "a condition and two scalars, a and b",
}
"""Arguments in words, by their kinds."""


def _documentation(summary: str, arguments: str, result: str) -> str:
    """The docstring of a function of the table."""
    made = "A condition" if result == "b" else "A scalar"
    return (
        f"{summary.rstrip()}\n\nArguments:\n    args: {TAKEN[arguments]}.\n\n"
        f"Returns:\n    {made} of the same type.\n"
    )


def _turned_by(function: Callable[[float], float]) -> Callable[[float], float]:
    """A trigonometric function of floats, NaN at infinity, as arrays and all targets have it."""

    def compute(x: float) -> float:
        try:
            return function(x)
        except ValueError:  # math.sin refuses infinity
            return math.nan

    return compute


sqrt: Any = _function(
    "sqrt",
    "The non-negative square root of a scalar.",
    (math.sqrt, cmath.sqrt, np.sqrt, "sqrt"),
    lambda z, a: (0.5 / z,),
)
sin: Any = _function(
    "sin",
    "The sine of a scalar, in radians.",
    (_turned_by(math.sin), cmath.sin, np.sin, "sin"),
    lambda z, a: (cos(a),),
    parity="odd",
    routine=("sincos", 0),
)
cos: Any = _function(
    "cos",
    "The cosine of a scalar, in radians.",
    (_turned_by(math.cos), cmath.cos, np.cos, "cos"),
    lambda z, a: (-sin(a),),
    parity="even",
    routine=("sincos", 1),
)
exp: Any = _function(
    "exp",
    "e to the power of a scalar.",
    (math.exp, cmath.exp, np.exp, "exp"),
    lambda z, a: (z,),
    routine=("exp", 0),
)
log: Any = _function(
    "log",
    "The natural logarithm of a scalar.",
    (math.log, cmath.log, np.log, "log"),
    lambda z, a: (1.0 / a,),
    routine=("log", 0),
)
tanh: Any = _function(
    "tanh",
    "The hyperbolic tangent of a scalar: a smooth step from -1 to 1.",
    (math.tanh, cmath.tanh, np.tanh, "tanh"),
    lambda z, a: (1.0 - z * z,),
    parity="odd",
    routine=("tanh", 0),
)


def _atan2_of_complex(y: Scalar, x: Scalar) -> Scalar:
    """atan2 near the real axis, analytic there: what complex-step differentiation needs.

    Turned back by the real parts' angle, the point lies near the positive real axis, where its
    angle is atan(y / x).
    """
    base = np.arctan2(np.real(y), np.real(x))
    c, s = np.cos(base), np.sin(base)
    along = x * c + y * s
    return base + np.arctan((y * c - x * s) / np.where(along == 0.0, 1.0, along))


def _atan2_of_arrays(y: Scalar, x: Scalar) -> Scalar:
    is_complex = np.iscomplexobj(y) or np.iscomplexobj(x)
    return _atan2_of_complex(y, x) if is_complex else np.arctan2(y, x)


atan2: Any = _function(
    "atan2",
    "The angle of the point (x, y), in (-pi, pi]: atan2(y, x).",
    (math.atan2, lambda y, x: complex(_atan2_of_complex(y, x)), _atan2_of_arrays, "atan2"),
    lambda z, y, x: (x * (1.0 / (x * x + y * y)), -(y * (1.0 / (x * x + y * y)))),
    arguments="rr",
    routine=("atan2", 0),
)


def asin(x: Scalar) -> Scalar:
    """The angle in [-pi/2, pi/2] whose sine is x.

    Arguments:
        x: a scalar in [-1, 1].

    Returns:
        A scalar of the same type, rad.
    """
    return atan2(x, sqrt((1.0 - x) * (1.0 + x)))


def acos(x: Scalar) -> Scalar:
    """The angle in [0, pi] whose cosine is x.

    Arguments:
        x: a scalar in [-1, 1].

    Returns:
        A scalar of the same type, rad.
    """
    return atan2(sqrt((1.0 - x) * (1.0 + x)), x)


def atan(x: Scalar) -> Scalar:
    """The angle in (-pi/2, pi/2) whose tangent is x.

    Arguments:
        x: a scalar.

    Returns:
        A scalar of the same type, rad.
    """
    return atan2(x, 1.0)


# Choice. Complex numbers compare by their real parts, so that complex-step differentiation takes
# the same way as the real computation.


def _compared(compare: Callable[[Any, Any], Any], symbol: str) -> Any:
    def by_real_part(a: Scalar, b: Scalar) -> Any:
        return compare(a.real, b.real)

    return by_real_part, by_real_part, by_real_part, symbol


less: Any = _function(
    "less",
    "The condition a < b.",
    _compared(operator.lt, "StrictLessThan"),
    lambda z, a, b: (None, None),
    arguments="rr",
    result="b",
)
less_equal: Any = _function(
    "less_equal",
    "The condition a <= b.",
    _compared(operator.le, "LessThan"),
    lambda z, a, b: (None, None),
    arguments="rr",
    result="b",
)


def _logical(function: Any, symbol: str) -> Any:
    return lambda *x: bool(function(*x)), lambda *x: bool(function(*x)), function, symbol


logical_and: Any = _function(
    "logical_and",
    "The condition that two conditions both hold.",
    _logical(np.logical_and, "And"),
    lambda z, a, b: (None, None),
    arguments="bb",
    result="b",
)
logical_or: Any = _function(
    "logical_or",
    "The condition that at least one of two conditions holds.",
    _logical(np.logical_or, "Or"),
    lambda z, a, b: (None, None),
    arguments="bb",
    result="b",
)
logical_not: Any = _function(
    "logical_not",
    "The condition that a condition does not hold.",
    _logical(np.logical_not, "Not"),
    lambda z, a: (None,),
    arguments="b",
    result="b",
)


def _choose(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    return np.where(condition, a, b) if isinstance(condition, np.ndarray) else a if condition else b


def _piecewise(condition: Any, a: Scalar, b: Scalar) -> Any:
    import sympy

    return sympy.Piecewise((a, condition), (b, True))


select: Any = _function(
    "select",
    "`a` where the condition holds, else `b`: the only branch that a traced algorithm may take.\n\n"
    "Both values are computed, so neither may divide by zero where the other is chosen.",
    (_choose, _choose, _choose, _piecewise),
    lambda z, c, a, b: (None, select(c, 1.0, 0.0), select(c, 0.0, 1.0)),
    arguments="brr",
)


def _absolute(a: Scalar) -> Scalar:
    return _choose(a.real < 0.0, -a, a)


def _minimum(a: Scalar, b: Scalar) -> Scalar:
    return _choose(b.real < a.real, b, a)


def _maximum(a: Scalar, b: Scalar) -> Scalar:
    return _choose(a.real < b.real, b, a)


absolute: Any = _function(
    "abs",
    "The absolute value of a scalar.",
    (_absolute, _absolute, _absolute, "Abs"),
    lambda z, a: (select(less(a, 0.0), -1.0, 1.0),),
    parity="even",
)
minimum: Any = _function(
    "min",
    "The smaller of two scalars.",
    (_minimum, _minimum, _minimum, "Min"),
    lambda z, a, b: (select(less(b, a), 0.0, 1.0), select(less(b, a), 1.0, 0.0)),
    arguments="rr",
)
maximum: Any = _function(
    "max",
    "The larger of two scalars.",
    (_maximum, _maximum, _maximum, "Max"),
    lambda z, a, b: (select(less(a, b), 0.0, 1.0), select(less(a, b), 1.0, 0.0)),
    arguments="rr",
)


def _same(a: Scalar) -> Scalar:
    return a


stop_gradient: Any = _function(
    "stop_gradient",
    "The scalar itself, taken as a constant by derivatives.\n\n"
    "What an iteration has found can be differentiated without differentiating the iteration. A\n"
    "complex number passes unchanged, so that complex-step differentiation sees no stop.",
    (_same, _same, _same, _same),
    lambda z, a: (None,),
    parity="odd",
)


def _first(a: Scalar, b: Scalar) -> Scalar:
    return a


derivative_from: Any = _function(
    "derivative_from",
    "The first of two scalars, with the derivatives of the second.\n\n"
    "So the solution of an equation has its implicit derivatives, whatever found it. A program\n"
    "that is not differentiated does not compute the second.",
    (_first, _first, _first, _first),
    lambda z, a, b: (None, 1.0),
    arguments="rr",
)


FUNCTIONS = frozenset(name for name, row in OPERATIONS.items() if row.routine)
"""Operations that a target computes by a routine rather than by an instruction."""
TRUTHS = frozenset(name for name, row in OPERATIONS.items() if row.result == "b")
"""Operations that give truth values."""


@singledispatch
def known(x: Scalar) -> float | None:
    """The value of a scalar that is constant.

    Arguments:
        x: a scalar of any type.

    Returns:
        Its value; None if it depends on the state, or its type does not show its value.
    """
    return float(x) if isinstance(x, (float, int)) else None
