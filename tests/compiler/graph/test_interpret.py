"""The interpreter: every operation, for every scalar type."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from kinetree.compiler.graph import Input, Node, Output, Program, interpret, trace, verify
from kinetree.scalar import ALIASES, LEAVES, OPERATIONS, sin
from tests.tolerances import EPS

# operation -> its value on numbers, written without Kinetree; truths are seen through a select
FORMULAS = {
    "neg": lambda a: -a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "sqrt": lambda a: math.sqrt(a),
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
    "fnms": lambda a, b, c: -(a * b) - c,
    "sin": lambda a: math.sin(a),
    "cos": lambda a: math.cos(a),
    "atan2": lambda a, b: math.atan2(a, b),
    "exp": lambda a: math.exp(a),
    "log": lambda a: math.log(a),
    "tanh": lambda a: math.tanh(a),
    "abs": lambda a: abs(a),
    "min": lambda a, b: min(a, b),
    "max": lambda a, b: max(a, b),
    "less": lambda a, b: a if a < b else b,
    "less_equal": lambda a, b: a if a <= b else b,
    "logical_and": lambda a, b, c: a if a < b and b < c else c,
    "logical_or": lambda a, b, c: a if a < b or b < c else c,
    "logical_not": lambda a, b: a if not a < b else b,
    "select": lambda a, b, c: b if a < c else c,
    "stop_gradient": lambda a: a,
    "derivative_from": lambda a, b: a,
}
SYMBOLIC = {
    name: getattr(sympy, name) for name in ("sqrt", "sin", "cos", "atan2", "exp", "log", "tanh")
}
SYMBOLIC |= {"abs": sympy.Abs, "min": sympy.Min, "max": sympy.Max}
EXACT = tuple(op for op in FORMULAS if op not in SYMBOLIC)
LOGICAL = ("less", "less_equal", "logical_and", "logical_or", "logical_not")
VALUES = (0.75, 1.5, 2.25)
FRACTIONS = (Fraction(3, 7), Fraction(11, 13), Fraction(9, 5))


def single(op: str) -> Program:
    """A program of one operation, its arguments the elements of x."""
    counts = {"select": 3, "logical_and": 3, "logical_or": 3, "logical_not": 2}
    count = counts.get(op, len(OPERATIONS[op].arguments))
    nodes = [Node("input", (), (0, i)) for i in range(count)]
    if op in ("less", "less_equal"):
        nodes += [Node(op, (0, 1)), Node("select", (2, 0, 1))]
    elif op in ("logical_and", "logical_or"):
        nodes += [Node("less", (0, 1)), Node("less", (1, 2)), Node(op, (3, 4))]
        nodes.append(Node("select", (5, 0, 2)))
    elif op == "logical_not":
        nodes += [Node("less", (0, 1)), Node(op, (2,)), Node("select", (3, 0, 1))]
    elif op == "select":
        nodes += [Node("less", (0, 2)), Node("select", (3, 1, 2))]
    else:
        nodes.append(Node(op, tuple(range(count))))
    outputs = (Output("y", (1,), (len(nodes) - 1,)),)
    return verify(Program(op, (Input("x", (count,)),), outputs, tuple(nodes)))


def run(op, values):
    """The result of one operation on the first of some values, any batch axes before the last."""
    program = single(op)
    return interpret(program, values[..., : program.inputs[0].shape[0]])[0][..., 0]


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


every_operation = pytest.mark.parametrize("op", FORMULAS)


def test_the_table_of_this_test_has_every_operation():
    assert set(FORMULAS) | LEAVES == set(OPERATIONS)


@every_operation
def test_an_operation_on_floats_is_its_formula(op):
    count = single(op).inputs[0].shape[0]
    for values in (VALUES, VALUES[::-1], (1.5, 0.75, 2.25)):
        expected = FORMULAS[op](*values[:count])
        assert run(op, np.array(values)) == pytest.approx(expected, rel=2 * EPS, abs=0.0)


@every_operation
def test_an_operation_on_a_batch_is_the_operation_on_each_state(op):
    states = np.random.default_rng(0).uniform(0.1, 3.0, (4, 5, 3))
    results = run(op, states)
    assert results.shape == (4, 5)
    for at in np.ndindex(4, 5):
        assert results[at] == pytest.approx(float(run(op, states[at])), rel=1e-15)


@every_operation
@pytest.mark.parametrize("batch", [(), (1,), (2, 3)])
def test_an_operation_on_complex_numbers_differentiates_by_the_complex_step(op, batch):
    h, d = 1e-30, np.array([0.3, -0.7, 0.5])
    x = np.array(VALUES)
    states = np.broadcast_to(x + 1j * h * d, (*batch, 3))
    result = run(op, states)
    assert result.shape == batch
    slope = (run(op, x + 1e-6 * d) - run(op, x - 1e-6 * d)) / 2e-6
    assert np.real(result) == pytest.approx(float(run(op, x)), rel=1e-15)
    assert np.imag(result) / h == pytest.approx(float(slope), rel=1e-8)


@every_operation
@pytest.mark.parametrize("batch", [(), (1,), (2, 3)])
def test_an_operation_on_fractions_gives_fractions(op, batch):
    count = single(op).inputs[0].shape[0]
    results = run(op, np.broadcast_to(objects(*FRACTIONS), (*batch, 3)))
    assert results.shape == batch
    expected = Fraction(FORMULAS[op](*FRACTIONS[:count]))
    for result in np.ravel(results):
        assert type(result) is Fraction
        assert result == expected


@every_operation
@pytest.mark.parametrize("batch", [(), (1,), (2, 3)])
def test_an_operation_on_symbols_gives_an_expression_in_them(op, batch):
    symbols = sympy.symbols("a b c", positive=True)
    count = single(op).inputs[0].shape[0]
    results = run(op, np.broadcast_to(objects(*symbols), (*batch, 3)))
    assert results.shape == batch
    for result in np.ravel(results):
        assert isinstance(result, sympy.Basic)
        assert result.free_symbols == set(symbols[: 1 if op in ALIASES else count])
        if op not in (*LOGICAL, "select"):
            assert result == SYMBOLIC.get(op, FORMULAS[op])(*symbols[:count])
        value = result.subs(dict(zip(symbols, VALUES, strict=True)))
        assert float(value) == pytest.approx(FORMULAS[op](*VALUES[:count]), rel=1e-14)


def test_less_is_strict():
    assert run("select", np.array([1.0, 5.0, 1.0])) == 1.0
    assert run("select", np.array([1.0, 5.0, np.nextafter(1.0, 2.0)])) == 5.0


def test_atan2_keeps_its_quadrant():
    for y, x in ((1.0, 2.0), (1.0, -2.0), (-1.0, -2.0), (-1.0, 2.0)):
        assert run("atan2", np.array([y, x])) == math.atan2(y, x)


# shapes


def test_results_have_their_shapes_behind_the_batch_axes():
    def function(x):
        return {"scalar": x[0] * 2.0, "matrix": [[x[0], x[1], 0.0], [x[2], x[3], 1.0]]}

    program = trace("p", function, {"x": (2, 2)})
    states = np.arange(20.0).reshape(5, 2, 2)
    scalar, matrix = interpret(program, states)
    assert scalar.shape == (5,)
    assert matrix.shape == (5, 2, 3)
    np.testing.assert_array_equal(scalar, 2.0 * states[:, 0, 0])
    np.testing.assert_array_equal(matrix[:, :, :2], states)
    np.testing.assert_array_equal(matrix[:, :, 2], np.broadcast_to([0.0, 1.0], (5, 2)))


def test_a_result_without_axes_of_one_state_is_an_array_without_axes():
    (y,) = interpret(trace("p", lambda x: {"y": x[0] * 2.0}, {"x": (1,)}), [3.0])
    assert y.shape == ()
    assert y == 6.0


def test_an_argument_without_axes_takes_its_batch_as_it_is():
    program = trace("p", lambda x: {"y": [x[0], -x[0]]}, {"x": ()})
    (y,) = interpret(program, np.arange(3.0))
    np.testing.assert_array_equal(y, [[0.0, 0.0], [1.0, -1.0], [2.0, -2.0]])


def test_batches_of_two_arguments_broadcast():
    program = trace("p", lambda x, y: {"z": [x[0] + y[0]]}, {"x": (1,), "y": (1,)})
    (z,) = interpret(program, np.arange(3.0).reshape(3, 1, 1), np.arange(4.0).reshape(4, 1))
    assert z.shape == (3, 4, 1)
    np.testing.assert_array_equal(z[..., 0], np.add.outer(np.arange(3.0), np.arange(4.0)))


def test_a_result_that_needs_no_argument_has_the_batch_axes_too():
    program = trace("p", lambda x: {"y": [1.0, 2.0]}, {"x": (1,)})
    (y,) = interpret(program, np.zeros((5, 1)))
    np.testing.assert_array_equal(y, np.broadcast_to([1.0, 2.0], (5, 2)))


def test_an_empty_result_is_an_empty_array():
    (y,) = interpret(trace("p", lambda x: {"y": []}, {"x": (1,)}), [3.0])
    assert y.shape == (0,)


def test_an_empty_batch_gives_empty_results():
    (y,) = interpret(trace("p", lambda x: {"y": [sin(x[0]), x[1]]}, {"x": (2,)}), np.zeros((0, 2)))
    assert y.shape == (0, 2)


def test_whole_numbers_are_taken_as_numbers():
    (y,) = interpret(trace("p", lambda x: {"y": [x[0] / x[1]]}, {"x": (2,)}), [1, 4])
    assert y[0] == 0.25


def test_a_missing_argument_is_refused():
    program = trace("p", lambda x, y: {"z": [x[0] + y[0]]}, {"x": (1,), "y": (1,)})
    with pytest.raises(ValueError, match="shorter"):
        interpret(program, [1.0])
