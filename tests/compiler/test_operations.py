"""Every operation of the table is known to every target, with the interpreter's values."""

import shutil

import numpy as np
import pytest
import sympy

from kinetree.compiler.emit import c, llvm
from kinetree.compiler.graph import Input, Node, Output, Program, interpret, verify
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.robot.symbolic import ClosedForm, printed
from kinetree.scalar import ALIASES, FUNCTIONS, LEAVES, OPERATIONS
from kinetree.scalar.dual import Dual
from tests.compiler.graph.test_interpret import single
from tests.tolerances import EXACT, SINGLE, relative_error

EVERY = [op for op in OPERATIONS if op not in LEAVES]
STATES = np.random.default_rng(0).uniform(0.1, 3.0, (9, 3))
every_operation = pytest.mark.parametrize("op", EVERY)


def together() -> Program:
    """Each operation in turn, on the elements of one argument; a result for each."""
    nodes = [Node("input", (), (0, i)) for i in range(3)]
    outputs = []
    for op in EVERY:
        alone = single(op)
        inputs = alone.inputs[0].shape[0]
        moved = [*range(inputs), *range(len(nodes), len(nodes) + len(alone.nodes) - inputs)]
        nodes += [Node(n.op, tuple(moved[a] for a in n.args)) for n in alone.nodes[inputs:]]
        outputs.append(Output(f"y_{op}", (), (len(nodes) - 1,)))
    return verify(Program("together", (Input("x", (3,)),), tuple(outputs), tuple(nodes)))


PROGRAM = together()
EXPECTED = dict(zip(EVERY, interpret(PROGRAM, STATES), strict=True))


def results(kernel_or_function, dtype):
    found = kernel_or_function(STATES.astype(dtype))
    return dict(zip(EVERY, found, strict=True))


@pytest.fixture(scope="module")
def kernel():
    return Kernel(None, lambda: PROGRAM)


@pytest.fixture(scope="module")
def built(kernel, tmp_path_factory):
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler is installed")
    folder = tmp_path_factory.mktemp("c")
    return {t: kernel.c_code(t).build(folder / t) for t in ("float64", "float32")}


@every_operation
def test_the_interpreter_gives_each_operation_what_its_row_computes(op):
    program = single(op)
    count = program.inputs[0].shape[0]
    for state, wanted in zip(STATES, EXPECTED[op], strict=True):
        # state by state, as numbers of Python
        assert float(interpret(program, state[:count])[0][0]) == pytest.approx(wanted, rel=1e-15)


@every_operation
def test_dual_numbers_give_each_operation_its_value_and_its_rate(op):
    program = single(op)
    count = program.inputs[0].shape[0]
    rng = np.random.default_rng(1)
    for state in STATES:
        direction = rng.uniform(-1.0, 1.0, 3)
        x = np.empty(count, dtype=object)
        x[:] = [Dual(float(a), float(d)) for a, d in zip(state[:count], direction, strict=False)]
        y = interpret(program, x)[0][0]
        steps = (state + 1e-30j * direction)[:count]
        slope = interpret(program, steps)[0][0]
        assert y.value == pytest.approx(np.real(slope), rel=1e-14)
        rate = sum(direction[1:count]) if op in ALIASES else np.imag(slope) / 1e-30
        assert float(y.rate) == pytest.approx(rate, rel=1e-12, abs=1e-14)


@every_operation
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", EXACT), ("float32", SINGLE)])
def test_machine_code_gives_each_operation_its_value(op, dtype, tolerance, kernel):
    assert relative_error(results(kernel, dtype)[op], EXPECTED[op]) < tolerance


@every_operation
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", EXACT), ("float32", SINGLE)])
def test_c_gives_each_operation_its_value(op, dtype, tolerance, built):
    assert relative_error(results(built[dtype], dtype)[op], EXPECTED[op]) < tolerance


@every_operation
def test_a_closed_form_prints_each_operation_so_that_it_can_be_read_again(op):
    program = single(op)
    count = program.inputs[0].shape[0]
    symbols = sympy.symbols("a b c", real=True)[:count]
    x = np.empty(count, dtype=object)
    x[:] = symbols
    entry = sympy.sympify(interpret(program, x)[0][0])
    name, _, text = printed(ClosedForm([entry], {"x": list(symbols)}), "y").partition(" = ")
    assert name == "y_1"
    assert printed(ClosedForm([entry], {}), "y", latex=True).startswith("y_{1} = ")
    known = {str(s): s for s in symbols}
    for state, wanted in zip(STATES[:3], EXPECTED[op], strict=False):
        numbers = dict(zip(symbols, state, strict=False))
        assert float(sympy.sympify(text, known).subs(numbers)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("op", sorted({*EVERY} - ALIASES))
def test_each_operation_stands_in_the_tables_of_the_emitters(op):
    assert op in c.TEMPLATES
    assert op in llvm.INSTRUCTIONS | FUNCTIONS


def test_no_emitter_has_an_operation_that_is_not_in_the_table():
    assert set(c.TEMPLATES) == set(EVERY) - ALIASES
    assert set(EVERY) - ALIASES == llvm.INSTRUCTIONS | FUNCTIONS
