"""Stopped gradients: constants to every derivative, and nothing at all to a target."""

import numpy as np
import pytest
import sympy

from kinetree import scalar
from kinetree.compiler.graph import interpret, program, trace, verify
from kinetree.compiler.graph.aliases import without_aliases
from kinetree.compiler.graph.differentiate import jacobian, jvp, vjp
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.scalar import derivative_from, sin, stop_gradient
from kinetree.scalar.dual import Dual
from tests.tolerances import EXACT, relative_error

X = np.random.default_rng(0).uniform(0.5, 2.0, (11, 2))


def half_stopped(x):
    a, b = x
    return {"y": [a * stop_gradient(sin(b)), stop_gradient(a * b) + b, stop_gradient(a)]}


def slopes(x):
    """The derivatives of the above, by hand."""
    a, b = x.T
    zero, one = 0.0 * a, 0.0 * a + 1.0
    return np.stack([[np.sin(b), zero], [zero, one], [zero, zero]]).transpose(2, 0, 1)


def test_derivatives_take_what_is_stopped_as_a_constant():
    made = trace("p", half_stopped, {"x": (2,)})
    J = slopes(X)
    rng = np.random.default_rng(1)
    along, weights = rng.normal(size=(11, 2)), rng.normal(size=(11, 3))
    value, rate = interpret(verify(jvp(made, {})), X, along)
    a, b = X.T
    assert relative_error(value, np.stack([a * np.sin(b), a * b + b, a], -1)) < EXACT
    assert relative_error(rate, np.einsum("nij,nj->ni", J, along)) < EXACT
    (gradient,) = interpret(verify(vjp(made, {}, ("x",))), X, weights)
    assert relative_error(gradient, np.einsum("nij,ni->nj", J, weights)) < EXACT
    assert relative_error(interpret(verify(jacobian(made, {}, ("x",))), X)[0], J) < EXACT


def test_a_second_derivative_knows_the_stop_of_the_first():
    made = trace("p", lambda x: {"y": stop_gradient(x[0]) * x[0] * x[0]}, {"x": (1,)})
    first = jacobian(made, {}, ("x",))
    (second,) = interpret(jacobian(first, {}, ("x",)), X[:, :1])
    assert relative_error(second[:, 0, 0], 2.0 * X[:, 0]) < EXACT


def root(a):
    """The square root of a number by Newton's iteration, differentiated at its end alone."""
    x = 0.5 * (a + 1.0)
    for _ in range(12):
        x = 0.5 * (x + a / x)
    x = stop_gradient(x)
    return x - (x * x - a) / stop_gradient(2.0 * x)


def test_what_an_iteration_finds_has_the_derivatives_of_the_equation_it_solves():
    made = trace("root", lambda a: {"x": root(a[0])}, {"a": (1,)})
    a = X[:, :1]
    assert relative_error(interpret(made, a)[0], np.sqrt(a[:, 0])) < EXACT
    derived = jacobian(made, {}, ("a",))
    assert relative_error(interpret(derived, a)[0], 0.5 / np.sqrt(a)) < EXACT
    assert sum(derived.operations.values()) < sum(made.operations.values()) + 4


def test_every_scalar_passes_unchanged():
    assert stop_gradient(1.5) == 1.5
    assert stop_gradient(1.0 + 2.0j) == 1.0 + 2.0j
    assert (stop_gradient(X) == X).all()
    assert stop_gradient(sympy.Symbol("a")) == sympy.Symbol("a")
    assert stop_gradient(Dual(2.0, 3.0)) == Dual(2.0, 0)
    assert stop_gradient(Dual(Dual(2.0, 1.0), 3.0)) == Dual(Dual(2.0, 0), 0)


def test_numbers_signs_and_repeated_stops_fold():
    made = trace(
        "p",
        lambda x: {"y": [stop_gradient(-x[0]), stop_gradient(stop_gradient(x[0])), x[0] * 0.0]},
        {"x": (1,)},
    )
    assert [node.op for node in made.nodes] == ["input", "stop_gradient", "neg", "const"]
    assert set(made.operations) == {"neg"}


def test_targets_see_no_alias():
    made = trace("p", half_stopped, {"x": (2,)})
    left = verify(without_aliases(made))
    assert "stop_gradient" not in {node.op for node in left.nodes}
    assert left.operations == made.operations
    assert without_aliases(left) is left
    assert relative_error(Kernel(None, lambda: made)(X), interpret(made, X)[0]) < EXACT


@pytest.mark.parametrize("batch", [1, 11])
def test_results_of_a_function_that_differ_in_a_stop_alone_are_one(batch, monkeypatch):
    monkeypatch.setattr(program, "LONGEST_WITHOUT_CALLS", 0)

    def both(x):
        y = x * sin(x) + 1.0
        return y, stop_gradient(y), stop_gradient(x)

    def function(x):
        rows = [scalar.call(both, x[0] * (k + 1.0) + x[1], times=30) for k in range(30)]
        return {"rows": [list(row) for row in rows]}

    made = trace("p", function, {"x": (2,)})
    assert made.functions
    left = verify(without_aliases(made))
    assert len(left.functions[0].outputs[0].nodes) == 2
    x = X[:batch]
    expected = interpret(made, x)[0]
    assert relative_error(interpret(left, x)[0], expected) < EXACT
    assert relative_error(Kernel(None, lambda: made)(x), expected) < 10 * EXACT


def test_what_only_derivatives_need_is_not_computed_without_them():
    def function(x):
        return {"y": [derivative_from(x[0] * 2.0, sin(x[0] * x[1]))]}

    program = trace("implicit", function, {"x": (2,)})
    assert [node.op for node in without_aliases(program).nodes if node.op == "sin"] == []
    found = interpret(jacobian(program, {}, ("x",)), np.array([0.3, 0.5]))[0]
    assert np.allclose(found, np.cos(0.15) * np.array([0.5, 0.3]))
