"""SymPy: a kernel called with symbols gives expressions, its program run on them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._optional import optional
from kinetree.compiler.graph.evaluate import values
from kinetree.compiler.graph.program import shaped, size
from kinetree.compiler.runtime.arrays import check_count, refuse_masked
from kinetree.compiler.runtime.foreign import no_numbers, refuse_out
from kinetree.errors import DtypeError, ShapeError

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel

sympy = optional("sympy", "a kernel of symbols")


def call(kernel: Kernel, arrays: Sequence[Any], out: Any) -> Any:
    """The results of a kernel as SymPy's expressions, matrices, or arrays of more axes.

    Their numbers are floats; those of `kinetree.robot.symbolic.closed_form` are fractions.
    """
    refuse_out(kernel, out, "SymPy")
    check_count(kernel.name, kernel.interface.inputs, arrays)
    inputs = kernel.interface.inputs
    pairs = zip(inputs, arrays, strict=True)
    given = [_elements(f"{kernel.name}: {name}", shape, x) for (name, shape), x in pairs]
    program = kernel.program
    found = values(program, given)
    results = [matrix(shaped([found[n] for n in o.nodes], o.shape)) for o in program.outputs]
    return results[0] if len(results) == 1 else tuple(results)


def _elements(what: str, shape: tuple[int, ...], given: Any) -> list[Any]:
    if not isinstance(given, (sympy.Basic, sympy.MatrixBase)):
        _check_numbers(what, given)
    array = sympy.Array(given) if not isinstance(given, sympy.Expr) else sympy.Array([given])
    elements = list(sympy.flatten(array.tolist()))
    if len(elements) != size(shape):
        raise ShapeError(f"{what} has {len(elements)} elements; {size(shape)} are expected")
    return elements


def _check_numbers(what: str, given: Any) -> None:
    """Refuse what is neither an expression nor a real number: SymPy would evaluate text."""
    refuse_masked(what, given)
    for x in np.asarray(given, dtype=object).flat:
        if not isinstance(x, (sympy.Basic, sympy.MatrixBase, Real, np.bool_)):
            raise DtypeError(
                f"{what} has an element {x!r}; expressions and real numbers are expected"
            )


def to_numpy(what: str, array: Any) -> Any:
    """Refuse an expression."""
    raise no_numbers(what, "sympy_arrays", "give NumPy's array, as from numpy.array(x, float)")


def matrix(entries: Any) -> Any:
    """Nested lists as an expression, a column, a matrix or an array, by how deep they are."""
    depth, inner = 0, entries
    while isinstance(inner, (list, tuple)) and inner:
        depth, inner = depth + 1, inner[0]
    if depth == 0:
        return sympy.sympify(entries)
    return sympy.Matrix(entries) if depth < 3 else sympy.Array(entries)
