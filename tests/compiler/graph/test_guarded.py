"""Guarded calls in traces and programs: what they mean, what becomes of them, their derivatives."""

import numpy as np
import pytest
import sympy

from kinetree import scalar
from kinetree.compiler.graph import Program, interpret, trace, verify
from kinetree.compiler.graph import program as graph_program
from kinetree.compiler.graph.differentiate import jacobian, jvp, vjp
from kinetree.compiler.graph.inline import inline
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.lowered import Compute, Store, Style
from kinetree.compiler.graph.parts import split
from kinetree.compiler.graph.tangent import tangent
from kinetree.errors import TraceError, VerificationError
from kinetree.scalar import call_if, less, select, sin, sqrt, stop_gradient
from kinetree.scalar.dual import Dual
from tests.compiler.guarded_programs import (
    EVERY,
    ITERATIONS,
    contacts,
    mixed,
    program,
    roots,
    states,
)
from tests.tolerances import EXACT, relative_error

every_program = pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)


def count(made, op):
    return sum(node.op == op for node in made.nodes)


# meaning


def test_on_numbers_only_one_side_is_computed():
    def fails(x):
        raise AssertionError(x)

    assert call_if(False, fails, 1.0, otherwise=[2.0, 3.0]) == [2.0, 3.0]
    assert call_if(np.bool_(False), fails, 1.0, otherwise=2.0) == 2.0
    assert call_if(1.0 < 2.0, lambda x: x + 1.0, 1.0, otherwise=0.0) == 2.0


def test_on_arrays_symbols_and_duals_it_is_a_select_for_each_scalar():
    x = np.array([-1.0, 4.0])
    with np.errstate(invalid="ignore"):
        a, (b,) = call_if(x > 0.0, lambda x: (sqrt(x), [x]), x, otherwise=(x, [0.0 * x]))
    assert a.tolist() == [-1.0, 2.0]
    assert b.tolist() == [0.0, 4.0]
    s = sympy.Symbol("s")
    assert call_if(s < 1, lambda s: s * s, s, otherwise=s) == sympy.Piecewise(
        (s * s, s < 1), (s, True)
    )
    d = Dual(3.0, 1.0)
    assert call_if(less(d, 4.0), lambda d: d * d, d, otherwise=d) == Dual(9.0, 6.0)


@every_program
def test_a_program_means_what_its_function_does_to_numbers(function):
    made, arrays = program(function), states(function, 9)
    with np.errstate(all="ignore"):
        found = interpret(made, *arrays)
    for k in range(9):
        wanted = function(*([float(x) for x in a[k]] for a in arrays))
        for x, y in zip(found, wanted.values(), strict=True):
            assert relative_error(x[k], np.asarray(y, float)) < 1e-12


def test_duals_of_traced_scalars_are_guarded_too():
    def function(x):
        d = Dual(x[0], 1.0)
        y = call_if(less(d, 1.0), lambda d: d * d * d, d, otherwise=d)
        return {"y": [y.value, y.rate]}

    made = trace("p", function, {"x": (1,)})
    assert count(made, "call_if") == 1
    x = np.array([[0.5], [2.0]])
    assert interpret(made, x)[0].tolist() == [[0.125, 0.75], [2.0, 1.0]]


# tracing


def test_a_function_knows_zeros_and_ones_that_also_stand_for_its_results():
    def sparse(x, column):
        return [x * c for c in column]

    def function(x):
        y = call_if(less(x[0], 1.0), sparse, x[0], [x[1], 0.0, 1.0], otherwise=[x[1], 0.0, 0.0])
        return {"y": y}

    made = trace("p", function, {"x": (2,)})
    assert made.nodes[made.outputs[0].nodes[1]].op == "const"  # zero, whether it is called or not
    assert made.functions[0].operations == {"mul": 1}  # by one neither
    x = np.array([[0.5, 3.0], [2.0, 3.0]])
    assert interpret(made, x)[0].tolist() == [[1.5, 0.0, 0.5], [3.0, 0.0, 0.0]]


