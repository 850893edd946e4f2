"""Differentiation of programs: each rule, all of them on random expressions, shapes and costs."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kinetree.compiler.graph import TooLongError, interpret, trace, verify
from kinetree.compiler.graph.differentiate import jacobian, jvp, vjp
from kinetree.scalar import ALIASES, LEAVES, OPERATIONS, atan2, cos, less, select, sin, sqrt
from tests.compiler.graph.test_fold import INPUTS, bounded, build, trees
from tests.compiler.graph.test_interpret import single
from tests.tolerances import EPS, EXACT, relative_error

STEP = 1e-30
FUSED = {"fma", "fms", "fnma", "fnms"}
DIFFERENTIABLE = {op for op, row in OPERATIONS.items() if row.partials is not None}


def stepped(program, x, along):
    """The rates of a program's one result along directions of its one argument."""
    (result,) = interpret(program, np.asarray(x) + 1j * STEP * np.asarray(along))
    return np.imag(result) / STEP


def gradients(program, x):
    """The derivatives of a program's one result by its one argument, a last axis for the latter."""
    (count,) = program.inputs[0].shape
    return np.stack([stepped(program, x, unit) for unit in np.eye(count)], axis=-1)


def shapes(operands):
    return {o.name: o.shape for o in operands}


# rules


def test_every_operation_of_a_trace_has_a_rule():
    assert set(OPERATIONS) - LEAVES - FUSED == DIFFERENTIABLE


@pytest.mark.parametrize("op", sorted(DIFFERENTIABLE))
def test_a_rule_is_the_derivative_of_its_operation(op):
    program = single(op)
    (count,) = program.inputs[0].shape
    made = verify(jacobian(program, {}, ("x",)))
    rng = np.random.default_rng(0)
    signs = 1.0 if op in ("sqrt", "log") else rng.choice([-1.0, 1.0], (50, count))
    states = signs * rng.uniform(0.1, 3.0, (50, count))
    slopes = gradients(program, states)
    if op in ALIASES:  # their value is their first argument's, their slopes are those of others
        slopes = np.broadcast_to(np.arange(count) > 0, slopes.shape).astype(float)
    assert relative_error(interpret(made, states)[0], slopes) < EXACT


# all rules together

coordinates = st.floats(0.25, 4.0) | st.floats(-4.0, -0.25)
points = st.lists(coordinates, min_size=INPUTS, max_size=INPUTS)


@settings(max_examples=150)
@given(trees, trees, points, st.integers(0, 2**32 - 1))
def test_derivatives_of_random_expressions_are_those_of_a_complex_step(one, two, x, seed):
    for tree in (one, two):  # what roundings make of it says also how large derivatives can be
        assume(bounded(tree, x)[1] < 1000 * EPS)
    program = trace("p", lambda x: {"y": [build(one, x), build(two, x)]}, {"x": (INPUTS,)})
    rng = np.random.default_rng(seed)
    w, u = rng.standard_normal(INPUTS), rng.standard_normal(2)
    value, rate = interpret(verify(jvp(program, {})), x, w)
    (gradient,) = interpret(verify(vjp(program, {}, ("x",))), x, u)
    (J,) = interpret(verify(jacobian(program, {}, ("x",))), x)
    assert (value == interpret(program, x)[0]).all()
    assert relative_error(J, gradients(program, x)) < EXACT
    assert relative_error(rate, J @ w) < EXACT
    assert relative_error(gradient, u @ J) < EXACT
    assert relative_error(u @ rate, gradient @ w) < EXACT


# names and shapes


def polar(arguments=("q", "v"), results=("point", "speed")):
    def function(q, v):
        r, angle = q
        point = [r * cos(angle), r * sin(angle)]
        return {results[0]: point, results[1]: sqrt(v[0] * v[0] + r * r * v[1] * v[1])}

    return trace("polar", function, dict.fromkeys(arguments, (2,)))


Q, V = np.array([1.5, 0.4]), np.array([0.3, -0.8])


def test_a_jvp_takes_rates_beside_arguments_and_gives_them_beside_results():
    made = jvp(polar(), {})
    assert made.name == "polar.jvp"
    assert shapes(made.inputs) == {"q": (2,), "v": (2,), "dq": (2,), "dv": (2,)}
    assert shapes(made.outputs) == {"point": (2,), "dpoint": (2,), "speed": (), "dspeed": ()}
    assert [o.name for o in made.outputs] == ["point", "dpoint", "speed", "dspeed"]
    assert relative_error(interpret(made, Q, V, [1.0, 0.0], V)[1], [cos(0.4), sin(0.4)]) < EXACT


