"""Every folding rule, one by one, and all of them together on random expressions."""

import math
import operator
import sys
from operator import neg
from types import FunctionType

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kinetree import scalar
from kinetree.compiler.graph import Trace, fold, interpret, trace, verify
from kinetree.errors import TraceError
from kinetree.scalar import (
    atan2,
    cos,
    less,
    logical_and,
    logical_or,
    select,
    sin,
    sqrt,
    stop_gradient,
    tanh,
)
from tests.tolerances import EPS


def show(e) -> str:
    """An expression in full, as op(argument, ...), with names of inputs and numbers as leaves."""
    if isinstance(e, float):
        return repr(e + 0.0)
    if e.op == "const":
        return repr(e.value)
    return e.value[0] if e.op == "input" else f"{e.op}({', '.join(map(show, e.args))})"


def folded(expression) -> str:
    t = Trace()
    a, b, c = (t.input(name, 0) for name in "abc")
    return show(expression(float, a, b, c))


# (what is written, what it becomes); k makes a number
RULES = {
    "add: numbers": [(lambda k, a, b, c: k(2) + k(3), "5.0")],
    "add: 0 + x = x": [
        (lambda k, a, b, c: 0.0 + a, "a"),
        (lambda k, a, b, c: a + 0.0, "a"),
        (lambda k, a, b, c: a + -0.0, "a"),
    ],
    "add: a + (-b) = a - b": [
        (lambda k, a, b, c: a + -b, "sub(a, b)"),
        (lambda k, a, b, c: -a + b, "sub(b, a)"),
        (lambda k, a, b, c: -a + -b, "neg(add(a, b))"),
        (lambda k, a, b, c: -a + a, "0.0"),
        (lambda k, a, b, c: -a + 2.0, "sub(2.0, a)"),
        (lambda k, a, b, c: a + (-2.0) * b, "sub(a, mul(b, 2.0))"),
    ],
    "add: (c ? x : 0) + (c ? y : z) = c ? x + y : z": [
        (
            lambda k, a, b, c: select(less(a, b), c, 0.0) + select(less(a, b), 0.0, a),
            "select(less(a, b), c, a)",
        ),
        (
            lambda k, a, b, c: select(less(a, b), a, 0.0) + select(less(a, b), c, 0.0),
            "select(less(a, b), add(a, c), 0.0)",
        ),
        (
            lambda k, a, b, c: select(less(a, b), b, a) + select(less(a, b), 0.0, c),
            "select(less(a, b), b, add(a, c))",
        ),
        (
            lambda k, a, b, c: select(less(a, b), c, 0.0) + select(less(b, a), 0.0, a),
            "add(select(less(a, b), c, 0.0), select(less(b, a), 0.0, a))",
        ),
        (
            lambda k, a, b, c: select(less(a, b), c, a) + select(less(a, b), a, b),
            "add(select(less(a, b), c, a), select(less(a, b), a, b))",
        ),
    ],
    "sub: numbers": [(lambda k, a, b, c: k(2) - k(3), "-1.0")],
    "sub: x - 0 = x": [(lambda k, a, b, c: a - 0.0, "a")],
    "sub: 0 - x = -x": [(lambda k, a, b, c: 0.0 - a, "neg(a)")],
    "sub: x - x = 0": [
        (lambda k, a, b, c: a - a, "0.0"),
        (lambda k, a, b, c: a * b - b * a, "0.0"),
    ],
    "sub: a - (-b) = a + b": [
        (lambda k, a, b, c: a - -b, "add(a, b)"),
        (lambda k, a, b, c: -a - -b, "sub(b, a)"),
        (lambda k, a, b, c: a - -a, "add(a, a)"),
    ],
    "sub: (-a) - b = -(a + b)": [
        (lambda k, a, b, c: -a - b, "neg(add(a, b))"),
        (lambda k, a, b, c: -a - a, "neg(add(a, a))"),
        (lambda k, a, b, c: -a - 2.0, "neg(add(a, 2.0))"),
        (lambda k, a, b, c: 2.0 - -a, "add(a, 2.0)"),
    ],
    "sub: b - a = -(a - b) if a - b is there already": [
        (lambda k, a, b, c: (a - b, b - a)[1], "neg(sub(a, b))"),
        (lambda k, a, b, c: (b - a, a - b)[1], "neg(sub(b, a))"),
        (lambda k, a, b, c: (b - 2.0, 2.0 - b)[1], "neg(sub(b, 2.0))"),
        (lambda k, a, b, c: (a - b) * (b - a), "neg(mul(sub(a, b), sub(a, b)))"),
        (lambda k, a, b, c: (a - b) + (b - a), "0.0"),
    ],
    "mul: numbers": [(lambda k, a, b, c: k(2) * k(3), "6.0")],
    "mul: 0 x = 0": [
        (lambda k, a, b, c: 0.0 * a, "0.0"),
        (lambda k, a, b, c: a * -0.0, "0.0"),
        (lambda k, a, b, c: (a - a) * b, "0.0"),
    ],
    "mul: 1 x = x": [(lambda k, a, b, c: 1.0 * a, "a"), (lambda k, a, b, c: a * 1.0, "a")],
    "mul: -1 x = -x": [
        (lambda k, a, b, c: -1.0 * a, "neg(a)"),
        (lambda k, a, b, c: a * -1.0, "neg(a)"),
    ],
    "mul: (-c) x = -(c x)": [
        (lambda k, a, b, c: -3.0 * a, "neg(mul(a, 3.0))"),
        (lambda k, a, b, c: a * -3.0, "neg(mul(a, 3.0))"),
        (lambda k, a, b, c: 3.0 * a + -3.0 * a, "0.0"),
    ],
    "mul: (-a) b = -(a b)": [
        (lambda k, a, b, c: -a * b, "neg(mul(a, b))"),
        (lambda k, a, b, c: a * -b, "neg(mul(a, b))"),
        (lambda k, a, b, c: -a * -b, "mul(a, b)"),
        (lambda k, a, b, c: -3.0 * -a, "mul(a, 3.0)"),
    ],
    "mul: c (d x) = (c d) x": [
        (lambda k, a, b, c: 2.0 * (3.0 * a), "mul(a, 6.0)"),
        (lambda k, a, b, c: (a * 3.0) * 2.0, "mul(a, 6.0)"),
        (lambda k, a, b, c: 2.0 * (a * 0.5), "a"),
        (lambda k, a, b, c: -2.0 * (3.0 * (a * b)), "neg(mul(mul(a, b), 6.0))"),
        (lambda k, a, b, c: (k(3), 2.0 * (a * k(3)))[1], "mul(a, 6.0)"),
    ],
    "mul: x (1 / x) = 1": [
        (lambda k, a, b, c: a * (1.0 / a), "1.0"),
        (lambda k, a, b, c: (3.0 / a) * a, "3.0"),
        (lambda k, a, b, c: -a * (1.0 / a), "-1.0"),
    ],
    "mul: y (1 / x) keeps its one division": [
        (lambda k, a, b, c: b * (1.0 / a), "mul(b, div(1.0, a))"),
        (lambda k, a, b, c: (b / a) * a, "mul(a, div(b, a))"),
    ],
    "mul: (c ? 1 : 0) x = c ? x : 0": [
        (lambda k, a, b, c: select(less(a, b), 1.0, 0.0) * c, "select(less(a, b), c, 0.0)"),
        (lambda k, a, b, c: c * select(less(a, b), 0.0, 1.0), "select(less(a, b), 0.0, c)"),
        (lambda k, a, b, c: 3.0 * select(less(a, b), 0.0, 1.0), "select(less(a, b), 0.0, 3.0)"),
        (
            lambda k, a, b, c: c * select(less(a, b), 2.0, 1.0),
            "mul(c, select(less(a, b), 2.0, 1.0))",
        ),
    ],
    "div: x / x = 1": [
        (lambda k, a, b, c: a / a, "1.0"),
        (lambda k, a, b, c: (a + b) / (b + a), "1.0"),
        (lambda k, a, b, c: -a / a, "-1.0"),
    ],
    "div: numbers": [
        (lambda k, a, b, c: k(3) / k(4), "0.75"),
        (lambda k, a, b, c: k(3) / 3, "1.0"),
    ],
    "div: x / c = (1 / c) x where 1 / c is exact": [
        (lambda k, a, b, c: a / 4.0, "mul(a, 0.25)"),
        (lambda k, a, b, c: a / 0.5, "mul(a, 2.0)"),
        (lambda k, a, b, c: a / -4.0, "neg(mul(a, 0.25))"),
        (lambda k, a, b, c: a / 1.0, "a"),
        (lambda k, a, b, c: a / -1.0, "neg(a)"),
        (lambda k, a, b, c: a / 3.0, "div(a, 3.0)"),
        (lambda k, a, b, c: a / 2.0**1023, f"mul(a, {2.0**-1023})"),
    ],
    "div: 0 / x = 0": [(lambda k, a, b, c: 0.0 / a, "0.0")],
    "div: (-a) / b = -(a / b) = a / (-b)": [
        (lambda k, a, b, c: -a / b, "neg(div(a, b))"),
        (lambda k, a, b, c: a / -b, "neg(div(a, b))"),
        (lambda k, a, b, c: -a / -b, "div(a, b)"),
    ],
    "neg: numbers": [(lambda k, a, b, c: -k(2), "-2.0"), (lambda k, a, b, c: -k(0), "0.0")],
    "neg: -(-x) = x": [
        (lambda k, a, b, c: neg(-a), "a"),
        (lambda k, a, b, c: neg(neg(-a)), "neg(a)"),
    ],
    "sqrt: numbers": [
        (lambda k, a, b, c: sqrt(k(4)), "2.0"),
        (lambda k, a, b, c: sqrt(k(0)), "0.0"),
    ],
    "sin: numbers": [(lambda k, a, b, c: sin(k(2)), repr(math.sin(2.0)))],
    "sin: sin(-x) = -sin(x)": [
        (lambda k, a, b, c: sin(-a), "neg(sin(a))"),
        (lambda k, a, b, c: sin(a) + sin(-a), "0.0"),
    ],
    "cos: numbers": [(lambda k, a, b, c: cos(k(2)), repr(math.cos(2.0)))],
    "cos: cos(-x) = cos(x)": [
        (lambda k, a, b, c: cos(-a), "cos(a)"),
        (lambda k, a, b, c: cos(a) - cos(-a), "0.0"),
    ],
    "atan2: numbers": [
        (lambda k, a, b, c: atan2(k(1), k(-2)), repr(math.atan2(1.0, -2.0))),
        (lambda k, a, b, c: atan2(k(0), k(-1)), repr(math.pi)),
    ],
    "abs: abs(-x) = abs(x)": [(lambda k, a, b, c: abs(-a), "abs(a)")],
    "tanh: tanh(-x) = -tanh(x)": [(lambda k, a, b, c: tanh(-a), "neg(tanh(a))")],
    "select: a truth that is known": [
        (lambda k, a, b, c: select(True, a, b), "a"),
        (lambda k, a, b, c: select(k(1) < k(2), a, b), "a"),
        (lambda k, a, b, c: select(logical_and(a < b, False), a, b), "b"),
    ],
    "and, or, not: a truth that is known": [
        (lambda k, a, b, c: logical_and(True, a < b), "less(a, b)"),
        (lambda k, a, b, c: logical_or(a < b, False), "less(a, b)"),
        (lambda k, a, b, c: select(logical_or(a < b, True), a, b), "a"),
    ],
    "select: c ? x : x = x": [
        (lambda k, a, b, c: select(a < b, c, c), "c"),
        (lambda k, a, b, c: select(a < b, 0.0, c - c), "0.0"),
    ],
    "stop_gradient: numbers": [(lambda k, a, b, c: stop_gradient(a - a), "0.0")],
    "stop_gradient: stopped twice is stopped": [
        (lambda k, a, b, c: stop_gradient(stop_gradient(a)), "stop_gradient(a)"),
        (lambda k, a, b, c: stop_gradient(-stop_gradient(a)), "neg(stop_gradient(a))"),
    ],
}
ROWS = [
    pytest.param(*row, id=f"{rule} [{i}]")
    for rule, rows in RULES.items()
    for i, row in enumerate(rows)
]


