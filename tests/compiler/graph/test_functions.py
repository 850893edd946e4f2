"""Functions of programs: what `scalar.call` leaves in a trace, and what every pass makes of it."""

import numpy as np
import pytest

from kinetree import robots, scalar
from kinetree.compiler.graph import Program, interpret, program, trace, verify
from kinetree.compiler.graph.differentiate import jacobian, jvp, vjp
from kinetree.compiler.graph.inline import inline
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.lowered import RESULT, SCRATCH, Style
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import VerificationError
from kinetree.scalar.dual import Dual
from kinetree.spatial import Twist, Vector3
from tests.tolerances import EXACT, relative_error


@pytest.fixture(autouse=True)
def programs_are_long(monkeypatch):
    """Every program is long enough for functions."""
    monkeypatch.setattr(program, "LONGEST_WITHOUT_CALLS", 0)


def whirl(x, w):
    """Some arithmetic with a sine, on six numbers and a motion."""
    a = [scalar.sin(p) * q - p for p, q in zip(x, w, strict=True)]
    return [[p * q + x[0] for p, q in zip(a, w, strict=True)], a[0] / (x[1] * x[1] + 2.0), x[2]]


def many(q, v):
    """Rows from calls with arguments of the program, with constants, and with other results."""
    rows, last = [], 0.0
    for i in range(30):
        w = Twist(Vector3(q[i % 6], 1.5, last), Vector3(v[0], v[i % 6], 0.5))
        row, last, same = scalar.call(whirl, q, w, times=100)
        rows.append([*row, same])
    sums = [sum(column[1:], start=column[0]) for column in zip(*rows, strict=True)]
    return {"rows": rows, "sums": sums, "last": last}


SHAPES = {"q": (6,), "v": (6,)}


def traced():
    return trace("many", many, SHAPES)


def states(count=37):
    return np.random.default_rng(0).normal(size=(2, count, 6))


def straight(monkeypatch):
    monkeypatch.setattr(program, "LONGEST_WITHOUT_CALLS", 10**9)
    return trace("many", many, SHAPES)


def test_a_call_is_traced_once_for_each_pattern_of_zeros_and_ones():
    found = traced()
    assert sum(node.op == "call" for node in found.nodes) == 30
    assert len(found.functions) == 2  # in the first call the last number is zero


def test_what_is_called_seldom_or_in_short_programs_leaves_no_function(monkeypatch):
    def few(q, v):
        return {"y": scalar.call(whirl, q, v, times=3)[0]}

    assert not trace("few", few, SHAPES).functions
    assert not straight(monkeypatch).functions


def test_a_program_with_functions_means_the_same(monkeypatch):
    arrays = states()
    expected = interpret(straight(monkeypatch), *arrays)
    for other in (traced(), inline(traced())):
        for a, b in zip(expected, interpret(other, *arrays), strict=True):
            assert relative_error(b, a) < EXACT
    assert not inline(traced()).functions


def test_operations_are_counted_as_often_as_they_are_called():
    assert traced().operations["sin"] == 5 + 29 * 6  # in the first call one is times zero


@pytest.mark.parametrize("batch", [1, 2, 37])
def test_compiled_functions_equal_the_interpreter(batch):
    arrays = states(batch)
    for a, b in zip(interpret(traced(), *arrays), Kernel(None, traced)(*arrays), strict=True):
        assert relative_error(b, a) < 10 * EXACT


@pytest.mark.parametrize("style", [Style("double", functions=True, chunk=7), Style("float")])
def test_records_lie_where_calls_say(style):
    low = lower(traced(), style)
    assert bool(low.functions) == style.functions
    for step in low.steps:
        if step.repeat is not None:
            areas = low.functions[step.repeat.function].areas
            assert set(areas) <= {SCRATCH, RESULT}
            for row in step.repeat.rows:
                assert len(row) == len(areas)
                assert all(0 <= start < low.scratch for start in row)


def test_results_of_calls_that_are_results_of_the_program_are_not_copied():
    def function(q, v):
        rows = [scalar.call(whirl, q, [x * float(i + 2) for x in v], times=30) for i in range(30)]
        return {"rows": [row for row, _, _ in rows], "others": [x for _, x, _ in rows]}

    found = trace("rows", function, SHAPES)
    gathered = lower(found, Style("double", functions=True, gathered=True))
    assert all(function.areas[-1] == RESULT for function in gathered.functions)
    arrays = states()
    for a, b in zip(interpret(found, *arrays), Kernel(None, lambda: found)(*arrays), strict=True):
        assert relative_error(b, a) < 10 * EXACT


def test_what_a_routine_computes_can_be_an_argument():
    def function(q, v):
        rows = []
        for i in range(30):
            turned = [scalar.sin(x * (i + 1.0)) for x in v]
            rows.append(scalar.call(whirl, q, turned, times=30)[0])
        return {"rows": rows}

    found = trace("sines", function, SHAPES)
    assert found.functions
    for batch in (1, 37):
        arrays = states(batch)
        (a,), b = interpret(found, *arrays), Kernel(None, lambda: found)(*arrays)
        assert relative_error(b, a) < 10 * EXACT


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["mass_matrix", "christoffel_symbols"])
def test_a_long_chain_compiled_with_functions_is_what_the_interpreter_says(quantity):
    kernel = robots.chain(26).kernel(quantity)
    q = np.random.default_rng(0).normal(size=(9, 26))
    assert kernel.program.functions
    (expected,) = interpret(kernel.program, q)
    assert relative_error(kernel(q), expected) < 100 * EXACT
    assert relative_error(kernel(q[4]), expected[4]) < 100 * EXACT


def test_derivatives_go_through_calls(monkeypatch):
    q, v = states(5)
    with_calls, without = traced(), straight(monkeypatch)
    for way in (
        lambda p: jvp(p, {}),
        lambda p: vjp(p, {}, ("q", "v")),
        lambda p: jacobian(p, {}, ("q",)),
    ):
        a, b = way(without), way(with_calls)
        arrays = [np.ones((5, *declared.shape)) for declared in a.inputs[2:]]
        for x, y in zip(interpret(a, q, v, *arrays), interpret(b, q, v, *arrays), strict=True):
            assert relative_error(y, x) < 100 * EXACT


def test_other_scalars_just_run_the_function():
    x, w = [Dual(0.1 * i + 0.2, 1.0) for i in range(6)], [1.0] * 6
    row, _, _ = scalar.call(whirl, x, w, times=100)
    assert row[0].rate == pytest.approx(whirl(x, w)[0][0].rate)


def test_the_verifier_knows_calls():
    found = traced()
    call = next(n for n, node in enumerate(found.nodes) if node.op == "call")
    item = next(n for n, node in enumerate(found.nodes) if node.op == "item")

    def changed(n, **fields):
        nodes = list(found.nodes)
        nodes[n] = nodes[n]._replace(**fields)
        return Program("x", found.inputs, found.outputs, tuple(nodes), "", found.functions)

    with pytest.raises(VerificationError, match=r"calls function 7 of 2"):
        verify(changed(call, value=7))
    with pytest.raises(VerificationError, match=r"arguments, \d+ expected"):
        verify(changed(call, args=found.nodes[call].args[:-1]))
    with pytest.raises(VerificationError, match=r"is result 99 of a call"):
        verify(changed(item, value=99))