@pytest.mark.parametrize("names", [{"arguments": ("q", "dq")}, {"results": ("y", "dy")}])
def test_a_rate_whose_name_is_taken_gets_another_d(names):
    made = jvp(polar(**names), {})
    for operands in (made.inputs, made.outputs):
        assert len(shapes(operands)) == 4
    got, expected = (interpret(p, Q, V, V, Q) for p in (made, jvp(polar(), {})))
    assert all((a == b).all() for a, b in zip(got, expected, strict=True))


def test_a_vjp_takes_weights_and_gives_gradients_by_what_is_asked_for():
    made = vjp(polar(), {}, ("v", "q"))
    weights = {"weights_point": (2,), "weights_speed": ()}
    assert shapes(made.inputs) == {"q": (2,), "v": (2,)} | weights
    assert [o.name for o in made.outputs] == ["dv", "dq"]
    only = vjp(polar(), {}, ("v",))
    assert shapes(only.outputs) == {"dv": (2,)}
    assert not only.operations.keys() & {"sin", "cos"}
    arguments = Q, V, [0.7, -0.2], 1.3
    assert (interpret(only, *arguments)[0] == interpret(made, *arguments)[0]).all()


def test_an_argument_that_is_weights_already_keeps_its_name():
    made = vjp(polar(arguments=("q", "weights_point")), {}, ("q",))
    assert [i.name for i in made.inputs][2:] == ["weights_weights_point", "weights_speed"]


