"""Fusing: same values, fewer operations, no product lost or kept for nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree import robots
from kinetree.algorithms import rnea
from kinetree.compiler.graph import Input, Node, Output, Program, interpret, trace, verify
from kinetree.compiler.graph.fuse import fuse
from kinetree.scalar import atan2, cos, less, select, sin, sqrt

INPUTS = 4
STEPS = {
    "add": lambda a, b, c: a + b,
    "sub": lambda a, b, c: a - b,
    "mul": lambda a, b, c: a * b,
    "sum of products": lambda a, b, c: a * b + b * c,
    "difference of products": lambda a, b, c: a * b - c,
    "number": lambda a, b, c: 1.5 * a - b,
    "neg": lambda a, b, c: -a,
    "div": lambda a, b, c: a / (b * b + 1.0),
    "sqrt": lambda a, b, c: sqrt(a * a + 0.5),
    "sin": lambda a, b, c: sin(a),
    "cos": lambda a, b, c: cos(a),
    "atan2": lambda a, b, c: atan2(a, b * b + 1.0),
    "select": lambda a, b, c: select(less(a, b), b, c),
}


@st.composite
def programs(draw) -> Program:
    """A random program over every operation that a trace can make, with up to four results."""
    place = st.integers(0, 60)
    steps = draw(
        st.lists(
            st.tuples(st.sampled_from(sorted(STEPS)), place, place, place), min_size=1, max_size=30
        )
    )
    results = draw(st.lists(place, max_size=3))

    def function(x):
        values = list(x)
        for step, *places in steps:
            values.append(STEPS[step](*(values[-1 - p % len(values)] for p in places)))
        return {"y": [values[-1], *(values[r % len(values)] for r in results)]}

    return trace("random", function, {"x": (INPUTS,)})


def users(program):
    """Node -> the operations that use it; "result" is one of them."""
    found = [[] for _ in program.nodes]
    for node in program.nodes:
        for a in node.args:
            found[a].append(node.op)
    for output in program.outputs:
        for n in output.nodes:
            found[n].append("result")
    return found


def count(program, *ops):
    return sum(program.operations[op] for op in ops)


def assert_well_fused(program, fused):
    """Everything that holds of a program and its fused form, whatever they compute."""
    verify(fused)
    assert fused.signature == program.signature
    assert fused.name == program.name
    # every sum is still there once, in one form or another
    fusions = ("fma", "fms", "fnma", "fnms")
    sums = ("add", "sub", *fusions)
    assert count(fused, *sums) == count(program, *sums)
    # what is absorbed is gone, what is not is there, and nothing else has changed
    products = {node.args for node in fused.nodes if node.op == "mul"}
    absorbed = {node.args[:2] for node in fused.nodes if node.op in fusions}
    assert not products & absorbed
    assert len(products) + len(absorbed) == count(program, "mul")
    others = set(program.operations) - {"mul", "add", "sub", "neg"}
    assert {op: fused.operations[op] for op in others} == {
        op: program.operations[op] for op in others
    }
    # a sign is left only if its sum is used elsewhere, or is none
    assert count(fused, "neg") <= count(program, "neg")
    for node in fused.nodes:
        if node.op == "neg" and fused.nodes[node.args[0]].op in fusions:
            assert users(fused)[node.args[0]] != ["neg"]
    # a product is left only if some user could not absorb it, such as its sum with itself
    with_itself = {n.args[0] for n in fused.nodes if n.op in ("add", "sub") and len({*n.args}) == 1}
    for number, (node, uses) in enumerate(zip(fused.nodes, users(fused), strict=True)):
        if number not in with_itself:
            assert node.op != "mul" or not set(uses) <= {"add", "sub"}


@settings(max_examples=150)
@given(programs(), st.integers(0, 1000))
def test_a_random_program_keeps_its_values_and_loses_what_is_absorbed(program, seed):
    fused = fuse(program)
    assert_well_fused(program, fused)
    states = np.random.default_rng(seed).uniform(-2.0, 2.0, (3, INPUTS))
    with np.errstate(all="ignore"):  # the interpreter rounds twice: not a bit may differ
        (expected,), (actual,) = interpret(program, states), interpret(fused, states)
    np.testing.assert_array_equal(actual, expected)


@given(programs())
def test_fusing_twice_is_fusing_once(program):
    fused = fuse(program)
    assert fuse(fused) == fused


def test_the_dynamics_of_an_arm_keep_their_values_and_lose_a_fifth_of_their_operations():
    model = robots.arm().model
    n = model.nv
    program = trace(
        "rnea",
        lambda q, qd, qdd: {"tau": rnea(model, q, qd, qdd)},
        {"q": (n,), "qd": (n,), "qdd": (n,)},
    )
    fused = fuse(program)
    assert_well_fused(program, fused)
    assert sum(fused.operations.values()) < 0.8 * sum(program.operations.values())
    states = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 20, n))
    (expected,), (actual,) = interpret(program, *states), interpret(fused, *states)
    np.testing.assert_array_equal(actual, expected)


def fused_nodes(function):
    """The operations of a fused program of x[0..3], with their arguments as texts."""
    program = verify(fuse(trace("p", lambda x: {"y": function(*x)}, {"x": (4,)})))
    texts = []
    for op, args, value in program.nodes:
        inner = ", ".join(texts[a] for a in args)
        leaf = {"const": str(value), "input": "abcd"[value[1]] if op == "input" else ""}
        texts.append(leaf.get(op, f"{op}({inner})"))
    return [texts[n] for n in program.outputs[0].nodes], program.operations


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a, b, c, d: a * b + c, "fma(a, b, c)"),
        (lambda a, b, c, d: c + a * b, "fma(a, b, c)"),
        (lambda a, b, c, d: a * b - c, "fms(a, b, c)"),
        (lambda a, b, c, d: c - a * b, "fnma(a, b, c)"),
        (lambda a, b, c, d: -(a * b + c), "fnms(a, b, c)"),
        (lambda a, b, c, d: -(a * b - c), "fnma(a, b, c)"),
        (lambda a, b, c, d: -(c - a * b), "fms(a, b, c)"),
        (lambda a, b, c, d: a * b + a, "fma(a, b, a)"),
        (lambda a, b, c, d: a * a - a, "fms(a, a, a)"),
        (lambda a, b, c, d: 2.0 * a + 3.0, "fma(a, 2.0, 3.0)"),
    ],
)
def test_a_product_and_its_sum_become_one_operation(function, expected):
    assert fused_nodes(lambda *x: [function(*x)]) == ([expected], {expected.split("(")[0]: 1})


def test_a_sum_of_two_products_absorbs_one_of_them():
    (text,), operations = fused_nodes(lambda a, b, c, d: [a * b + c * d])
    assert operations == {"mul": 1, "fma": 1}
    assert text in ("fma(a, b, mul(c, d))", "fma(c, d, mul(a, b))")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_difference_of_two_products_keeps_its_sign(sign):
    program = trace("p", lambda x: {"y": [sign * (x[0] * x[1] - x[2] * x[3])]}, {"x": (4,)})
    assert interpret(fuse(program), [2.0, 3.0, 5.0, 7.0])[0] == sign * (6.0 - 35.0)


def test_a_product_that_two_sums_use_is_absorbed_by_both():
    texts, operations = fused_nodes(lambda a, b, c, d: [a * b + c, d - a * b])
    assert texts == ["fma(a, b, c)", "fnma(a, b, d)"]
    assert operations == {"fma": 1, "fnma": 1}


def test_a_product_that_is_used_elsewhere_is_kept_and_not_computed_twice():
    texts, operations = fused_nodes(lambda a, b, c, d: [a * b + c, sin(a * b)])
    assert texts == ["add(c, mul(a, b))", "sin(mul(a, b))"]
    assert operations == {"mul": 1, "add": 1, "sin": 1}


def test_a_product_that_is_a_factor_of_another_is_kept():
    (text,), operations = fused_nodes(lambda a, b, c, d: [(a * b) * c + (a * b)])
    assert text == "fma(c, mul(a, b), mul(a, b))"
    assert operations == {"mul": 1, "fma": 1}


def test_a_product_that_is_a_result_is_kept():
    texts, operations = fused_nodes(lambda a, b, c, d: [a * b + c, a * b])
    assert texts == ["add(c, mul(a, b))", "mul(a, b)"]
    assert operations == {"mul": 1, "add": 1}


def test_a_product_that_is_added_to_itself_is_not_fused():
    (text,), operations = fused_nodes(lambda a, b, c, d: [a * b + a * b])
    assert text == "add(mul(a, b), mul(a, b))"
    assert operations == {"mul": 1, "add": 1}


@pytest.mark.parametrize(("op", "expected"), [("add", 12.0), ("sub", 0.0)])
def test_a_sum_of_a_product_with_itself_keeps_its_value(op, expected):
    nodes = (
        Node("input", (), (0, 0)),
        Node("input", (), (0, 1)),
        Node("mul", (0, 1)),
        Node(op, (2, 2)),
    )
    program = verify(Program("p", (Input("x", (2,)),), (Output("y", (1,), (3,)),), nodes))
    assert interpret(verify(fuse(program)), [2.0, 3.0])[0] == expected
