"""Closed forms: the algorithms run on SymPy symbols, for small mechanisms."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from kinetree.errors import KinetreeError, MissingExtraError, unknown
from kinetree.model import Model
from kinetree.quantities import QUANTITIES, Derived, plain
from kinetree.settings import checked

ROUNDING = 1e-14  # within which a number is taken for a fraction
LARGEST_DENOMINATOR = 10**6


class ClosedForm(NamedTuple):
    """An expression for each entry of a quantity, and its symbols.

    entries: nested lists of SymPy expressions, in the shape of the quantity.
    symbols: by the name of the argument, such as "q": a list of SymPy symbols.
    """

    entries: Any
    symbols: dict[str, list[Any]]


def closed_form(
    robot: Any, quantity: str, method: str = "", *settings: Any, simplify: bool = True
) -> ClosedForm:
    """A quantity of a robot as expressions of q, v, ...

    Arguments:
        robot: a Robot, or a Model, whose numbers may be SymPy symbols; floats become fractions.
        quantity, method: as in `Robot.kernel`.
        settings: the quantity's settings, in their order.
        simplify: whether to simplify every entry, which takes most of the time.
    """
    try:
        import sympy
    except ImportError:
        raise MissingExtraError(
            "closed forms need SymPy, which is not installed: run pip install 'kinetree[symbolic]'"
        ) from None
    model = robot if isinstance(robot, Model) else getattr(robot, "model", None)
    if not isinstance(model, Model):
        raise KinetreeError(f"closed_form of {robot!r}: a Robot or a Model is expected")
    row = QUANTITIES.get(quantity)
    if row is None:
        raise unknown("quantity", quantity, QUANTITIES, "kinetree")
    if method and method not in row.methods:
        raise unknown("method", method, row.methods, quantity)
    if not row.closed_form:
        raise KinetreeError(f"{quantity} is a step of an iteration: it has no closed form to print")
    values = checked(model, quantity, settings)
    how = row.methods[method or next(iter(row.methods))]
    if isinstance(how, Derived):
        raise KinetreeError(
            f"{quantity} is made by differentiating a program: take the closed form of "
            f"{how.quantity} and differentiate that with SymPy"
        )
    symbols = {name: _symbols(name, kind.shape(model)) for name, kind in row.arguments}
    arguments = [
        symbols[name] if kind.shape(model) else symbols[name][0] for name, kind in row.arguments
    ]
    exact = _exact(model)
    loads: tuple[Any, ...] = ([],) if row.loads else ()
    entries = plain(how.algorithm(exact, *arguments, *loads, *values))
    finish = sympy.simplify if simplify else sympy.sympify
    return ClosedForm(_each(entries, finish), symbols)


def _symbols(name: str, shape: tuple[int, ...]) -> list[Any]:
    """The symbols of an argument, numbered from one unless it is one number."""
    import sympy

    if not shape:
        return [sympy.Symbol(name)]
    stem = f"{name}_" if name[-1].isdigit() else name
    return [sympy.Symbol(f"{stem}{k + 1}") for k in range(math.prod(shape))]


def nonzero(entries: Any, indices: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], Any]]:
    """The nonzero entries, each with its indices, which start at one."""
    if not isinstance(entries, list):
        return [] if entries == 0 else [(indices, entries)]
    listed = []
    for k, item in enumerate(entries, 1):
        listed += nonzero(item, (*indices, k))
    return listed


def printed(form: ClosedForm, letter: str, latex: bool = False) -> str:
    """The nonzero entries, one a line, as text or as LaTeX."""
    import sympy

    lines = []
    for indices, expression in nonzero(form.entries):
        places = ",".join(map(str, indices))
        if latex:
            symbol = f"\\{letter}" if letter in ("Gamma", "tau") else letter
            label = f"{symbol}_{{{places}}}" if indices else symbol
            lines.append(f"{label} = {sympy.latex(expression)}")
        else:
            label = f"{letter}_{places}" if indices else letter
            lines.append(f"{label} = {expression}")
    return "\n".join(lines) or "every entry is zero"


def _each(entries: Any, function: Any) -> Any:
    if isinstance(entries, (list, tuple)):
        return [_each(item, function) for item in entries]
    return function(entries)


def _exact(value: Any) -> Any:
    """A model, or a part of one, with fractions for its numbers."""
    import sympy

    if isinstance(value, bool) or value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        near = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
        close = abs(float(near) - value) <= ROUNDING * max(1.0, abs(value))
        return sympy.Rational(near if close else str(value))
    if isinstance(value, tuple):
        return tuple(_exact(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            f.name: _exact(getattr(value, f.name))
            for f in fields(value)
            if f.init and f.name not in ("shapes", "mount", "limits")
        }
        return replace(value, **changed)
    return value
