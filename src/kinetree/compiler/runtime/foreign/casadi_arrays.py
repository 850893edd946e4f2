"""CasADi: a kernel as a function of SX, and as an external function in C with its derivatives.

CasADi has matrices only. A number is 1 x 1, a vector of n numbers n x 1; of an array with more axes
the last is the columns, and all others together are the rows. Entries that are zero in every state
are structural zeros.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree._optional import optional
from kinetree.compiler.emit.c_casadi import CasadiFunction, Matrix, interface_source
from kinetree.compiler.emit.c_names import is_identifier
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.differentiate import jacobian, vjp
from kinetree.compiler.graph.evaluate import selected, values
from kinetree.compiler.graph.program import Output, size, trace
from kinetree.compiler.runtime.arrays import check_count, plain_array
from kinetree.compiler.runtime.foreign import no_numbers, refuse_out
from kinetree.errors import KinetreeError, ShapeError
from kinetree.scalar import ALIASES, register

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel

cs = optional("casadi", "CasADi's functions of a kernel")

NAMES = {
    "less": "lt",
    "less_equal": "le",
    "logical_and": "logic_and",
    "logical_or": "logic_or",
    "logical_not": "logic_not",
    "select": "if_else",
    "abs": "fabs",
    "min": "fmin",
    "max": "fmax",
}
"""CasADi's names of functions, where they are not ours."""


def computed(name: str, args: Sequence[Any]) -> Any:
    """A function of the table of operations, by CasADi."""
    if name in ALIASES:  # CasADi's derivatives go through them: it has no such operation
        return args[0]
    return getattr(cs, NAMES.get(name, name))(*args)


for kind in (cs.SX, cs.MX):
    register(kind, computed)


def call(kernel: Kernel, arrays: Sequence[Any], out: Any) -> Any:
    """The results of a kernel: numbers (DM) for numbers, else expressions (SX or MX)."""
    refuse_out(kernel, out, "CasADi")
    given = _arguments(kernel, arrays)
    results = kernel.in_package("casadi", sx_function).call(given)
    return results[0] if len(results) == 1 else tuple(results)


def sx_function(kernel: Kernel, name: str = "") -> Any:
    """A kernel as a casadi.Function whose every operation CasADi sees.

    Arguments:
        name: of the function; by default the quantity's.
    """
    program = kernel.program
    inputs = [cs.SX.sym(i.name, *dimensions(i.shape)) for i in program.inputs]
    found = values(program, [_row_major(x) for x in inputs])
    results = []
    for output in program.outputs:
        matrix = _matrix(program, output)
        elements = [found[n] for n in _nodes(program, output)]
        results.append(cs.SX(_sparsity(matrix), cs.vertcat(*elements)))
    names = [i.name for i in program.inputs], [o.name for o in program.outputs]
    return cs.Function(_function_name(kernel, name), inputs, results, *_distinct(*names))


def external_function(
    kernel: Kernel, name: str = "", folder: str | Path | None = None, hessian: bool = True
) -> Any:
    """A kernel as an external casadi.Function: compiled C with its Jacobian, gradient and Hessian.

    Arguments:
        name: of the function; by default the quantity's.
        folder: where its source and its library are kept; a temporary one by default.
        hessian: whether to compile the derivative of the gradient, too.
    """
    from kinetree.compiler.runtime.c_code import compile_library  # not needed but here

    where = Path(tempfile.mkdtemp(prefix="kinetree-") if folder is None else folder)
    where.mkdir(parents=True, exist_ok=True)
    function = _function_name(kernel, name)
    source = where / f"{function}.c"
    source.write_text(external_source(kernel, function, hessian), encoding="utf-8")
    return cs.external(function, str(compile_library(source, level=1)))


def external_source(kernel: Kernel, name: str = "", hessian: bool = True) -> str:
    """The C source of `external_function`, as solvers that compile it themselves take it."""
    function = _function_name(kernel, name)
    return "\n".join(map(interface_source, _functions(kernel, function, hessian)))


def _functions(kernel: Kernel, name: str, hessian: bool) -> list[CasadiFunction]:
    """The function and its derivatives, under the names by which CasADi looks for them."""
    plain = plain_function(kernel, name)
    gradient = _gradient(plain)
    return [plain, _jacobian(plain), gradient, *([_jacobian(gradient)] if hessian else [])]


def plain_function(kernel: Kernel, name: str) -> CasadiFunction:
    """A kernel as CasADi calls it, without derivatives."""
    program = kernel.program
    names = _distinct([i.name for i in program.inputs], [o.name for o in program.outputs])
    taken = [
        Matrix.dense(new, *dimensions(i.shape))
        for i, new in zip(program.inputs, names[0], strict=True)
    ]
    given = [
        _matrix(program, o)._replace(name=new)
        for o, new in zip(program.outputs, names[1], strict=True)
    ]
    reads, writes = list(range(len(taken))), list(range(len(given)))
    return CasadiFunction(name, _by_columns(program), taken, given, reads, writes)


def _by_columns(program: Program) -> Program:
    """The program with its arguments column by column, and the nonzeros of its results."""

    def function(*arrays: Sequence[Any]) -> dict[str, Any]:
        given = [
            [array[k] for k in _order(i.shape)]
            for array, i in zip(arrays, program.inputs, strict=True)
        ]
        found = values(program, given)
        return {o.name: [found[n] for n in _nodes(program, o)] for o in program.outputs}

    return trace(program.name, function, {i.name: (size(i.shape),) for i in program.inputs})