def test_a_function_is_traced_once_for_a_chain_that_begins_with_numbers():
    made = program(roots)
    assert count(made, "call_if") == ITERATIONS
    assert len(made.functions) == 1
    nested = program(contacts)
    assert len(nested.functions) == 1
    assert len(nested.functions[0].functions) == 1


def test_results_that_are_returned_as_they_were_given_are_none():
    made = trace(
        "p",
        lambda x: {
            "y": call_if(less(x[0], x[1]), lambda a, b, c: [a, b + c, c], *x, otherwise=[*x])
        },
        {"x": (3,)},
    )
    assert count(made, "item") == 1
    (call,) = (node for node in made.nodes if node.op == "call_if")
    assert len(call.args) == 1 + 2 + 1  # the condition, what is read, what is changed


def test_conditions_that_are_known_fold():
    def function(x):
        known = less(1.0, 2.0)
        assert known is True
        one = call_if(known, lambda a: a * a, x[0], otherwise=x[0])
        same = call_if(less(x[0], 1.0), lambda a: a, x[0], otherwise=x[0])
        return {"y": [one, same]}

    made = trace("p", function, {"x": (1,)})
    assert not made.functions
    assert [node.op for node in made.nodes] == ["input", "mul"]


def test_what_cannot_be_traced_is_refused():
    def traced(function):
        trace("p", lambda x: {"y": function(*x)}, {"x": (2,)})

    with pytest.raises(TraceError, match="a condition is expected"):
        traced(lambda a, b: call_if(a, sin, b, otherwise=b))
    with pytest.raises(TraceError, match="same lists, tuples"):
        traced(lambda a, b: call_if(a < b, lambda a: [a], b, otherwise=(b,)))
    with pytest.raises(TraceError, match="same lists, tuples"):
        call_if(True, lambda a: [a], 1.0, otherwise=1.0)
    with pytest.raises(TraceError, match="a condition among the values"):
        traced(lambda a, b: call_if(a < b, lambda c, a: select(c, a, 0.0), a < 1.0, a, otherwise=a))


def test_operations_are_those_of_all_calls():
    one = program(roots).functions[0].operations
    assert program(roots).operations["div"] == ITERATIONS * one["div"]


# programs


@every_program
def test_every_pass_keeps_the_meaning_and_the_calls(function, monkeypatch):
    monkeypatch.setattr(graph_program, "LONGEST_WITHOUT_CALLS", 0)
    made, arrays = verify(program(function)), states(function)
    with np.errstate(all="ignore"):
        expected = interpret(made, *arrays)
        (part,) = split(made, 50).parts
        for other in (inline(made), part.program):
            assert verify(other).functions
            assert count(other, "call") == 0
            given = [
                a[:, s.start : s.start + s.length] for a, s in zip(arrays, part.inputs, strict=True)
            ]
            inputs = arrays if other is not part.program else given
            for a, b in zip(expected, interpret(other, *inputs), strict=False):
                if a.shape == b.shape:
                    assert relative_error(b, a) < EXACT


def test_the_digest_knows_guarded_calls():
    def made(limit):
        def inner(a):
            return call_if(less(a, limit), sin, a, otherwise=a)

        return trace(
            "p", lambda x: {"y": call_if(less(0.0, x[0]), inner, x[0], otherwise=1.0)}, {"x": (1,)}
        )

    assert made(0.5).digest == made(0.5).digest
    assert made(0.5).digest != made(0.25).digest


def test_the_verifier_knows_guarded_calls():
    found = program(mixed)
    call = next(n for n, node in enumerate(found.nodes) if node.op == "call_if")

    def changed(**fields):
        nodes = list(found.nodes)
        nodes[call] = nodes[call]._replace(**fields)
        return Program("x", found.inputs, found.outputs, tuple(nodes), "", found.functions)

    args = found.nodes[call].args
    with pytest.raises(VerificationError, match=r"calls function 9 of \d"):
        verify(changed(value=9))
    with pytest.raises(VerificationError, match=r"arguments, \d+ expected"):
        verify(changed(args=args[:-1]))
    with pytest.raises(VerificationError, match="is 'r' and not 'b'"):
        verify(changed(args=(args[1], *args[1:])))