def test_a_jacobian_has_the_results_axes_and_then_the_arguments():
    def function(x, y):
        return {"M": [[x[0] * y[0], x[1], 1.0], [y[2], y[1] * y[1], x[0]]], "s": x[1] * y[0]}

    program = trace("p", function, {"x": (2,), "y": (3,)})
    made = jacobian(program, {}, ("y", "x"))
    assert shapes(made.outputs[:2]) == {"dM_dy": (2, 3, 3), "dM_dx": (2, 3, 2)}
    assert shapes(made.outputs[2:]) == {"ds_dy": (3,), "ds_dx": (2,)}
    dMdy, dMdx, dsdy, dsdx = interpret(made, [2.0, 3.0], [5.0, 7.0, 11.0])
    assert dMdy[:, :, 0].tolist() == [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert dMdy[1].tolist() == [[0.0, 0.0, 1.0], [0.0, 14.0, 0.0], [0.0, 0.0, 0.0]]
    assert dMdx[:, :, 0].tolist() == [[5.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert (dsdy.tolist(), dsdx.tolist()) == ([3.0, 0.0, 0.0], [0.0, 5.0])


def test_what_is_not_kept_is_not_computed():
    kept = jacobian(polar(), {}, ("q", "v"), {"dspeed_dv": "push"})
    assert shapes(kept.outputs) == {"push": (2,)}
    assert not kept.operations.keys() & {"sin", "cos"}
    (push,), all_of_them = (interpret(p, Q, V) for p in (kept, jacobian(polar(), {}, ("q", "v"))))
    assert (push == all_of_them[3]).all()


# costs


def test_structural_zeros_are_never_computed():
    def rows(f, a, b):
        return [f(a) * b, f(a + b)]

    def diagonal(x):
        return {"y": rows(sin, *x[:2]) + rows(cos, *x[2:4]) + rows(sqrt, *x[4:])}

    made = jacobian(trace("p", diagonal, {"x": (6,)}), {}, ("x",))
    entries = np.array(made.outputs[0].nodes).reshape(3, 2, 3, 2)
    for i, j in np.ndindex(3, 3):
        values = {made.nodes[n].value for n in entries[i, :, j].ravel()}
        assert (values == {0.0}) == (i != j)
    blocks = [trace("p", lambda x, f=f: {"y": rows(f, *x)}, {"x": (2,)}) for f in (sin, cos, sqrt)]
    alone = [jacobian(block, {}, ("x",)).operations for block in blocks]
    assert made.operations == sum(alone, Counter())


def test_the_gradient_of_one_result_costs_no_more_than_a_few_results():
    def function(x):
        total = x[0]
        for other in x[1:]:
            total = sin(total * other)
        return {"y": total}

    program = trace("p", function, {"x": (80,)})
    assert jacobian(program, {}, ("x",)).cost < 4 * program.cost
    assert vjp(program, {}, ("x",)).cost < 4 * program.cost


def test_the_rates_of_many_results_along_one_argument_cost_no_more_than_a_few_results():
    def function(x):
        found = [x[0]]
        for k in range(80):
            found.append(sin(found[-1]) * (1.0 + k))
        return {"y": found}

    program = trace("p", function, {"x": ()})
    assert jacobian(program, {}, ("x",)).cost < 4 * program.cost
    assert jvp(program, {}).cost < 4 * program.cost


def test_a_limit_stops_a_jacobian_that_grows_too_long():
    program = trace("p", lambda x: {"y": [sin(a * b) for a in x for b in x]}, {"x": (8,)})
    with pytest.raises(TooLongError):
        jacobian(program, {}, ("x",), limit=len(program.nodes) + 10)
    assert jacobian(program, {}, ("x",), limit=10_000) == jacobian(program, {}, ("x",))


# choices


def kinked(x):
    """Of slope five in x[0] left of one, where the other branch's is infinite at zero."""
    return {"y": select(less(x[0], 1.0), 3.0 * x[0], 2.0 * sqrt(sqrt(x[0]))) + 2.0 * sum(x)}


def test_a_branch_that_is_not_chosen_does_not_spoil_a_forward_sweep():
    program = trace("p", kinked, {"x": (1,)})
    with np.errstate(all="ignore"):
        assert interpret(jvp(program, {}), [0.0], [1.0])[1] == 5.0
        assert interpret(jacobian(program, {}, ("x",)), [0.0])[0] == 5.0


@pytest.mark.parametrize("arguments", [(jacobian,), (vjp, 1.0)])
def test_a_branch_that_is_not_chosen_does_not_spoil_a_reverse_sweep(arguments):
    differentiate, *weights = arguments
    made = differentiate(trace("p", kinked, {"x": (9,)}), {}, ("x",))
    with np.errstate(all="ignore"):
        assert interpret(made, np.zeros(9), *weights)[0].tolist() == [5.0] + [2.0] * 8


# charts


def turned(p, x):
    c, s = p
    return {"y": [c * x[0] - s * x[1], c * c * x[1], atan2(s, c)]}


def test_an_argument_with_a_chart_is_differentiated_by_its_directions():
    # a point of the unit circle can only turn
    program = trace("p", turned, {"p": (2,), "x": (2,)})
    charts = {"p": lambda p: [[-p[1], p[0]]]}
    angle, x, u = 0.7 + 1j * STEP, np.array([0.4, -1.1]), np.array([0.3, -0.9, 0.5])
    p = np.array([math.cos(0.7), math.sin(0.7)])
    by_angle = np.imag(turned((np.cos(angle), np.sin(angle)), x)["y"])[:, None] / STEP
    by_x = np.array([[p[0], -p[1]], [0.0, p[0] ** 2], [0.0, 0.0]])

    forward = verify(jvp(program, charts))
    assert shapes(forward.inputs) == {"p": (2,), "x": (2,), "dp": (1,), "dx": (2,)}
    _, rate = interpret(forward, p, x, [0.6], [0.2, -0.5])
    assert relative_error(rate, by_angle @ [0.6] + by_x @ [0.2, -0.5]) < EXACT

    reverse, both = vjp(program, charts, ("p", "x")), jacobian(program, charts, ("p", "x"))
    assert shapes(verify(reverse).outputs) == {"dp": (1,), "dx": (2,)}
    assert shapes(verify(both).outputs) == {"dy_dp": (3, 1), "dy_dx": (3, 2)}
    for expected, gradient, J in zip(
        (by_angle, by_x), interpret(reverse, p, x, u), interpret(both, p, x), strict=True
    ):
        assert relative_error(gradient, u @ expected) < EXACT
        assert relative_error(J, expected) < EXACT


# derivatives of derivatives


def curved(x):
    a, b, c = x
    return {"y": sin(a * b) / (c * c + 2.0) + atan2(a, c) * sqrt(b + 3.0) + a * b * c}


CURVED, X = trace("p", curved, {"x": (3,)}), np.array([0.3, -0.7, 1.2])
GRADIENT, SLOPE = vjp(CURVED, {}, ("x",)), jacobian(CURVED, {}, ("x",))


def test_the_jacobian_of_a_gradient_is_the_symmetric_hessian():
    made = verify(jacobian(GRADIENT, {}, ("x",)))
    assert shapes(made.outputs) == {"ddx_dx": (3, 3)}
    (hessian,), (other,) = interpret(made, X, 1.0), interpret(jacobian(SLOPE, {}, ("x",)), X)
    assert relative_error(hessian, gradients(SLOPE, X)) < EXACT
    assert relative_error(hessian, hessian.T) < EXACT
    assert relative_error(hessian, other) < EXACT


def test_the_jvp_of_a_jvp_has_the_second_rate():
    w, z = np.array([[0.5, 0.2, -0.4], [-0.1, 0.9, 0.3]])
    y, by_z, by_w, second = interpret(verify(jvp(jvp(CURVED, {}), {})), X, w, z, np.zeros(3))
    assert y == interpret(CURVED, X)[0]
    assert relative_error(by_z, stepped(CURVED, X, z)) < EXACT
    assert relative_error(by_w, stepped(CURVED, X, w)) < EXACT
    assert relative_error(second, w @ gradients(SLOPE, X) @ z) < EXACT
