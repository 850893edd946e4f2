"""Closed forms: the algorithms run on SymPy symbols, for small mechanisms."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from kinetree._lazy import listing
from kinetree._optional import optional
from kinetree.errors import KinetreeError, among, unknown
from kinetree.model import Model
from kinetree.quantities import QUANTITIES, Derived, plain
from kinetree.quantities.kernels import no_constraints
from kinetree.quantities.settings import checked

__all__ = ["ClosedForm", "closed_form", "nonzero", "printed"]
__dir__ = listing(__all__)

ROUNDING = 1e-14  # within which a number is taken for a fraction
LARGEST_DENOMINATOR = 10**6


LANGUAGES = {
    "c": "ccode",
    "fortran": "fcode",
    "julia": "julia_code",
    "matlab": "octave_code",
    "python": "pycode",
    "rust": "rust_code",
}
"""The languages in which a closed form prints itself, and SymPy's printer of each."""


class ClosedForm(NamedTuple):
    """An expression for each entry of a quantity, and its symbols.

    entries: nested lists of SymPy expressions, in the shape of the quantity; if it has several
        results, a list of those.
    symbols: by the name of the argument, such as "q": a list of SymPy symbols.
    results: the names of its results.
    """

    entries: Any
    symbols: dict[str, list[Any]]
    results: tuple[str, ...] = ("result",)

    @property
    def matrices(self) -> dict[str, Any]:
        """Each result by its name: a SymPy expression, Matrix, or Array of more than two axes."""
        from kinetree.compiler.runtime.foreign.sympy_arrays import matrix

        entries = [self.entries] if len(self.results) == 1 else self.entries
        return {name: matrix(part) for name, part in zip(self.results, entries, strict=True)}

    @property
    def matrix(self) -> Any:
        """The result of a quantity that has one: a Matrix, a column of a vector's entries."""
        if len(self.results) > 1:
            raise KinetreeError(
                f"there are {len(self.results)} results, {', '.join(self.results)}: use matrices"
            )
        return self.matrices[self.results[0]]

    def latex(self) -> str:
        """Every result as an equation in LaTeX, whole matrices on the right."""
        import sympy

        lines = []
        for name, value in self.matrices.items():
            symbol = sympy.latex(sympy.Symbol(name))
            lines.append(f"{symbol} = {sympy.latex(value)}")
        return "\n".join(lines)

    def source(self, language: str = "python") -> str:
        """The results as assignments in a programming language, shared terms computed once.

        Arguments:
            language: one of "python", "c", "fortran", "julia", "matlab" and "rust".

        Returns:
            A line for each shared term, x0, x1, ..., and for each entry of each result, whose name
            has the entry's indices: from one in Fortran, Julia and MATLAB, else from zero.
        """
        import sympy
        from sympy.utilities.iterables import numbered_symbols

        if not among(language, LANGUAGES):
            raise unknown("language", language, LANGUAGES, "ClosedForm.source")
        printer = getattr(sympy, LANGUAGES[language])
        first = 1 if language in ("fortran", "julia", "matlab") else 0
        targets, expressions = [], []
        for name, value in self.matrices.items():
            for places, expression in _places(value, first):
                targets.append("_".join([name, *map(str, places)]))
                expressions.append(expression)
        shared, final = sympy.cse(expressions, symbols=numbered_symbols("x"))
        lines = [(str(symbol), term) for symbol, term in shared]
        lines += zip(targets, final, strict=True)
        return "\n".join(_assignment(language, printer, *line) for line in lines)

    def function(self) -> Any:
        """A NumPy function of the arguments, each a sequence; its source is `inspect.getsource`.

        Returns:
            The function. It gives an array, or a tuple of them.
        """
        import sympy

        results = list(self.matrices.values())
        arguments = [group if len(group) > 1 else group[0] for group in self.symbols.values()]
        value = results[0] if len(results) == 1 else tuple(results)
        return sympy.lambdify(arguments, value, modules="numpy", cse=True)


def _places(value: Any, first: int) -> list[tuple[tuple[int, ...], Any]]:
    """The entries of a matrix or array with their indices; a column has one index."""
    if not hasattr(value, "shape"):
        return [((), value)]
    shape = value.shape[:1] if len(value.shape) == 2 and value.shape[1] == 1 else value.shape
    indices = product(*(range(n) for n in shape))
    flat = value.flat() if hasattr(value, "flat") else list(value._array)
    return [
        (tuple(i + first for i in place), entry) for place, entry in zip(indices, flat, strict=True)
    ]


def _assignment(language: str, printer: Any, name: str, expression: Any) -> str:
    """One statement."""
    if language == "fortran":
        return str(printer(expression, assign_to=name, source_format="free"))
    if language == "python":
        return f"{name} = {printer(expression)}"
    keyword = {"c": "const double ", "rust": "let "}.get(language, "")
    end = "" if language == "julia" else ";"
    return f"{keyword}{name} = {printer(expression)}{end}"


def closed_form(
    robot: Any, quantity: str, method: str = "auto", *settings: Any, simplify: bool = True
) -> ClosedForm:
    """A quantity of a robot as expressions of q, v, ...

    Arguments:
        robot: a Robot, or a Model, whose numbers may be SymPy symbols; floats become fractions.
        quantity, method: as in `Robot.kernel`.
        settings: the quantity's settings, in their order.
        simplify: whether to simplify every entry, which takes most of the time.
    """
    sympy = optional("sympy", "a closed form")
    model = robot if isinstance(robot, Model) else getattr(robot, "model", None)
    if not isinstance(model, Model):
        raise KinetreeError(f"closed_form of {robot!r}: a Robot or a Model is expected")
    row = QUANTITIES.get(quantity)
    if row is None:
        raise unknown("quantity", quantity, QUANTITIES, "kinetree")
    if method != "auto" and method not in row.methods:
        raise unknown("method", method, row.methods, quantity)
    if not row.closed_form:
        raise KinetreeError(
            f"{quantity} is computed by iterations or case by case and has no closed form"
        )
    if row.constrained and not model.constraints:
        raise no_constraints(model)
    values = checked(model, quantity, settings)
    how = row.methods[next(iter(row.methods)) if method == "auto" else method]
    if model.constraints and not how.constraints:
        raise KinetreeError(
            f"robot {model.name!r} has constraints, under which {quantity} has no closed form: use "
            "robot.without('constraints')"
        )
    if isinstance(how, Derived):
        raise KinetreeError(
            f"{quantity} is computed by differentiating a program: differentiate the closed form "
            f"of {how.quantity} with SymPy"
        )
    symbols = {name: _symbols(name, kind.shape(model)) for name, kind in row.arguments}
    arguments = [
        symbols[name] if kind.shape(model) else symbols[name][0] for name, kind in row.arguments
    ]
    exact = _exact(model)
    loads: tuple[Any, ...] = ([],) if row.loads else ()
    entries = plain(how.algorithm(exact, *arguments, *loads, *values))
    finish = sympy.simplify if simplify else sympy.sympify
    return ClosedForm(_each(entries, finish), symbols, tuple(row.results))


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


NO_PART = (
    *("shapes", "mount", "limits", "softness", "colliders", "contacts", "contact_options"),
    "unread",
)
"""Fields of a model that play no part in a closed form."""


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
            if f.init and f.name not in NO_PART
        }
        return replace(value, **changed)
    return value