# memory


def stores(steps):
    return sum(isinstance(x, Store) for step in steps for x in step.code)


def test_a_chain_of_calls_that_are_not_made_copies_nothing():
    low = lower(program(contacts), Style("double"))
    guards = [step for step in low.steps if step.guard]
    assert len(guards) == ITERATIONS
    assert stores(guards[1:]) == 0
    inner = [step for step in low.functions[0].steps if step.guard]
    assert len(inner) == 5
    assert stores(inner[1:]) == 0
    assert not any(guard.guard.row for guard in guards)  # all are at one place in all calls


def test_a_function_writes_only_what_it_changes():
    def add(H, i):
        return [x + 1.0 if k == i else x for k, x in enumerate(H)]

    def function(x):
        H = [x[0] * (k + 2.0) for k in range(50)]
        for k in range(50):
            step = functions.setdefault(k % 5, lambda H, k=k: add(H, k % 5))
            H = call_if(less(x[0], float(k)), step, H, otherwise=H)
        return {"H": H}

    functions = {}
    low = lower(trace("p", function, {"x": (1,)}), Style("double"))
    assert stores(step for f in low.functions for step in f.steps) == 5
    assert stores(step for step in low.steps if step.guard) == 0
    assert low.scratch < 60


def test_lanes_are_kept_only_where_there_are_several():
    made = program(roots)
    for masked in (False, True):
        low = lower(made, Style("double", masked=masked))
        code = [x for f in low.functions for step in f.steps for x in step.code]
        assert masked == any(isinstance(x, Compute) and x.op == "select" for x in code)


def test_time_and_length_grow_with_the_iterations_alone():
    def function(iterations):
        def long(x):
            for _ in range(300):
                x = sin(x) + x * x
            return x

        def run(x):
            y = x[0]
            for _ in range(iterations):
                y = call_if(less(y, 1.0), long, y, otherwise=y)
            return {"y": y}

        return run

    lengths = []
    for iterations in (10, 20):
        low = lower(trace("p", function(iterations), {"x": (1,)}), Style("double"))
        (routine,) = low.functions
        assert sum(len(step.code) for step in routine.steps) > 900
        lengths.append(sum(len(step.code) for step in low.steps))
    assert lengths[1] < 2 * lengths[0] + 5 < 200


# derivatives


def slopes(made, arrays):
    """The derivatives of results along each element of the first argument, by complex steps."""
    found = []
    for unit in np.eye(arrays[0].shape[-1]):
        with np.errstate(all="ignore"):
            moved = interpret(made, arrays[0] + 1e-30j * unit, *arrays[1:])
        found.append([np.imag(y) / 1e-30 for y in moved])
    return [np.stack(columns, axis=-1) for columns in zip(*found, strict=True)]


@every_program
@pytest.mark.parametrize("which", ["some", "all", "no"])
def test_derivatives_are_those_of_the_branch_that_is_taken(function, which, monkeypatch):
    monkeypatch.setattr("tests.compiler.guarded_programs.ITERATIONS", 6)
    made, arrays = program(function), states(function, 7, which)
    wrt = made.inputs[0].name
    expected = slopes(made, arrays)
    rng = np.random.default_rng(2)
    with np.errstate(all="ignore"):
        found = interpret(verify(jacobian(made, {}, (wrt,))), *arrays)
        for a, b in zip(expected, found, strict=True):
            assert relative_error(b, a) < 1e-9
        along = rng.normal(size=arrays[0].shape)
        still = [np.zeros_like(x) for x in arrays[1:]]
        rates = interpret(verify(jvp(made, {})), *arrays, along, *still)[1::2]
        weights = [rng.normal(size=(7, *o.shape)) for o in made.outputs]
        (gradient,) = interpret(verify(vjp(made, {}, (wrt,))), *arrays, *weights)
    total = 0.0
    for J, rate, weight in zip(expected, rates, weights, strict=True):
        assert relative_error(rate, np.einsum("n...j,nj->n...", J, along)) < 1e-9
        total = total + np.einsum(
            "ns,nsj->nj", weight.reshape(7, -1), J.reshape(7, -1, J.shape[-1])
        )
    assert relative_error(gradient, total) < 1e-9