@pytest.mark.parametrize(("written", "expected"), ROWS)
def test_what_is_written_becomes_what_the_rule_says(written, expected):
    assert folded(written) == expected


def test_every_rule_is_used_by_the_table():
    functions = [f.__code__ for f in vars(fold).values() if isinstance(f, FunctionType)]
    lines = {(c.co_name, line) for c in functions for *_, line in c.co_lines() if line}
    lines -= {(c.co_name, c.co_firstlineno) for c in functions}
    used = set()

    def watch(frame, event, argument):
        used.add((frame.f_code.co_name, frame.f_lineno))
        return watch

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: watch if frame.f_code in functions else None)
    try:
        for rows in RULES.values():
            for written, _ in rows:
                folded(written)
        with pytest.raises(ZeroDivisionError):
            folded(lambda k, a, b, c: a / 0.0)
    finally:
        sys.settrace(before)
    assert used >= lines


def test_what_no_rule_knows_is_left_alone():
    assert folded(lambda k, a, b, c: atan2(a, b) * sqrt(a + b)) == (
        "mul(atan2(a, b), sqrt(add(a, b)))"
    )


@pytest.mark.parametrize(
    "divide",
    [
        lambda k, a, b, c: a / 0.0,
        lambda k, a, b, c: a / -0.0,
        lambda k, a, b, c: a / 0,
        lambda k, a, b, c: 1.0 / k(0),
        lambda k, a, b, c: k(0) / k(0),
        lambda k, a, b, c: 0.0 / (a - a),
        lambda k, a, b, c: -a / (b - b),
    ],
)
def test_a_division_by_the_constant_zero_is_refused(divide):
    with pytest.raises(ZeroDivisionError):
        folded(divide)


