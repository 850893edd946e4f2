"""Scalars: their operations and functions, with one name each for every scalar type.

The spatial algebra and the algorithms are written over *scalars*: anything with + - * / and the
functions below. That is floats, NumPy arrays (a batch of scalars), complex numbers,
`fractions.Fraction`, SymPy expressions, and the types that register themselves here: traced
expressions (`kinetree.compiler.graph`) and dual numbers (`kinetree.scalar.dual`).
"""

from kinetree.scalar.calls import call, call_if, register_calls, register_guards
from kinetree.scalar.functions import *  # noqa: F403 - its __all__ is the one list of functions
from kinetree.scalar.functions import __all__ as _functions
from kinetree.scalar.operations import ALIASES, CALLS, LEAVES, OPERATIONS, Operation, Scalar

__all__ = ["ALIASES", "CALLS", "LEAVES", "OPERATIONS", "Operation", "Scalar"]
__all__ += ["call", "call_if", "register_calls", "register_guards"]
__all__ += _functions


def __dir__() -> list[str]:
    """What formulas use; tables of operations and hooks for scalar types are left out."""
    return sorted(n for n in __all__ if not n.isupper() and not n.startswith("register"))
