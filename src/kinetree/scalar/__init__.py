"""Scalars: their operations and functions, with one name each for every scalar type.

The spatial algebra and the algorithms are written over *scalars*: anything with + - * / and the
functions below. That is floats, NumPy arrays (a batch of scalars), complex numbers,
`fractions.Fraction`, SymPy expressions, and the types that register themselves here: traced
expressions (`kinetree.compiler.graph`) and dual numbers (`kinetree.scalar.dual`).
"""

from kinetree.scalar.calls import call, register_calls
from kinetree.scalar.functions import (
    FUNCTIONS,
    NUMBERS,
    TRUTHS,
    absolute,
    acos,
    asin,
    atan,
    atan2,
    cos,
    exp,
    known,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    register,
    select,
    sin,
    sqrt,
    tanh,
)
from kinetree.scalar.operations import LEAVES, OPERATIONS, Operation, Scalar

__all__ = [
    "FUNCTIONS",
    "LEAVES",
    "NUMBERS",
    "OPERATIONS",
    "TRUTHS",
    "Operation",
    "Scalar",
    "absolute",
    "acos",
    "asin",
    "atan",
    "atan2",
    "call",
    "cos",
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
    "register_calls",
    "select",
    "sin",
    "sqrt",
    "tanh",
]


def __dir__() -> list[str]:
    return __all__