def test_numbers_that_overflow_are_refused():
    with pytest.raises(TraceError, match="must be finite"):
        folded(lambda k, a, b, c: a + k(1e200) * k(1e200))


# what is finite at every state must not be refused because two of its numbers overflow


def test_a_division_by_a_power_of_two_whose_inverse_overflows_is_not_refused():
    assert folded(lambda k, a, b, c: a / 2.0**-1050) == f"div(a, {2.0**-1050})"


def test_a_product_of_two_numbers_and_x_is_not_refused_where_the_numbers_product_overflows():
    assert folded(lambda k, a, b, c: 1e200 * (1e200 * a)) == "mul(1e+200, mul(a, 1e+200))"


def test_a_product_of_two_numbers_and_x_is_not_taken_as_zero_where_theirs_underflows():
    assert folded(lambda k, a, b, c: 1e-200 * (1e-200 * a)) == "mul(1e-200, mul(a, 1e-200))"


# folding ends

CHAINS = {
    "negs": lambda e, a, b: -e,
    "subs from a": lambda e, a, b: a - e,
    "subs of a": lambda e, a, b: e - a,
    "negs and subs": lambda e, a, b: -(a - -e),
    "subs both ways": lambda e, a, b: (a - e) - (e - a),
    "negative products": lambda e, a, b: -a * (b - e),
    "adds of negatives": lambda e, a, b: -e + -a,
    "divisions of negatives": lambda e, a, b: -a / -(b - e),
    "products of numbers": lambda e, a, b: -1.5 * (-2.0 / 3.0 * e),
    "functions of negatives": lambda e, a, b: sin(-cos(-e)),
}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_long_chain_folds_in_a_number_of_nodes_linear_in_its_length(chain):
    t = Trace()
    a, b = t.input("a", 0), t.input("b", 0)
    e, length = a * b, 3000
    for _ in range(length):
        e = chain(e, a, b)
    assert len(t.nodes) <= 5 * length + 10
    for node in t.nodes:  # no rule leaves behind what it was to remove
        assert not (node.op == "neg" and node.args[0].op in ("neg", "const"))
        assert not (node.op in ("add", "mul") and any(x.op == "neg" for x in node.args))


