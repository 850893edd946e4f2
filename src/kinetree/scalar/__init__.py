"""Scalars: their operations and functions, with one name each for every scalar type.

The spatial algebra and the algorithms are written over *scalars*: anything with + - * / and the
functions below. That is floats, NumPy arrays (a batch of scalars), complex numbers,
`fractions.Fraction`, SymPy expressions, and the types that register themselves here: traced
expressions (`graph`) and dual numbers (`kinetree.scalar.dual`).

`OPERATIONS` is the closed set of operations: every node of every traced program is one of them. A
row is entered by one statement and says everything about its operation: what it takes and gives,
what it computes, its derivatives, its symmetry. A compiler's target adds one line to its own table.

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
from kinetree.scalar.structure import take_apart

Scalar = Any
"""A scalar of any of the types above; which one is the caller's choice."""
Partials = Callable[..., tuple[Scalar | None, ...]]
"""From the result z and the arguments to the derivative of z by each argument."""


@dataclass(frozen=True)
class Operation:
    """One row of the table.

    arguments: a letter for each: r a real number, b a truth value.
    result: the letter of what it gives.
    formula: what it computes, for readers; a and b are the arguments.
    compute: what it computes, on any scalar: the definition that every target must agree with.
    partials: its derivatives; None where an argument is a truth value, or altogether if it is never
        differentiated.
    parity: "odd" if f(-x) = -f(x), "even" if f(-x) = f(x).
    routine: if a target computes it for many arguments at once, the name of that routine and which
        of its results this is. Such an operation is called a function.
    """

    arguments: str
    result: str
    formula: str
    compute: Callable[..., Any]
    partials: Partials | None = None
    parity: str = ""
    routine: tuple[str, int] | None = None


OPERATIONS: dict[str, Operation] = {}


def _operation(name: str, *row: Any) -> None:
    OPERATIONS[name] = Operation(*row)


# Leaves: their value is in the node, or in a call's memory.
_operation("const", "", "r", "a number", lambda: None)
_operation("input", "", "r", "an element of an argument", lambda: None)
_operation("call", "", "c", "a function of the program, with any number of arguments", lambda: None)
_operation("item", "c", "r", "one result of a call", lambda: None)

# Arithmetic, which scalars have as operators.
_operation("neg", "r", "r", "-a", operator.neg, lambda z, a: (-1.0,))
_operation("add", "rr", "r", "a + b", operator.add, lambda z, a, b: (1.0, 1.0))
_operation("sub", "rr", "r", "a - b", operator.sub, lambda z, a, b: (1.0, -1.0))
_operation("mul", "rr", "r", "a b", operator.mul, lambda z, a, b: (b, a))
_operation("div", "rr", "r", "a / b", operator.truediv, lambda z, a, b: (1.0 / b, -(z * (1.0 / b))))

# A product and a sum in one, with one rounding where the target can. A trace never has them;
# `graph.fuse` makes them when everything else is done.
_operation("fma", "rrr", "r", "a b + c", lambda a, b, c: a * b + c)
_operation("fms", "rrr", "r", "a b - c", lambda a, b, c: a * b - c)
_operation("fnma", "rrr", "r", "c - a b", lambda a, b, c: c - a * b)
_operation("fnms", "rrr", "r", "-(a b) - c", lambda a, b, c: -(a * b) - c)


# Functions.

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


_CALLERS: dict[type, Callable[..., Any]] = {}


def register_calls(kind: type, caller: Callable[..., Any]) -> None:
    """Let a scalar type decide how `call` runs a function.

    Arguments:
        kind: the type.
        caller: takes a scalar of that type, the function and its arguments.
    """
    _CALLERS[kind] = caller


MANY = 24
"""Calls of one function from which on they pay: what they read and write passes through memory."""


def call(function: Callable[..., Any], *values: Any, times: int) -> Any:
    """function(*values); in a long program that does so often, a call of one routine.

    What an algorithm does for each of many columns, pairs or bodies is then compiled once.

    Arguments:
        function: from scalars, or lists, tuples and dataclasses of them, to the same. It must
            depend on nothing but its arguments: it is traced once for all calls that have zeros
            and ones in the same places.
        values: its arguments. What is the same in every call costs nothing; other values are laid
            down in memory, each once.
        times: how often the algorithm does this, about.
    """
    if times >= MANY:
        scalars: list[Scalar] = []
        for value in values:
            take_apart(value, scalars)
        for x in scalars:
            if type(x) in _CALLERS:
                return _CALLERS[type(x)](x, function, values)
    return function(*values)


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
        for kind in {type(x) for x in args} & _HANDLERS.keys():
            found = _HANDLERS[kind](self.name, args)
            if found is not NotImplemented:
                return found
        if any(_is_sympy(x) for x in args):
            return self._symbolic(*args)
        for x in args:
            if not isinstance(x, NUMBERS):
                raise TraceError(
                    f"{self.name} of a {type(x).__name__}: not a scalar type Kinetree knows"
                )
        if any(isinstance(x, (np.ndarray, np.generic)) for x in args):
            return self.array(*args)
        if any(isinstance(x, complex) for x in args):
            return self.complex(*args)
        found = self.real(*args)
        if isinstance(found, float) and any(isinstance(x, Fraction) for x in args):
            return Fraction(found)
        return found

    def _symbolic(self, *args: Scalar) -> Any:
        if callable(self.symbol):
            return self.symbol(*args)
        import sympy

        return getattr(sympy, self.symbol)(*args)


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
    function.__doc__ = summary
    formula = f"{name}({', '.join('abc'[: len(arguments)])})"
    _operation(name, arguments, result, formula, compute, partials, parity, routine)
    return function


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
    """The angle in [-pi/2, pi/2] whose sine is x."""
    return atan2(x, sqrt((1.0 - x) * (1.0 + x)))


def acos(x: Scalar) -> Scalar:
    """The angle in [0, pi] whose cosine is x."""
    return atan2(sqrt((1.0 - x) * (1.0 + x)), x)


def atan(x: Scalar) -> Scalar:
    """The angle in (-pi/2, pi/2) whose tangent is x."""
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
    """`a` where the condition holds, else `b`: the only branch that a traced algorithm may take.

    Both values are computed, so neither may divide by zero where the other is chosen.
    """,
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


LEAVES = frozenset({"const", "input", "call", "item"})
"""What is no arithmetic: numbers, arguments, calls and their results."""
FUNCTIONS = frozenset(name for name, row in OPERATIONS.items() if row.routine)
"""Operations that a target computes by a routine rather than by an instruction."""
TRUTHS = frozenset(name for name, row in OPERATIONS.items() if row.result == "b")
"""Operations that give truth values."""


@singledispatch
def known(x: Scalar) -> float | None:
    """The value of a scalar that is constant; None if it depends on the state or cannot be seen."""
    return float(x) if isinstance(x, (float, int)) else None