def test_infinite_slopes_of_a_branch_that_is_not_taken_do_not_leak():
    def inner(a, b):
        return sqrt(b) * a + call_if(less(b, 4.0), lambda a, b: a / sqrt(b), a, b, otherwise=a)

    def function(x):
        a, b = x
        return {"y": call_if(less(0.0, b), inner, a, b, otherwise=a * b)}

    made = trace("p", function, {"x": (2,)})
    x = np.array([[2.0, -1.0], [2.0, 0.0], [3.0, 1.0], [3.0, 9.0]])
    with np.errstate(all="ignore"):
        (gradient,) = interpret(vjp(made, {}, ("x",)), x, np.ones(4))
        (J,) = interpret(jacobian(made, {}, ("x",)), x)
    wanted = [[-1.0, 2.0], [0.0, 2.0], [2.0, 1.5 - 1.5], [4.0, 0.5]]
    assert relative_error(gradient, np.array(wanted)) < EXACT
    assert relative_error(J, np.array(wanted)) < EXACT


def implicit(a):
    """A root found by guarded iterations, differentiated by the equation it solves."""
    x = stop_gradient(roots(a)["root"])
    return {"x": x - (x * x - a[0]) / stop_gradient(2.0 * x)}


@pytest.mark.parametrize("way", ["jvp", "vjp", "jacobian", "tangent"])
def test_calls_that_no_derivative_passes_through_stay_calls(way):
    made = trace("p", implicit, {"a": (1,)})
    derived = {
        "jvp": lambda: jvp(made, {}),
        "vjp": lambda: vjp(made, {}, ("a",)),
        "jacobian": lambda: jacobian(made, {}, ("a",)),
        "tangent": lambda: tangent(made, {"a"}),
    }[way]()
    assert count(verify(derived), "call_if") == ITERATIONS
    assert len(derived.functions) == 1
    a = np.array([[2.0], [9.0]])
    rest = [] if way == "jacobian" else [np.ones((2, 1)) if way != "vjp" else np.ones(2)]
    found = interpret(derived, a, *rest)[-1]
    assert relative_error(found.reshape(2), 0.5 / np.sqrt(a[:, 0])) < 1e-5


def test_plain_calls_that_no_derivative_passes_through_stay_calls(monkeypatch):
    monkeypatch.setattr(graph_program, "LONGEST_WITHOUT_CALLS", 0)

    def wave(x, y):
        return sin(x) * y + x

    def function(x):
        stopped = [
            stop_gradient(scalar.call(wave, x[0] * (k + 2.0), x[1], times=30)) for k in range(30)
        ]
        passed = [scalar.call(wave, x[1] * (k + 2.0), x[0], times=30) for k in range(30)]
        return {"y": [a * b for a, b in zip(stopped, passed, strict=True)]}

    made = trace("p", function, {"x": (2,)})
    assert count(made, "call") == 60
    x = np.random.default_rng(0).normal(size=(5, 2))
    for derived in (jvp(made, {}), vjp(made, {}, ("x",)), jacobian(made, {}, ("x",))):
        assert count(verify(derived), "call") == 30
    (J,) = interpret(jacobian(made, {}, ("x",)), x)
    k = np.arange(30) + 2.0
    a, b = x[:, :1], x[:, 1:]
    stopped = np.sin(a * k) * b + a * k
    wanted = np.stack([stopped * np.sin(b * k), stopped * (k * np.cos(b * k) * a + k)], -1)
    assert relative_error(J, wanted) < 1e-12