# all rules together

OPS = {
    "neg": operator.neg,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "sqrt": scalar.sqrt,
    "sin": scalar.sin,
    "cos": scalar.cos,
    "atan2": scalar.atan2,
    "select": lambda a, b, c, d: select(less(a, b), c, d),
}
ARITY = {"neg": 1, "sqrt": 1, "sin": 1, "cos": 1, "select": 4}
INPUTS = 4

leaves = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -0.1]),
    st.integers(0, INPUTS - 1),
)


def _nodes(children):
    by_op = [
        st.tuples(st.just(op), *[children] * ARITY.get(op, 2))
        for op in OPS
        for _ in range(3 if op in ("neg", "add", "sub", "mul") else 1)
    ]
    return st.one_of(by_op)


trees = st.recursive(leaves, _nodes, max_leaves=25)


def build(tree, inputs):
    """The value of a tree, for any scalar type: an int is an input, a float a number."""
    if isinstance(tree, int):
        return inputs[tree]
    if isinstance(tree, float):
        return tree
    op, *args = tree
    return OPS[op](*(build(a, inputs) for a in args))


def bounded(tree, inputs) -> tuple[float, float]:
    """The value of a tree in floats, and a bound on what roundings can have done to it.

    Refused are states near a jump or a pole, where roundings can do anything.
    """
    if isinstance(tree, (int, float)):
        return float(build(tree, inputs)), 0.0
    op, *children = tree
    parts = [bounded(child, inputs) for child in children]
    v, e = [v for v, _ in parts], [e for _, e in parts]
    if op == "select":
        assume(abs(v[0] - v[1]) > 1e-6)
        return (v[2], e[2]) if v[0] < v[1] else (v[3], e[3])
    if op == "div":
        assume(abs(v[1]) > 1e-3)
    if op == "sqrt":
        assume(v[0] > 1e-3)
    if op == "atan2":
        assume(math.hypot(*v) > 1e-3)
        assume(v[1] > 0.0 or abs(v[0]) > 1e-6)
    value = OPS[op](*v)
    assume(abs(value) < 1e6)
    slopes = {
        "neg": lambda: [1.0],
        "add": lambda: [1.0, 1.0],
        "sub": lambda: [1.0, 1.0],
        "mul": lambda: [abs(v[1]), abs(v[0])],
        "div": lambda: [1.0 / abs(v[1]), abs(value / v[1])],
        "sqrt": lambda: [0.5 / value],
        "sin": lambda: [1.0],
        "cos": lambda: [1.0],
        "atan2": lambda: [1.0 / math.hypot(*v)] * 2,
    }[op]()
    carried = sum(s * e for s, e in zip(slopes, e, strict=True))
    return value, 1.01 * carried + 4.0 * EPS * max(abs(value), *map(abs, v))


@settings(max_examples=400)
@given(trees, st.lists(st.floats(0.25, 4.0), min_size=INPUTS, max_size=INPUTS), st.integers(0, 15))
def test_a_folded_expression_has_the_value_of_what_was_written(tree, sizes, signs):
    inputs = [-x if signs >> i & 1 else x for i, x in enumerate(sizes)]
    value, error = bounded(tree, inputs)
    assume(error < 1e-9 * max(1.0, abs(value)))
    program = verify(trace("tree", lambda x: {"y": [build(tree, x)]}, {"x": (INPUTS,)}))
    ((result,),) = interpret(program, inputs)
    assert abs(result - value) <= error