def _jacobian(function: CasadiFunction) -> CasadiFunction:
    """The Jacobian of each result by each argument.

    CasADi also passes the results, and wants a block for each pair, unused arguments included.
    """
    name, program, taken, given, reads, writes = function
    used = {place: declared.name for place, declared in zip(reads, program.inputs, strict=True)}
    written = {place: o.name for place, o in zip(writes, program.outputs, strict=True)}
    derived = jacobian(program, {}, list(used.values()))
    blocks = {output.name: output for output in derived.outputs}
    results: list[Matrix] = []
    kept: dict[int, list[int]] = {}
    for i, matrix in enumerate(given):
        for k, argument in enumerate(taken):
            at: list[tuple[int, int]] = []
            if i in written and k in used:
                block = blocks[f"d{written[i]}_d{used[k]}"]
                at, nodes = _block(derived, block, matrix, argument)
                if nodes:
                    kept[len(results)] = nodes
            sizes = matrix.rows * matrix.columns, argument.rows * argument.columns
            results.append(Matrix(f"jac_{matrix.name}_{argument.name}", *sizes, at))
    chosen = selected(derived, {results[k].name: nodes for k, nodes in kept.items()})
    return CasadiFunction(
        f"jac_{name}", chosen, [*taken, *_nominal(given)], results, reads, list(kept)
    )


def _block(
    derived: Program, block: Output, matrix: Matrix, argument: Matrix
) -> tuple[list[tuple[int, int]], list[int]]:
    """The places and nodes of a Jacobian's nonzeros, column by column.

    Arguments:
        block: of the derivatives of a result's nonzeros by an argument's.
        matrix, argument: the result and the argument.
    """
    rows, columns = ([column * m.rows + row for row, column in m.at] for m in (matrix, argument))
    found = sorted(
        (columns[k % len(columns)], rows[k // len(columns)], node)
        for k, node in enumerate(block.nodes)
        if not _is_zero(derived, node)
    )
    return [(row, column) for column, row, _ in found], [node for _, _, node in found]


def _gradient(function: CasadiFunction) -> CasadiFunction:
    """The gradients of the results' weighted sum; CasADi passes the results before the weights."""
    name, program, taken, given, reads, writes = function
    derived = vjp(program, {}, [declared.name for declared in program.inputs])
    seeds = [m._replace(name=f"adj_{m.name}") for m in given]
    after = len(taken) + len(given)
    return CasadiFunction(
        f"adj1_{name}",
        derived,
        [*taken, *_nominal(given), *seeds],
        [m._replace(name=f"adj_{m.name}") for m in taken],
        [*reads, *(after + k for k in writes)],
        reads,
    )


def _nominal(given: Sequence[Matrix]) -> list[Matrix]:
    """Results, as arguments of derivatives."""
    return [m._replace(name=f"out_{m.name}") for m in given]


def dimensions(shape: Sequence[int]) -> tuple[int, int]:
    """The rows and columns of an array of this shape."""
    if len(shape) < 2:
        return size(shape), 1
    return size(shape[:-1]), shape[-1]


def _order(shape: Sequence[int]) -> list[int]:
    """For each element in C order, where it lies column by column."""
    rows, columns = dimensions(shape)
    return [c * rows + r for r in range(rows) for c in range(columns)]


def _row_major(matrix: Any) -> list[Any]:
    rows, columns = matrix.shape
    return [matrix[r, c] for r in range(rows) for c in range(columns)]


def _is_zero(program: Program, node: int) -> bool:
    return program.nodes[node].op == "const" and program.nodes[node].value == 0.0


def _entries(program: Program, output: Output) -> list[tuple[int, int, int]]:
    """Column, row and node of each nonzero, column by column."""
    columns = dimensions(output.shape)[1]
    found = [(k % columns, k // columns, node) for k, node in enumerate(output.nodes)]
    return sorted(entry for entry in found if not _is_zero(program, entry[2]))


def _nodes(program: Program, output: Output) -> list[int]:
    return [node for _, _, node in _entries(program, output)]


def _matrix(program: Program, output: Output) -> Matrix:
    at = [(row, column) for column, row, _ in _entries(program, output)]
    return Matrix(output.name, *dimensions(output.shape), at)


def _sparsity(matrix: Matrix) -> Any:
    rows, columns = zip(*matrix.at, strict=True) if matrix.at else ((), ())
    return cs.Sparsity.triplet(matrix.rows, matrix.columns, list(rows), list(columns))


def _distinct(inputs: Sequence[str], outputs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of arguments and results: CasADi does not allow one name for two of them."""
    return list(inputs), [f"{name}_out" if name in inputs else name for name in outputs]


def _function_name(kernel: Kernel, name: str) -> str:
    found = name or kernel.name.replace(".", "_")
    if not is_identifier(found) or "__" in found:
        raise KinetreeError(
            f"name={found!r} cannot name a CasADi function: letters, digits and single _ are "
            "expected, a letter first, and no word of C or of its library"
        )
    return found


def _arguments(kernel: Kernel, arrays: Sequence[Any]) -> list[Any]:
    """The arguments as CasADi's matrices, or as arrays of NumPy; of one state each."""
    check_count(kernel.name, kernel.interface.inputs, arrays)
    found = []
    for (name, shape), array in zip(kernel.interface.inputs, arrays, strict=True):
        given = array
        if not isinstance(given, (cs.SX, cs.MX, cs.DM)):
            given = plain_array(f"{kernel.name}: {name}", given)
        if tuple(given.shape) not in (dimensions(shape), shape):
            rows, columns = dimensions(shape)
            raise ShapeError(
                f"{kernel.name}: {name} is {tuple(given.shape)}; {rows} x {columns} is expected, "
                "one state"
            )
        found.append(given)
    return found


def to_numpy(what: str, array: Any) -> Any:
    """Refuse a matrix: an expression has no numbers, and results may have more axes than two."""
    raise no_numbers(what, "casadi_arrays", "give NumPy's array, as from DM.full()")
